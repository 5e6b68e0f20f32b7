"""AsciiDoc -> sections and blocks: lists, tables, listings and blocks between delimiters.

No library serves here: asciidoctor needs Ruby or Node, asciidoc and asciidoc3 translate to HTML
without the places in the source, pandoc reads no AsciiDoc, and asciidoctrine takes a second for a
page and refuses one with an open block.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.readers.asciidoc.asciidoc_source import (
    BLOCK_TITLE,
    META,
    VERBATIM,
    Closings,
    is_underline,
    visible_lines,
)
from ingest.readers.asciidoc.asciidoc_table import read_table
from ingest.readers.parsed_file import FileBlock, ParsedFile, UnreadableDocument
from ingest.readers.search_text import clean_label

HEADING = re.compile(r"^(={1,6}|#{1,6})[ \t]+(\S.*)$")
UNDERLINES = "=-~^+"
"""Characters of the rules below titles, by depth."""
ITEM = re.compile(
    r"^[ \t]*+(?:(\*{1,6}|-|\.{1,6}|\d{1,6}\.|[a-zA-Z]\.|<(?:\d+|\.)>)[ \t]"
    r"|(?!//|\[)\S[^\n]*?(:{2,4}|;;)(?=[ \t]|$))"
)
CALLOUT = re.compile(r"^<(?:\d+|\.)>[ \t]")
OPEN_TERM = re.compile(r"^[^\n]*(?::{2,4}|;;)[ \t]*$")
"""A term of a list of definitions, whose text stands below."""
TABLE = re.compile(r"^[|,:!]=")
CODE_STYLE = re.compile(r"^\[(?:source|listing|literal|,)")
DIGITS = re.compile(r"\d+|[a-zA-Z](?=\.)")
DEEPEST = 12
"""Blocks inside more blocks than this are read as paragraphs."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A block, and how it hangs on the list item before it."""

    block: FileBlock
    marker: str = ""
    """Kind of the list; empty for a block that is not an item."""
    attached: bool = False


def read_asciidoc(lines: Sequence[str]) -> ParsedFile:
    """Read a page. Raises UnreadableDocument for a signature, which has the same suffix."""
    if lines and lines[0].startswith("-----BEGIN "):
        raise UnreadableDocument("no page: a key or a signature")
    structure, shown = visible_lines(lines)
    blocks = _grouped(_Reader(structure, shown).units(0, len(structure)))
    return ParsedFile("asciidoc", tuple(shown), tuple(blocks))


class _Reader:
    def __init__(self, lines: Sequence[str], shown: Sequence[str]) -> None:
        self._lines = lines
        self._shown = shown
        self._closings = Closings(lines)

    def units(self, start: int, end: int, depth: int = 0) -> Iterator[_Unit]:
        """Yield the blocks between two lines, each with its place in a list."""
        index, in_list, last = start, False, start
        while index < end:
            line = self._lines[index]
            if not line.strip():
                index += 1
                continue
            attached = line.rstrip() == "+"
            unit = self._unit(index, end, depth)
            is_below = line[0].isspace() or bool(OPEN_TERM.match(self._lines[last]))
            belongs = in_list and not unit.marker and (attached or is_below)
            # What explains the marks in a listing belongs to the listing.
            yield replace(unit, attached=belongs or bool(CALLOUT.match(line)))
            in_list = bool(unit.marker) or belongs
            index, last = unit.block.end, unit.block.end - 1

    def _unit(self, start: int, end: int, depth: int) -> _Unit:
        """Read one block, with the lines above it that name and describe it."""
        index = described = start
        while index < end and (self._is_meta(index) or not self._lines[index].strip()):
            described = index + 1 if self._lines[index].strip() else described
            index += 1
        if index == end:
            return _Unit(FileBlock("prose", start, described))
        if depth == 0 and (heading := self._heading(start, index)):
            return _Unit(heading)
        closing = self._closings.of(index, end) if depth < DEEPEST else None
        if closing:
            return _Unit(self._delimited(start, index, closing + 1, depth))
        item = ITEM.match(self._lines[index])
        stop = self._end_of_text(index, end, in_item=bool(item))
        if item:
            marker = DIGITS.sub("1", item[1]) if item[1] else item[2] or ""
            return _Unit(FileBlock("prose", start, stop), marker=marker)
        is_code = self._lines[index][0].isspace() or self._is_code_style(start, index)
        return _Unit(self._code(start, index, stop) if is_code else FileBlock("prose", start, stop))

    def _is_meta(self, index: int) -> bool:
        line = self._lines[index]
        return bool(META.match(line) or BLOCK_TITLE.match(line)) or line.rstrip() == "+"

    def _is_code_style(self, start: int, index: int) -> bool:
        return any(CODE_STYLE.match(line) for line in self._lines[start:index])

    def _heading(self, start: int, index: int) -> FileBlock | None:
        if match := HEADING.match(self._lines[index]):
            end, level = index + 1, len(match[1])
        elif index + 1 < len(self._lines) and is_underline(self._lines, index + 1):
            end, level = index + 2, UNDERLINES.index(self._lines[index + 1][0]) + 1
        else:
            return None
        title = HEADING.match(self._shown[index])
        label = clean_label(title[2] if title else self._shown[index], "asciidoc")
        return FileBlock("heading", start, end, level=level, label=label)

    def _end_of_text(self, index: int, end: int, *, in_item: bool) -> int:
        """Return the end of a paragraph, or of the text of a list item."""
        for place in range(index + 1, end):
            line = self._lines[place]
            if not line.strip() or META.match(line) or self._closings.of(place, end):
                return place
            if line.rstrip() == "+" or (in_item and ITEM.match(line)):
                return place
        return end

    def _code(self, start: int, index: int, end: int, delimiters: int = 0) -> FileBlock:
        """Return a listing; its title is searched, its other attributes are not."""
        titled = any(BLOCK_TITLE.match(line) for line in self._lines[start:index])
        first = index if titled else start
        header = index - first + delimiters
        code = FileBlock("code", first, end, header=header, footer=delimiters)
        if not titled:
            return code
        return FileBlock("prose", start, end, parts=(FileBlock("prose", start, index), code))

    def _delimited(self, start: int, index: int, end: int, depth: int) -> FileBlock:
        line = self._lines[index]
        if TABLE.match(line):
            return read_table(self._lines, start, index, end)
        if line.startswith(VERBATIM) or self._is_code_style(start, index):
            return self._code(start, index, end, delimiters=1)
        inner = _grouped(self.units(index + 1, end - 1, depth + 1))
        opening, closing = FileBlock("prose", start, index + 1), FileBlock("prose", end - 1, end)
        return FileBlock("prose", start, end, parts=(opening, *inner, closing))


def _grouped(units: Iterable[_Unit]) -> Iterator[FileBlock]:
    """Put what belongs to an item of the outermost list into one block."""
    group: list[FileBlock] = []
    markers: list[str] = []
    for unit in units:
        deeper = bool(markers) and bool(unit.marker) and unit.marker != markers[0]
        if group and not unit.attached and not deeper:
            yield _joined(group)
            group = []
        group.append(unit.block)
        if unit.marker:
            known = unit.marker in markers
            markers = [*markers[: markers.index(unit.marker) if known else None], unit.marker]
        elif not unit.attached:
            markers = []
    if group:
        yield _joined(group)


def _joined(group: Sequence[FileBlock]) -> FileBlock:
    if len(group) == 1:
        return group[0]
    return FileBlock("prose", group[0].start, group[-1].end, parts=tuple(group))
