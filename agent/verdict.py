"""Model text -> checked text with a verdict: what the docs prove, and what they do not say."""

import re
from dataclasses import dataclass, replace

from agent.answer import Verdict
from agent.conversation import Conversation
from agent.grounding import Grounded, Source, ground
from agent.history import said_by_people
from agent.model.characters import unmarked
from agent.searches import Retrieval
from ingest.documents import Passage

_MARKER = re.compile(r"^[ \t\xa0*_`#>]*NOT[ _]IN[ _]DOCS\b[*_`.:!]*[ \t]*\n?", re.MULTILINE)
_ADMITS = re.compile(
    r"\b(docs?|documentation|pages?|runbooks?)\b[^.\n]{0,40}"
    r"\b(do(es)? not|don['’]t|doesn['’]t|never) (say|cover|mention|contain|describe|answer|explain)"
    r"|\b(could not|couldn['’]t|did not|didn['’]t|cannot|can['’]t) find\b"
    r"|\bno (documentation|information|mention|page|passage)\b"
    r"|\bnot (covered|documented|mentioned|described) in\b",
    re.IGNORECASE,
)
_SMALL_TALK = 400
"""Characters up to which an answer without sources and without hard facts is just talk."""
_HARD_FACT = re.compile(r"`|\d|^ {4,}\S", re.MULTILINE)
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """A checked text."""

    verdict: Verdict
    grounded: Grounded

    faults: tuple[str, ...] = ()
    """What the model may mend, in words for it."""

    def is_better_than(self, other: "Judged") -> bool:
        if self.verdict == "not_in_docs" and other.grounded.citations:
            return False  # what is right in a text with marks is worth more than no text
        return self._rank > other._rank

    @property
    def _rank(self) -> tuple[bool, bool, int]:
        stands = self.verdict != "uncited"
        return stands, bool(self.grounded.citations), -len(self.grounded.unsupported)


def judge(text: str, conversation: Conversation, retrieval: Retrieval) -> Judged:
    """Check ``text`` against every passage that the model was given in this thread."""
    shown, marked = _MARKER.subn("", text, count=1)
    grounded = ground(
        shown.strip(),
        [Source(passage.id, passage.text) for passage in retrieval.sources.values()],
        question=conversation.question,
        context=said_by_people(conversation),
    )
    if marked or _is_not_in_docs(grounded, retrieval):
        return Judged("not_in_docs", _with_nearest_pages(grounded, retrieval))
    if not retrieval.searches and not grounded.citations and _is_talk(grounded.text):
        return Judged("no_search", grounded)
    return Judged(grounded.verdict, grounded, _faults(grounded, retrieval))


def _is_talk(text: str) -> bool:
    return len(text) <= _SMALL_TALK and not _HARD_FACT.search(text)


def _faults(grounded: Grounded, retrieval: Retrieval) -> tuple[str, ...]:
    if not grounded.citations and retrieval.searches and not retrieval.only_weak:
        return ("No passage is cited anywhere in it.",)
    return tuple(f"{u.span} ({u.reason})" for u in grounded.substantial)


def _is_not_in_docs(grounded: Grounded, retrieval: Retrieval) -> bool:
    """The model searched and admits to have found nothing, though without the marker."""
    if not retrieval.searches or grounded.citations:
        return False
    admits = bool(_ADMITS.search(grounded.text))
    return admits or (retrieval.only_weak and _is_talk(grounded.text))


def _with_nearest_pages(grounded: Grounded, retrieval: Retrieval) -> Grounded:
    """The text, with the pages that come nearest and a question where it has none."""
    parts = [grounded.text or "The docs do not answer this."]
    cited = list(grounded.citations)
    if not cited and (near := nearest(retrieval)):
        names = ", ".join(f"{unmarked(passage.title)} [{passage.id}]" for passage in near)
        parts.append(f"Nearest pages: {names}")
        cited = [passage.id for passage in near]
    if "?" not in grounded.text:
        parts.append("Which system or page is this about?")
    return replace(grounded, text="\n\n".join(parts), citations=tuple(cited))


def nearest(retrieval: Retrieval) -> list[Passage]:
    """One passage of each of the pages that came nearest in any search."""
    by_distance: dict[str, float] = {}
    for search in retrieval.searches:
        for chunk_id, distance in zip(search.ids, search.distances, strict=True):
            by_distance[chunk_id] = min(distance, by_distance.get(chunk_id, distance))
    pages: dict[str, Passage] = {}
    for chunk_id in sorted(by_distance, key=by_distance.__getitem__):
        passage = retrieval.sources.get(chunk_id)
        if passage:
            pages.setdefault(passage.path, passage)
    return list(pages.values())[:_NEAREST]
