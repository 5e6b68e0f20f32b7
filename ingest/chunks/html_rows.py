"""HTML tables within Markdown, on many lines or on one -> their rows."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ingest.chunks.table_parts import Head, Row, cut
from ingest.readers.parsed_file import FileBlock

TABLE_TAG = re.compile(r"<(/?)table(?=[\s/>]|$)", re.IGNORECASE)
HTML_TAG = re.compile(r"<(/?)(table|tr|td|th)(?=[\s/>]|$)>?", re.IGNORECASE)


def html_rows(block: FileBlock, text: str) -> Iterator[Row]:
    """Yield rows of HTML tables and the text around them; a table in a cell is part of its row."""
    places = _Places(block.start, text)
    depth = begins = done = 0
    rows: list[int] = []
    for tag in HTML_TAG.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        if name == "table":
            if not closing and not depth:
                yield from places.rest(done, tag.start())
                begins, rows = tag.start(), []
            elif closing and depth == 1:
                done = tag.end()
                yield from _html_table(places, begins, rows, done)
            depth = max(0, depth + (-1 if closing else 1))
        elif depth == 1 and name == "tr" and not closing:
            rows.append(tag.start())
    if depth:
        yield from _html_table(places, begins, rows, len(text))
    else:
        yield from places.rest(done, len(text))


@dataclass(frozen=True)
class _Places:
    """The text of a block, and where in the file each of its characters is."""

    start: int
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def of(self, position: int) -> tuple[int, int]:
        line = bisect_right(self._starts, position) - 1
        return self.start + line, position - self._starts[line]

    def slice(self, start: int, end: int) -> str:
        return self.text[start:end] + ("\n" if end == len(self.text) else "")

    def rest(self, start: int, end: int) -> Iterator[Row]:
        """Yield the text beside tables."""
        if self.text[start:end].strip():
            yield Row(self.of(start), self.slice(start, end))


def _html_table(places: _Places, start: int, starts: list[int], end: int) -> Iterator[Row]:
    parts = [places.slice(a, b) for a, b in pairwise((*starts, end))]
    size = next((i for i, row in enumerate(parts) if not _names_columns(row)), 0)
    first = starts[size] if starts else end
    head = None
    if size:
        cells = tuple(html_cells(row) or (row,) for row in parts[:size])
        head = Head(places.of(start), places.text[start:first], cells, "html", "markdown")
    yield Row(places.of(start), places.slice(start, first), head=head, names=bool(size))
    for row, at in zip(parts[size:], starts[size:], strict=True):
        yield Row(places.of(at), row, html_cells(row), head)


def _names_columns(row: str) -> bool:
    tags = {tag[2].lower() for tag in HTML_TAG.finditer(row) if not tag[1]}
    return "th" in tags and "td" not in tags


def html_cells(row: str) -> tuple[str, ...]:
    """Cut a row before each of its cells; a table in a cell is part of it."""
    depth, cuts = 0, []
    for tag in HTML_TAG.finditer(row):
        if tag[2].lower() == "table":
            depth += -1 if tag[1] else 1
        elif depth <= 0 and tag[2].lower() in ("td", "th") and not tag[1]:
            cuts.append(tag.start())
    return cut(row, cuts[1:])
