"""Org, MediaWiki, Creole, Textile and POD -> sections, code, tables and list items.

Each format is a set of marks at the beginning of a line. Libraries were not worth their weight:
mwparserfromhell and orgparse read one format each, and those for Textile and Creole give HTML
without the places in the source.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.readers.search_text import clean_label

NOTHING = re.compile(r"(?!)")
TITLE = re.compile(r"^#\+title:[ \t]*(\S.*)$", re.IGNORECASE)
TAGS = re.compile(r"(?<=\S)[ \t]++:[\w@#%:]++$")
"""Tags at the end of a heading in Org."""
ROW_RULE = re.compile(r"^[ \t]*\|-")
TABLE_BEGINS, TABLE_ENDS = re.compile(r"^[ \t]*\{\|"), re.compile(r"^[ \t]*\|\}")
HEAD_CELL = re.compile(r"^[ \t]*\|(?:=|_\.)")


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one format, each of one line."""

    heading: re.Pattern[str]
    """Its group ``mark`` tells the depth, by its length or its digit; ``title`` has the words."""
    opening: re.Pattern[str] = NOTHING
    """First line of code that ends with ``closing``."""
    closing: re.Pattern[str] = NOTHING
    row: re.Pattern[str] = re.compile(r"^[ \t]*\|")
    """Line of a table."""
    item: re.Pattern[str] = re.compile(r"^(?:[*#]+[ \t]|[ \t]*(?:[-+]|\d+[.)])[ \t])")
    unseen: re.Pattern[str] = NOTHING
    """Line that is not shown."""
    hidden: tuple[re.Pattern[str], re.Pattern[str]] | None = None
    """First and last line of what is not shown."""
    indented_code: re.Pattern[str] = NOTHING
    """Paragraph of code."""


ORG = Marks(
    heading=re.compile(
        r"^(?P<mark>\*+)[ \t]++(?:(?:TODO|DONE)[ \t]++)?(?:\[#\w\][ \t]++)?(?P<title>\S.*)$"
    ),
    opening=re.compile(r"^[ \t]*#\+begin_(?:src|example)\b", re.IGNORECASE),
    closing=re.compile(r"^[ \t]*#\+end_(?:src|example)\b", re.IGNORECASE),
    unseen=re.compile(r"^[ \t]*#(?:[ \t]|$|\+(?!caption:|begin_|end_))", re.IGNORECASE),
    hidden=(re.compile(r"^[ \t]*:(?:PROPERTIES|LOGBOOK):"), re.compile(r"^[ \t]*:END:")),
)
MEDIAWIKI = Marks(
    heading=re.compile(r"^(?P<mark>={1,6})(?P<title>[^=].*)$"),
    opening=re.compile(r"^<(?:syntaxhighlight|source|pre)\b[^>]*>(?!.*</)", re.IGNORECASE),
    closing=re.compile(r"^.*</(?:syntaxhighlight|source|pre)>", re.IGNORECASE),
    row=re.compile(r"^[ \t]*(?:\{\||\||!)"),
    item=re.compile(r"^[*#:;]+"),
    unseen=re.compile(r"^(?:__[A-Z]+__[ \t]*$|\[\[(?:Category|Kategorie):)", re.IGNORECASE),
    hidden=(re.compile(r"^[ \t]*<!--(?!.*-->)"), re.compile(r"^.*-->")),
    indented_code=re.compile(r"^ \S"),
)
CREOLE = Marks(
    heading=re.compile(r"^(?P<mark>={1,6})(?P<title>[^=].*)$"),
    opening=re.compile(r"^\{\{\{[ \t]*$"),
    closing=re.compile(r"^\}\}\}"),
)
TEXTILE = Marks(
    heading=re.compile(r"^h(?P<mark>[1-6])(?:[({\[<>=][^.]*)?\.[ \t]+(?P<title>\S.*)$"),
    opening=re.compile(r"^<pre\b(?!.*</pre>)", re.IGNORECASE),
    closing=re.compile(r"^.*</pre>", re.IGNORECASE),
    unseen=re.compile(r"^###\.[ \t]"),
    indented_code=re.compile(r"^(?:bc|pre)\.\.?[ \t]"),
)
POD = Marks(
    heading=re.compile(r"^=head(?P<mark>[1-6])[ \t]+(?P<title>\S.*)$"),
    row=NOTHING,
    item=re.compile(r"^=item\b"),
    unseen=re.compile(r"^=(?:pod|cut|over|back|encoding|for|begin|end)\b"),
    indented_code=re.compile(r"^[ \t]+\S"),
)


def wiki_reader(marks: Marks) -> Callable[[Sequence[str]], ParsedFile]:
    """Return the reader of a format."""
    return lambda lines: _Reader(lines, marks).read()


class _Reader:
    def __init__(self, lines: Sequence[str], marks: Marks) -> None:
        self._marks = marks
        self._lines = list(lines)
        self._code: dict[int, int] = {}
        """First line of each listing -> the line after its last one."""
        self._ends = {
            pattern: [i for i, line in enumerate(lines) if pattern.match(line)]
            for pattern in (marks.closing, TABLE_ENDS, *(marks.hidden or ())[1:])
        }
        self._title = next((m[1] for line in lines if (m := TITLE.match(line))), "")

    def read(self) -> ParsedFile:
        self._hide()
        blocks: list[FileBlock] = []
        index = 0
        while index < len(self._lines):
            if not self._lines[index].strip():
                index += 1
                continue
            blocks.append(self._block(index))
            index = blocks[-1].end
        return ParsedFile("wiki", tuple(self._lines), tuple(blocks), title=self._title)

    def _hide(self) -> None:
        """Blank what is not shown, outside of code."""
        marks, index = self._marks, 0
        while index < len(self._lines):
            line = self._lines[index]
            end = index + 1
            if marks.opening.match(line) and (last := self._after(marks.closing, index)):
                self._code[index] = end = last + 1
            elif marks.hidden and marks.hidden[0].match(line):
                last = self._after(marks.hidden[1], index)
                end = last + 1 if last else end
                self._lines[index:end] = [""] * (end - index)
            elif marks.unseen.match(line):
                self._lines[index] = ""
            index = end

    def _after(self, pattern: re.Pattern[str], index: int) -> int | None:
        places = self._ends[pattern]
        place = bisect_right(places, index)
        return places[place] if place < len(places) else None

    def _block(self, start: int) -> FileBlock:
        marks, line = self._marks, self._lines[start]
        if heading := marks.heading.match(line):
            mark = heading["mark"]
            level = int(mark) if mark.isdigit() else len(mark)
            title = TAGS.sub("", heading["title"].strip())
            label = clean_label(title.rstrip("= \t") if mark[0] == "=" else title, "wiki")
            return FileBlock("heading", start, start + 1, level=level, label=label)
        if end := self._code.get(start):
            return FileBlock("code", start, end, header=1, footer=1)
        if TABLE_BEGINS.match(line) and (last := self._after(TABLE_ENDS, start)):
            return self._table_of_rules(start, last + 1)
        if marks.row.match(line):
            return self._table(start)
        end = self._end_of_text(start)
        is_code = marks.indented_code.match(line) and not marks.item.match(line)
        return FileBlock("code" if is_code else "prose", start, end)

    def _end_of_text(self, start: int) -> int:
        """Return the end of a paragraph, or of a list item."""
        marks = self._marks
        ends = (marks.heading, marks.item, marks.row)
        for index in range(start + 1, len(self._lines)):
            line = self._lines[index]
            if not line.strip() or index in self._code or any(end.match(line) for end in ends):
                return index
        return len(self._lines)

    def _table(self, start: int) -> FileBlock:
        lines, end = self._lines, start + 1
        while end < len(lines) and self._marks.row.match(lines[end]):
            end += 1
        if end > start + 2 and ROW_RULE.match(lines[start + 1]):
            return FileBlock("table", start, end, header=2)
        return FileBlock("table", start, end, header=1 if HEAD_CELL.match(lines[start]) else 0)

    def _table_of_rules(self, start: int, end: int) -> FileBlock:
        """Return a table whose rows begin with a rule, the first with the names of the columns."""
        rules = [i for i in range(start + 1, end - 1) if ROW_RULE.match(self._lines[i])]
        edges = [start, *rules, end]
        named = [a for a, b in pairwise(edges) if any(x[:1] == "!" for x in self._lines[a:b])][:1]
        head = (named[0], edges[edges.index(named[0]) + 1]) if named else (0, 0)
        parts = (
            FileBlock("table", a, b, head=head if a >= head[1] else (0, 0))
            for a, b in pairwise(edges)
        )
        return FileBlock("table", start, end, parts=tuple(parts) if rules else ())
