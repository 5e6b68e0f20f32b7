"""An answer -> its statements: pieces of text and code, each with the ids that cover it.

A group of adjacent citations covers the text before it, back to the previous group or to the start
of its paragraph, list item or table row. The last group there also covers the text after it. A code
block, list or table that has no citations takes the citations of the line that introduces it, or of
the line after it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent.grounding.cited_text import MARK, CitedText

Span = tuple[int, int]

_DEEPEST = 100
"""Number of levels that the parser reads; it leaves out words that are nested deeper."""
_PARSER = MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
_PARSER.enable("table").disable(["reference", "html_block", "inline"])
_MARKER = re.compile(
    r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t])?|#{1,6}[ \t]+)?"
)
_LINE_END = re.compile(r"\r\n?|\n")
_TICKS = re.compile(r"(?<!\\)(\\*+)(`++)")
_BETWEEN_CITATIONS = re.compile(r"[\s,;&]*(?:and[\s]+)?")
_SOURCE = re.compile(
    r"\W*(?:[^\W\d]+\s?[:：]?\W*)?"
    r"|(?=.*\b(?:sources?|from|see|per|according|documented)\b)[^\d`\n]{1,80}",
    re.IGNORECASE,
)


class CitedAt(NamedTuple):
    """The offset of a citation, and the id of the chunk that it cites."""

    at: int
    id: str

    @property
    def end(self) -> int:
        return self.at + 1


@dataclass(slots=True, eq=False)
class MarkdownBlock:
    """A paragraph, a heading, a table row, or the lines of a code block."""

    kind: Literal["text", "heading", "code"]
    start: int
    end: int
    """Offset of the block's end, without the line break."""
    inner: Span = (0, 0)
    """The lines of a code block without its fences."""
    group: int | None = None
    """The outermost list, table or quotation that the block belongs to."""
    intro: "MarkdownBlock | None" = None
    """The text before that group, or before this code block."""
    fence: str = ""
    """The marks that would close an unclosed fence, or empty."""
    code: tuple[Span, ...] = ()
    """The code spans in it, with their backticks."""
    citations: list[CitedAt] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of text or code, and the ids that cover it, if any."""

    block: MarkdownBlock
    start: int
    end: int
    ids: tuple[str, ...]
    citations: Span = (0, 0)
    """The span of the statement's own citations."""


def cited_blocks(text: CitedText) -> list[MarkdownBlock]:
    """Read the blocks of an answer, each with its citations."""
    blocks = read_blocks(text.text)
    for at, citation in text.places():
        block = block_at(blocks, at)
        if block is not None:
            block.citations.append(CitedAt(at, citation.id))
    return blocks


def block_at(blocks: Sequence[MarkdownBlock], at: int) -> MarkdownBlock | None:
    """Return the block that offset ``at`` is in."""
    index = bisect_right(blocks, at, key=lambda block: block.start) - 1
    return blocks[index] if index >= 0 and at < blocks[index].end else None


def code_at(blocks: Sequence[MarkdownBlock], at: int) -> Span | None:
    """Return the code block or code span that offset ``at`` is in."""
    block = block_at(blocks, at)
    if block is None:
        return None
    if block.kind == "code":
        return block.start, block.end
    index = bisect_right(block.code, at, key=lambda span: span[0]) - 1
    return block.code[index] if index >= 0 and at < block.code[index][1] else None


def read_blocks(text: str) -> list[MarkdownBlock]:
    """Read the leaves of the Markdown, in order, with their offsets in ``text``."""
    starts = [0]
    starts.extend(match.end() for match in _LINE_END.finditer(text))
    reader = _Reader(text, starts)
    tokens = _PARSER.parse(text)
    if any(token.level >= _DEEPEST - 1 for token in tokens):
        return reader.lines()
    for token in tokens:
        reader.take(token)
    blocks = reader.blocks
    for first, second in pairwise(blocks):
        if second.kind == "code":
            second.intro = first
    return blocks


class _Reader:
    def __init__(self, text: str, starts: list[int]) -> None:
        self.text = text
        self.starts = starts
        self.blocks: list[MarkdownBlock] = []
        self.depth = 0
        self.group = 0
        self.intros: list[MarkdownBlock | None] = []
        self.row: tuple[int, int] | None = None

    def take(self, token: Token) -> None:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open", "table_open", "blockquote_open"):
            self.group += not self.depth
            self.depth += 1
            self.intros.append(self.blocks[-1] if self.blocks else None)
        elif kind in ("bullet_list_close", "ordered_list_close", "table_close", "blockquote_close"):
            self.depth -= 1
            self.intros.pop()
        elif token.map is None:
            return
        elif kind in ("fence", "code_block"):
            self._add_code(token, token.map[0], token.map[1])
        elif kind in ("paragraph_open", "tr_open"):
            self._add("text", token.map[0], token.map[1])
        elif kind == "heading_open":
            self._add("heading", token.map[0], token.map[1])

    def lines(self) -> list[MarkdownBlock]:
        """Every line as a block of text, whatever Markdown would make of it."""
        for line in range(len(self.starts)):
            self._add("text", line, line + 1)
        return self.blocks

    def _span(self, first: int, last: int) -> Span:
        """Offsets of lines ``first`` to ``last`` (exclusive), without the last line break."""
        start = self.starts[first]
        end = self.starts[last] - 1 if last < len(self.starts) else len(self.text)
        return start, max(start, end)

    def _add(self, kind: Literal["text", "heading"], first: int, last: int) -> None:
        start, end = self._span(first, last)
        marker = _MARKER.match(self.text, start, end)
        begin = marker.end() if marker else start
        block = MarkdownBlock(kind, begin, end, code=tuple(code_spans(self.text, begin, end)))
        self._place(block)

    def _add_code(self, token: Token, first: int, last: int) -> None:
        start, end = self._span(first, last)
        block = MarkdownBlock("code", start, end, inner=(start, end))
        if token.type == "fence":
            body_start = self._span(first, first + 1)[1] + 1
            lines = self.text[start:end].split("\n")
            closing = lines[-1].strip(" >\t")
            closed = len(lines) > 1 and set(closing) == {token.markup[0]}
            closed = closed and len(closing) >= len(token.markup)
            body_end = end - len(lines[-1]) - 1 if closed else end
            block.inner = (min(body_start, end), max(min(body_start, end), body_end))
            block.fence = "" if closed else token.markup
        self._place(block)

    def _place(self, block: MarkdownBlock) -> None:
        if self.depth:
            block.group = self.group
            block.intro = self.intros[-1]
        self.blocks.append(block)


def code_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Inline code: a run of backticks up to the next run of the same length."""
    runs = [(m.span(2), len(m[1]) % 2 == 1) for m in _TICKS.finditer(text[start:end])]
    later: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        (opens, after), _ = runs[index]
        later.setdefault(after - opens, []).append(index)
    index = 0
    while index < len(runs):
        (opens, after), is_escaped = runs[index]
        same = later[after - opens]
        while same and same[-1] <= index:
            same.pop()
        if same and not is_escaped:
            index = same[-1]
            yield start + opens, start + runs[index][0][1]
        index += 1


def statements(text: str, blocks: Sequence[MarkdownBlock]) -> list[Statement]:
    """Split the answer into pieces, each with the ids that cover it."""
    everything = tuple(dict.fromkeys(c.id for block in blocks for c in block.citations))
    closing = _closing(text, blocks)
    # A block can introduce many others.
    introduces = cache(partial(_introduces, text))
    last_line_ids = cache(partial(_last_line_ids, text))
    pieces: list[Statement] = []
    above: tuple[str, ...] = ()
    headed: tuple[str, ...] = ()
    for block, below in zip(blocks, closing, strict=True):
        if block.kind == "heading":
            headed = last_line_ids(block)
        start = block.start
        for first, last, ids in (groups := citation_groups(text, block)):
            end = block.end if last == groups[-1][1] else last
            pieces.append(Statement(block, start, end, ids, (first, last)))
            start = end
        if groups:
            above = last_line_ids(block)
            continue
        intro, ids = block.intro, below or headed
        if intro and intro.kind != "code" and (block.kind == "code" or introduces(intro)):
            ids = last_line_ids(intro) or ids
        if not ids and block.kind == "code" and intro and introduces(intro):
            ids = above  # "Then:" continues the text above
        if not ids and (block.kind == "heading" or introduces(block)):
            # A heading or "Then:" announces the text below, with its citations.
            ids = everything
        pieces.append(Statement(block, block.start, block.end, ids))
    return pieces


def citation_groups(text: str, block: MarkdownBlock) -> list[tuple[int, int, tuple[str, ...]]]:
    """Group adjacent citations: start, end, ids."""
    groups: list[list[CitedAt]] = []
    for citation in block.citations:
        if groups and _BETWEEN_CITATIONS.fullmatch(text, groups[-1][-1].end, citation.at):
            groups[-1].append(citation)
        else:
            groups.append([citation])
    return [
        (group[0].at, group[-1].end, tuple(dict.fromkeys(citation.id for citation in group)))
        for group in groups
    ]


def _closing(text: str, blocks: Sequence[MarkdownBlock]) -> list[tuple[str, ...]]:
    """For each block, the ids below it that cover it too.

    A line that only names the source covers everything back to the citation before it. The last
    item covers its list if no other item cites. The text right below a list or a code block covers
    that list or code block.
    """
    cited = [block for block in blocks if block.citations]
    ends = {block.group: block for block in blocks}
    alone = {block.group for block in cited if block is ends[block.group]}
    alone -= {block.group for block in cited if block is not ends[block.group]}
    below: list[tuple[str, ...]] = []
    previous: MarkdownBlock | None = None
    outside: MarkdownBlock | None = None  # the first block below the list or the code block
    next_cited: MarkdownBlock | None = None
    only_names_source = cache(partial(names_source, text))
    groups_of = cache(partial(citation_groups, text))
    for block in reversed(blocks):
        if previous is None or block.group is None or block.group != previous.group:
            outside = previous
        previous = block
        ids: tuple[str, ...] = ()
        if next_cited is not None and next_cited.kind == "text":
            last = block.group is not None and block.group == next_cited.group
            right_below = next_cited is outside and next_cited.group is None
            if (
                only_names_source(next_cited)
                or (last and block.group in alone)
                or (right_below and (block.kind == "code" or block.group is not None))
            ):
                ids = groups_of(next_cited)[0][2]
        below.append(ids)
        next_cited = block if block.citations else next_cited
    return below[::-1]


def names_source(text: str, block: MarkdownBlock) -> bool:
    """Return True if the text only names the source: "From the limits page [x-0]."."""
    words = text[block.start : block.end].replace(MARK, "")
    return _SOURCE.fullmatch(words) is not None


def _last_line_ids(text: str, block: MarkdownBlock) -> tuple[str, ...]:
    line = text.rfind("\n", block.start, block.end) + 1
    last = tuple(dict.fromkeys(c.id for c in block.citations if c.at >= line))
    return last or tuple(dict.fromkeys(c.id for c in block.citations))


def _introduces(text: str, block: MarkdownBlock) -> bool:
    """Return True if the text ends with a colon, apart from its citations."""
    end = block.end
    for citation in reversed(block.citations):
        if text[citation.end : end].strip(" .)*_"):
            break
        end = citation.at
    tails = (text[block.start : end], text[block.start : block.end])
    return block.kind == "text" and any(tail.rstrip(" *_").endswith(":") for tail in tails)


def without(span: Span, holes: Sequence[Span]) -> Iterator[Span]:
    """The parts of ``span`` outside ``holes``, which are in order."""
    at = span[0]
    for start, end in holes:
        if end <= at or start >= span[1]:
            continue
        if start > at:
            yield at, start
        at = max(at, end)
    if at < span[1]:
        yield at, span[1]
