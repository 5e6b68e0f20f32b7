"""Passages -> an answer without a model: the best of them word for word, and the reason why.

A follow-up is searched for twice: with its own words, and together with the words of the thread.
Passages that the thread quotes already are left out. Small talk gets a line of help instead.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from agent.answer import Answer, Citation
from agent.conversation import Conversation
from agent.draft import Draft
from agent.errors import Cancelled
from agent.grounding.cited_text import CitedText, joined
from agent.history import cited_before, query_of
from agent.model.characters import unmarked
from agent.model.deadline import Deadline, DeadlinePassed, Result
from ingest.documents import Passage, SearchResult
from ingest.errors import IngestError
from ingest.index import Index

log = logging.getLogger(__name__)

HELP = (
    "Ask me about anything in the team's docs: an error code, an alert, a how-to. "
    "In a thread I read what was said before."
)
_LATE = 0.8
"""Seconds after the deadline within which the passages must be found."""
_FEWEST = 3.0
"""Minimum number of seconds to find the passages, for a question that had to wait."""
_SHOWN = 3
_LONGEST = 1_500
_TICKS = re.compile(r"`{3,}")
_GREETING = re.compile(
    r"hi|hello|hey|hiya|howdy|morning|afternoon|evening|bye|goodbye|thanks?|thx|ty|cheers|"
    r"hallo|moin|servus|morgen|danke?|tschüss|bonjour|bonsoir|salut|merci|hola|gracias|adiós|"
    r"ciao|grazie|buongiorno|olá|obrigad[oa]"
)
_COURTESY = re.compile(
    r"there|all|every(?:one|body)|folks|team|footnote|bot|again|good|nice|to|meet|see|you|later|"
    r"day|night|so|very|much|many|a|lot|and|that|this|it|was|is|helped|work(?:s|ed)|fixed|did|the|"
    r"trick|great|perfect|awesome|super|cool|ok|okay|please|for|your|how|are|today|"
    r"guten?|tag|abend|nacht|vielen|schön|sehr|beaucoup|buen[oa]s|días|tardes|muchas|mille"
)
_ABOUT_ITSELF = re.compile(
    r"(?:what (?:can|do) you (?:do|help(?: me)? with|know)|who are you|"
    r"how do(?: you work| i use you)|how are you)(?: today| here)?"
)


def passages_answer(draft: Draft, why: str, seconds: float) -> Answer:
    """Answer with the passages that the model found before it failed, else with a search."""
    if is_small_talk(draft.conversation.question):
        return draft.answer("no_search", CitedText(HELP))
    until = max(seconds + _LATE, draft.conversation.waited + _FEWEST)
    deadline = Deadline(until, draft.deadline.cancel, spent=draft.deadline.spent)
    index = draft.retrieval.index
    try:
        quoted = _in_time(deadline, lambda: quoted_before(draft.conversation, index))
        passages, weak = [p for p in draft.retrieval.best() if p.id not in quoted], False
        if not passages:
            passages, weak = _searched(draft, deadline, quoted)
    except Cancelled:
        raise
    except DeadlinePassed:
        return failed(draft, "Neither the model nor the search answered in time.")
    except IngestError as error:
        log.warning("answer %s: %s", draft.id, error)
        return failed(draft, error.spoken)
    except Exception:  # the last resort has failed, and the answer says so
        log.exception("answer %s: search failed", draft.id)
        return failed(draft, IngestError.spoken)
    text = passages_text(passages, why, weak=weak, quoted=bool(quoted))
    return draft.answer("retrieval_only", text, citations=best(passages), reason=why)


def failed(draft: Draft, reason: str) -> Answer:
    """Return an answer that says that the question could not be answered, and why."""
    text = CitedText(f"_{reason} Try again in a few minutes, or look in the docs repo itself._")
    return draft.answer("failed", text, reason=reason)


def quoted_before(conversation: Conversation, index: Index) -> set[str]:
    """Ids of cited passages that the thread quotes: it contains most of their lines."""
    answers = "".join(_bare(t.text) for t in conversation.earlier if t.is_answer)
    quoted = set()
    for passage in cited_before(conversation, index):
        lines = [bare for line in passage.text.split("\n") if (bare := _bare(line))]
        if sum(line in answers for line in lines) * 2 > len(lines):
            quoted.add(passage.id)
    return quoted


def _searched(draft: Draft, deadline: Deadline, quoted: set[str]) -> tuple[list[Passage], bool]:
    """Search with the question; return the passages, and whether all of them are weak."""
    conversation, index = draft.conversation, draft.retrieval.index
    alone = replace(conversation, turns=conversation.turns[-1:])
    queries = dict.fromkeys(map(query_of, (alone, conversation)))

    def search() -> list[SearchResult]:
        return [index.search(query, exclude=quoted) for query in queries if query]

    results = _in_time(deadline, search)
    likely = [result for result in results if not result.weak]
    passages = list({p.id: p for p in _taken_in_turn(likely or results)}.values())
    draft.retrieval.supply(passages)
    return passages, not likely


def _in_time(deadline: Deadline, call: Callable[[], Result]) -> Result:
    [result] = deadline.run([call])
    if result is None:
        raise DeadlinePassed
    return result


def _taken_in_turn(results: Sequence[SearchResult]) -> Iterator[Passage]:
    """The best passage of each result, then the second of each, and so on."""
    for rank in zip_longest(*(result.passages for result in results)):
        yield from (passage for passage in rank if passage is not None)


def _bare(text: str) -> str:
    """Letters and digits alone, since Slack changes everything around them."""
    return "".join(re.findall(r"\w", text.lower()))


def passages_text(
    passages: Sequence[Passage], why: str, *, weak: bool = False, quoted: bool = False
) -> CitedText:
    """Markdown: one line that says why and what that means, then each passage with its citation.

    ``quoted``: some passages are left out, because the thread quotes them already.
    """
    if not passages:
        nothing = (
            "nothing that is not quoted above already" if quoted else ("nothing for this question")
        )
        return CitedText(f"_{why} A search of the docs found {nothing}._")
    if weak:
        means = "These passages are only loosely related: the docs may not answer this."
    else:
        means = (
            "These are the best-matching passages, word for word; "
            "nobody has checked that they answer the question."
        )
    again = " What is quoted above in the thread is not repeated." if quoted else ""
    parts = [CitedText(f"_{why} {means}{again}_"), *map(_quoted, best(passages))]
    return joined(parts, "\n\n")


def best(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages that are shown."""
    return tuple(passages[:_SHOWN])


def _quoted(passage: Passage) -> CitedText:
    where = unmarked(" › ".join(dict.fromkeys((passage.title, *passage.heading))))
    text = passage.text.strip("\n")
    cut = ""
    if len(text) > _LONGEST:
        text = text[:_LONGEST].rpartition("\n")[0] or text[:_LONGEST]
        cut = "\nThe passage goes on: open it to read the rest."
    # A fence longer than any inside cannot be closed by the passage.
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(text)), 3)
    heading = CitedText.plain(f"**{where}** ") + CitedText.citing(Citation(passage.id))
    return heading + f"\n{fence}\n{text}\n{fence}{cut}"


def is_small_talk(text: str) -> bool:
    """Return True if ``text`` is a greeting, thanks, or a question about Footnote itself."""
    words = re.findall(r"\w+", re.sub(r":\w+:", " ", text.lower()))
    other = [word for word in words if not _GREETING.fullmatch(word)]
    is_greeting = len(other) < len(words) and all(map(_COURTESY.fullmatch, other))
    return is_greeting or bool(_ABOUT_ITSELF.fullmatch(" ".join(words)))
