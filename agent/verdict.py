"""The model's answer -> checked text with a verdict about the support by the docs."""

import re
from dataclasses import dataclass, replace

from agent.answer import Citation, Verdict
from agent.conversation import Conversation
from agent.grounding import CitableText, Grounded, WrittenAnswer, check
from agent.grounding.cited_text import CitedText, joined
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
"""Maximum number of characters of small talk, an answer without citations and hard facts."""
_HARD_FACT = re.compile(r"`|\d|^ {4,}\S", re.MULTILINE)
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """A checked text and its verdict."""

    verdict: Verdict
    grounded: Grounded
    faults: tuple[str, ...] = ()
    """Each fault that the model can mend, in words for the model."""

    def is_better_than(self, other: "Judgement") -> bool:
        if self.verdict == "not_in_docs" and other.grounded.citations:
            return False  # a text that is partly right is better than no text
        return self._rank > other._rank

    @property
    def _rank(self) -> tuple[bool, bool, int]:
        is_cited = self.verdict != "uncited"
        return is_cited, bool(self.grounded.citations), -len(self.grounded.unsupported)


def judge(answer: WrittenAnswer, conversation: Conversation, retrieval: Retrieval) -> Judgement:
    """Check ``answer`` against every passage that the model was given in this thread."""
    text = answer.text
    marker = _MARKER.search(text.text)
    if marker:
        text = text.edited([(*marker.span(), "")])
    grounded = check(
        replace(answer, text=text.strip()),
        [CitableText(passage.id, passage.text) for passage in retrieval.passages.values()],
        question=conversation.question,
        context=conversation.words_of_others,
    )
    if marker or _is_not_in_docs(grounded, retrieval):
        return Judgement("not_in_docs", _with_nearest_documents(grounded, retrieval))
    if not retrieval.searches and not grounded.citations and _is_talk(grounded.text):
        return Judgement("no_search", grounded)
    return Judgement(grounded.verdict, grounded, _faults(grounded, retrieval))


def _is_talk(text: str) -> bool:
    return len(text) <= _SMALL_TALK and not _HARD_FACT.search(text)


def _faults(grounded: Grounded, retrieval: Retrieval) -> tuple[str, ...]:
    if not grounded.citations and retrieval.searches and not retrieval.only_weak:
        return ("No passage is cited anywhere in it.",)
    return tuple(f"{u.span} ({u.reason})" for u in grounded.substantial)


def _is_not_in_docs(grounded: Grounded, retrieval: Retrieval) -> bool:
    """Return True if the model searched and admits, without the marker, that it found nothing."""
    if not retrieval.searches or grounded.citations:
        return False
    admits = bool(_ADMITS.search(grounded.text))
    return admits or (retrieval.only_weak and _is_talk(grounded.text))


def _with_nearest_documents(grounded: Grounded, retrieval: Retrieval) -> Grounded:
    """Add the nearest documents if the text cites none, and a question if it asks none."""
    parts = [grounded.body or CitedText("The docs do not answer this.")]
    if not grounded.citations and (passages := nearest(retrieval)):
        names = (
            CitedText.plain(f"{unmarked(passage.title)} ") + CitedText.citing(Citation(passage.id))
            for passage in passages
        )
        parts.append(CitedText("Nearest pages: ") + joined(names, ", "))
    if "?" not in grounded.text:
        parts.append(CitedText("Which system or page is this about?"))
    body = joined(parts, "\n\n")
    return replace(grounded, body=body, citations=body.ids)


def nearest(retrieval: Retrieval) -> list[Passage]:
    """One passage of each document that came nearest in any search, the nearest first."""
    by_distance: dict[str, float] = {}
    for search in retrieval.searches:
        for chunk_id, distance in zip(search.ids, search.distances, strict=True):
            by_distance[chunk_id] = min(distance, by_distance.get(chunk_id, distance))
    documents: dict[str, Passage] = {}
    for chunk_id in sorted(by_distance, key=by_distance.__getitem__):
        passage = retrieval.passages.get(chunk_id)
        if passage:
            documents.setdefault(passage.path, passage)
    return list(documents.values())[:_NEAREST]
