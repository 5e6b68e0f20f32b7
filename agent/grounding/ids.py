"""Bracketed ids in a model's text -> citations as data; ids that were not retrieved leave the text.

``[payments-runbook-0]`` is a citation if that id was retrieved. A bracket of the same shape whose
id was not retrieved is forged: it is removed together with the blank before it. Text in code marks
never cites. Other brackets (``[x]``, ``[ERROR]``, links) stay as they are.

Bracketed ids are read only here and in ``brackets.py``. Everything after works on ``CitedText``.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent.answer import Citation, Segment
from agent.grounding.brackets import Bracket, Brackets
from agent.grounding.cited_text import MARK, CitedText, Edit
from agent.grounding.matching import HIDDEN
from agent.grounding.statements import MarkdownBlock, Span, code_at, read_blocks, without

_EMPTIED = re.compile(
    r"(?<![ \t])[ \t]*+\((?:see|sources?|from|cf\.?|per|ref|and|,|;|:|\s)*+\)", re.IGNORECASE
)
_ANY_BRACKET = re.compile(r"[\[\]【】［］〔〕]")
_ROUNDS = 20
_JOIN = re.compile(r"[ \t]*+(?:(?:,|;|&|and)[ \t]*+)?")
_CARRIAGE_RETURN = re.compile(r"\r\n?")
_OWN_MARK = re.compile(r"(?:\n\n[ \t>]*| )?\(⚠ (?:not in|no source|shortened|from)[^()\n]*\)")


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer as the model wrote it, with its citations as data."""

    text: CitedText
    removed: tuple[str, ...] = ()
    """Ids that it cited although they were not retrieved."""


def read_answer(text: CitedText, ids: Collection[str], documented: str = "") -> WrittenAnswer:
    """Read a model's text, without hidden characters and without marks that look like ours."""
    breaks = ((match.start(), match.end(), "\n") for match in _CARRIAGE_RETURN.finditer(text.text))
    text = text.edited(breaks)
    for pattern in (HIDDEN, _OWN_MARK):
        if pattern.search(text.text):
            text = text.without(pattern, _outside_code(text.text))
    return read_citations(text, ids, documented)


def read_citations(text: CitedText, ids: Collection[str], documented: str = "") -> WrittenAnswer:
    """Turn bracketed ``ids`` into citations, and remove forged ones.

    ``documented`` is everything the model was given: a code or a link that it contains is not a
    forged id.
    """
    brackets = Brackets(ids, documented)
    removed: list[str] = []
    rounds = 0
    # A removal can join two pieces to a new bracket, so the text is read until it stays the same.
    while True:
        blocks = read_blocks(text.text)
        if holes := [at for at, _ in text.places() if code_at(blocks, at)]:
            # Code stays as it was written, and never cites.
            text = text.edited((at, at + 1, "") for at in holes)
            continue
        cited = brackets.read(text, _prose(blocks))
        if all(bracket.is_citation for bracket in cited):
            return WrittenAnswer(text, tuple(dict.fromkeys(removed)))
        removed += [each for bracket in cited for each in bracket.forged]
        rounds += 1
        text = _rewritten(text, cited)
        if any(not bracket.cites for bracket in cited):
            # Parentheses that held only a forged id are removed, too.
            text = text.without(_EMPTIED, _outside_code(text.text))
        if rounds >= _ROUNDS:
            text = text.without(_ANY_BRACKET, _outside_code(text.text))


def read_segments(text: str, ids: Collection[str], documented: str = "") -> tuple[Segment, ...]:
    """Read Markdown with bracketed ``ids`` as segments, without forged ids."""
    return read_citations(CitedText.plain(text), ids, documented).text.segments


def named_ids(text: str) -> tuple[str, ...]:
    """Return the ids in a message of Footnote's, which was checked when it was written."""
    brackets = Brackets((), "").read(CitedText.plain(text), _prose(read_blocks(text)))
    return tuple(dict.fromkeys(each for bracket in brackets for each in bracket.forged))


def _prose(blocks: Iterable[MarkdownBlock]) -> Iterator[Span]:
    """The parts of the blocks outside code."""
    for block in blocks:
        if block.kind != "code":
            yield from without((block.start, block.end), block.code)


def _outside_code(text: str) -> Iterator[Span]:
    holes: list[Span] = []
    for block in read_blocks(text):
        holes += [(block.start, block.end)] if block.kind == "code" else block.code
    return without((0, len(text)), holes)


def _rewritten(text: CitedText, brackets: Sequence[Bracket]) -> CitedText:
    """The text with a citation for each known id, and without the forged ones."""
    cited = {at: citation.id for at, citation in text.places()}
    edits: list[Edit] = []
    at = 0
    last = "\n"  # the character before the next edit
    previous: Bracket | None = None
    for bracket in brackets:
        joins = previous is not None and _JOIN.fullmatch(text.text, previous.end, bracket.start)
        neighbour = previous if joins else None
        if neighbour and not (bracket.cites and neighbour.cites) and at < bracket.start:
            # If one of the two is removed, the words that join them are removed too.
            edits.append((at, bracket.start, ""))
            at = bracket.start
        last = text.text[bracket.start - 1] if at < bracket.start else last
        if bracket.cites:
            apart = neighbour is not None and not neighbour.cites and last not in " \n(["
            edits += _citing(bracket, " " if apart else "", cited.get(bracket.start - 1))
            last = MARK
        else:
            start, end, blank = _hole(text.text, bracket, at)
            edits.append((start, end, blank))
            last = blank or (text.text[start - 1] if start > at else last)
        at = max(at, bracket.end, edits[-1][1] if edits else 0)
        previous = bracket
    return text.edited(edits)


def _citing(bracket: Bracket, blank: str, id_before: str | None) -> Iterator[Edit]:
    """The edits that leave only the citations of ``bracket``, after ``blank``.

    ``id_before`` is the id of a citation right before it.
    """
    start, end = bracket.start, bracket.end
    if bracket.label is not None:
        yield start, bracket.label[0], blank
        yield bracket.label[1], end, ""
    elif bracket.is_citation:
        yield start, start, blank
    elif bracket.known == (id_before,):
        yield start, end, ""  # the API points at the chunk that the model names
    else:
        yield start, end, CitedText.plain(blank) + CitedText.citing(*map(Citation, bracket.known))


def _hole(text: str, bracket: Bracket, floor: int) -> tuple[int, int, str]:
    """Cut a bracket, and the blank on one side of it."""
    start, end = bracket.start, bracket.end
    while start > floor and text[start - 1] in " \t\u00a0":
        start -= 1
    line_begins = start == 0 or text[start - 1] == "\n"
    following = text[end : end + 1]
    if line_begins or text[start - 1] in "([":
        start = bracket.start
        while end < len(text) and text[end] in " \t\u00a0":
            end += 1
        return start, end, ""
    if text[start - 1] in ",;" and start > floor and following in ".,;:!?\n":
        return start - 1, end, ""
    goes_on = re.match(r"[`*_~\"]*[^\W_]", text[end : end + 8])
    apart = start < bracket.start or text[start - 1].isalnum()
    return start, end, " " if apart and goes_on else ""
