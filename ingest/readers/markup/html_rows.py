"""Lines of HTML tables and definition lists in Markdown -> rows as a reader sees them.

Source lines are cut before each row, so that a table on one line has a shown line for each row. A
row on many lines is shown on its first one, but for Markdown in it, which follows an empty line.
Bars separate the cells. Links and images stay as written.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise, takewhile

from ingest.readers.markup.tags import Tag, TaggedText

BEGINS = re.compile(
    r"^[ \t>]*</?(?:table|caption|colgroup|col|thead|tbody|tfoot|tr|td|th|dl|dt|dd)(?=[\s/>])", re.I
)
TABLE = re.compile(r"<(/?)(table|dl)(?=[\s/>])", re.I)
CODE_SPAN = re.compile(r"(?<!`)(`++)[^`\n]++\1(?!`)")
OPEN_TAG = re.compile(r"<[A-Za-z][^<>]*+\Z")
LONGEST_TAG_LINES = 10
"""Maximum number of lines of one tag in a table."""
TABLES = frozenset({"table", "dl"})
ROWS = frozenset({"tr", "dt"})
KEPT = frozenset({"a", "img", "pre"})
SIGNS = {"td": " | ", "th": " | ", "dd": ": ", "li": " - ", "br": " ", "p": " ", "div": " "}
CODE = frozenset({"code", "kbd", "samp", "tt"})


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A table among the shown lines."""

    start: int
    end: int
    rows: tuple[int, ...]
    """Index of the first line of each row."""
    header: int
    """Number of first rows that name the columns."""


@dataclass(frozen=True, slots=True)
class Part:
    """A line of the source, or a part of one that has one row at most."""

    text: str
    tags: tuple[Tag, ...]
    """Their positions are those in ``text``."""
    is_row: bool
    """True if it begins a row of the outer table."""

    def names(self) -> Iterator[str]:
        """Yield the names of the tags, with ``/`` before that of a closing one."""
        return (f"{'/' * tag.is_closing}{tag.name.lower()}" for tag in self.tags)


@dataclass
class HtmlRows:
    """The tables of one document, in order."""

    closed: frozenset[int]
    """Index of each line with a table that begins there and ends there or below."""
    tables: list[HtmlTable] = field(default_factory=list)
    depth: int = 0
    """Number of tables that are open: one in a cell is part of its row."""
    start: int = 0
    """Index of the first shown line of the open table."""
    parts: list[Part | None] = field(default_factory=list)
    """What each of its lines shows; None for an empty line, and for code."""
    cells: int = 0
    """Number of cells of the current row so far."""

    @staticmethod
    def of(lines: Sequence[str]) -> "HtmlRows":
        return HtmlRows(frozenset(_closed(lines)))

    def has(self, index: int, line: str) -> bool:
        """Return True for a line of a table, or with one."""
        return bool(self.depth) or index in self.closed or bool(BEGINS.match(line))

    def read(self, index: int, line: str, shown: list[str]) -> Iterator[tuple[str, str]]:
        """Yield what each part of a line shows, and the part; the caller adds it to ``shown``."""
        may_open = index in self.closed
        for part in list(self._cut(line, may_open=may_open)):
            before = self.depth
            for name in part.names():
                if name in TABLES and (self.depth or may_open):
                    self.depth += 1
                elif name.strip("/") in TABLES:
                    self.depth = max(0, self.depth - 1)
            if self.depth and not before:
                self.start, self.parts = len(shown), []
            if before or self.depth:
                self.parts.append(part)
            yield self._shown(part), part.text
            if before and not self.depth:
                self.tables.append(self._table(shown))

    def pass_by(self) -> None:
        """Note an empty line or one of code, which is shown as it is."""
        if self.depth:
            self.parts.append(None)

    def _cut(self, line: str, *, may_open: bool) -> Iterator[Part]:
        """Yield parts of a line, which joined are the line."""
        tags = list(_tags(line))
        cuts = self._cuts(tags, may_open=may_open)
        within = ((at, is_row) for at, is_row in cuts.items() if at < len(line) or not at)
        edges = (*within, (len(line), False))
        after = iter(tags)
        tag = next(after, None)
        begin, begins_row = 0, False
        for (_, is_row), (end, _) in pairwise(edges):
            begins_row = begins_row or is_row
            if line[begin:end].strip(" \t>") or end == len(line):
                own: list[Tag] = []
                while tag and tag.start < end:
                    own.append(tag.moved(-begin) if begin else tag)
                    tag = next(after, None)
                yield Part(line[begin:end], tuple(own), begins_row)
                begin, begins_row = end, False

    def _cuts(self, tags: Sequence[Tag], *, may_open: bool) -> dict[int, bool]:
        """Position of each cut -> True if a row of the outer table begins there."""
        cuts, depth = {0: False}, self.depth
        for tag in tags:
            name = tag.name.lower()
            if name in TABLES and (depth or may_open):
                before, depth = depth, max(0, depth - 1 if tag.is_closing else depth + 1)
                if not before or not depth:
                    cuts[tag.start] = False
                if not depth:
                    cuts[tag.end] = False
            elif name in ROWS and not tag.is_closing and depth < 2:
                cuts[tag.start] = True
        return cuts

    def _shown(self, part: Part) -> str:
        pieces: list[str] = []
        position = 0
        is_code = False
        if part.is_row:
            self.cells = 0
        for tag in part.tags:
            name = tag.name.lower()
            text = part.text[position : tag.start]
            pieces.append(unescape(text) if is_code else text)
            position = tag.end
            if name in KEPT or tag.words or not (tag.is_element or tag.has_values):
                pieces.append(part.text[tag.start : tag.end])
            elif name in CODE:
                is_code = not tag.is_closing
                pieces.append("`")
            elif not tag.is_closing:
                pieces.append(self._sign(name))
        if not position:
            return part.text
        text = " ".join("".join((*pieces, part.text[position:])).split())
        return text if text.strip(" |:-") else ""

    def _sign(self, name: str) -> str:
        if name in ("td", "th"):
            self.cells += 1
            if self.cells == 1:
                return ""
        return SIGNS.get(name, "")

    def _table(self, shown: list[str]) -> HtmlTable:
        """Join the lines of each row in ``shown``, and return the table that has ended there."""
        rows: dict[int, set[str]] = {}  # first line of each row -> its tags
        joined: dict[int, list[str]] = {}
        line: int | None = None  # the line to which HTML is joined
        is_markdown = is_head = is_preformatted = False
        for at, part in enumerate(self.parts, self.start):
            text = shown[at].lstrip(" \t>")
            if part is None:
                is_markdown, line = True, None if text else line
                continue
            own = set(part.names())
            if part.is_row:
                rows[at], line = {"thead"} if is_head else set(), None
            if rows:
                next(reversed(rows.values())).update(own)
            is_markdown = is_markdown and not BEGINS.match(part.text)
            if text and (is_markdown or is_preformatted):
                line = None
            elif text and line is None:
                line, joined[at] = at, [shown[at]]
            elif text and line is not None:
                joined[line].append(text if text.startswith(": ") else f" {text}")
                shown[at] = ""
            is_head = ("thead" in own or is_head) and "/thead" not in own
            is_preformatted = ("pre" in own or is_preformatted) and "/pre" not in own
        for at, texts in joined.items():
            shown[at] = "".join(texts)
        header = len(list(takewhile(_names_columns, rows.values())))
        return HtmlTable(self.start, len(shown), tuple(rows), header if header < len(rows) else 0)


def _names_columns(tags: Collection[str]) -> bool:
    return "thead" in tags or ("th" in tags and "td" not in tags)


def with_whole_tag(lines: Sequence[str], index: int, line: str) -> tuple[str, int]:
    """Return a line with the rest of the tag that it opens, and the index of the tag's last line.

    ``line`` is ``lines[index]``, or what is left of it without comments.
    """
    whole = line
    for last in range(index, min(index + LONGEST_TAG_LINES, len(lines) - 1)):
        if not OPEN_TAG.search(whole):
            return whole, last
        whole = f"{whole} {lines[last + 1].strip()}"
    return line, index


def _closed(lines: Sequence[str]) -> Iterator[int]:
    waiting: list[tuple[str, int]] = []
    for index, line in enumerate(lines):
        if "<" not in line:
            continue
        for tag in TABLE.finditer(CODE_SPAN.sub("", line)):
            name = tag[2].lower()
            if not tag[1]:
                waiting.append((name, index))
            elif waiting and waiting[-1][0] == name:
                yield waiting.pop()[1]


def _tags(line: str) -> Iterator[Tag]:
    """Yield the tags of a line outside code."""
    spans = (match.span() for match in CODE_SPAN.finditer(line))
    start, end = next(spans, (len(line), 0))
    for tag in TaggedText(line).tags():
        while start < tag.start and end <= tag.start:
            start, end = next(spans, (len(line), 0))
        if tag.start < start:
            yield tag
