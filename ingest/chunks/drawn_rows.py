"""Tables that are drawn with rules, or written as a directive of reStructuredText -> their rows."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.chunks.table_parts import Head, Row, cut
from ingest.readers.parsed_file import FileBlock, ParsedFile, Syntax

_GRID = re.compile(r"^[ \t>]*\+(?:[-=:]+\+)+[ \t]*$")
_SIMPLE = re.compile(r"^[ \t]*={2,}(?:[ \t]+={2,})+[ \t]*$")
_SPAN = re.compile(r"^[ \t]*-{2,}(?:[ \t]+-{2,})*[ \t]*$")
_RST_TABLE = re.compile(r"^[ \t]*\.\.[ \t]+(list-table|csv-table)::")
_OPTION = re.compile(r"^[ \t]+:([\w-]+):[ \t]*(.*)$")
_LIST_ROW = re.compile(r"^[ \t]*\*[ \t]+-(?:[ \t]|$)")
_LIST_CELL = re.compile(r"^([ \t]*)(?:\*[ \t]+)?-(?:[ \t]|$)", re.MULTILINE)
_QUOTED_OR_COMMA = re.compile(r'"[^"]*+"?|(,)')


def drawn_rows(block: FileBlock, lines: Sequence[str], parsed: ParsedFile) -> Iterator[Row]:
    """Yield the rows of a grid, a simple table, a ``list-table`` or a ``csv-table``."""
    syntax = parsed.syntax
    if _GRID.match(lines[0]):
        yield from _ruled(block, lines, syntax, _grid_edges(lines), _grid_columns(lines[0]))
    elif syntax == "rst" and _SIMPLE.match(lines[0]):
        yield from _ruled(block, lines, syntax, _simple_edges(lines), _simple_columns(lines[0]))
    elif syntax == "rst" and (kind := _RST_TABLE.match(lines[0])):
        yield from _directive(block, lines, kind[1])


def _ruled(
    block: FileBlock,
    lines: Sequence[str],
    syntax: Syntax,
    edges: tuple[list[int], int],
    columns: tuple[tuple[int, int], ...],
) -> Iterator[Row]:
    """Yield rows of a table that is drawn with rules; ``edges``: first lines, end of the head."""
    starts, size = edges
    rows = [
        Row((block.start + a, 0), "".join(f"{line}\n" for line in lines[a:b]))
        for a, b in pairwise((*starts, len(lines)))
    ]
    head = None
    if size:
        cells = [_column_words(lines[:size], column) for column in columns]
        text = "".join(f"{line}\n" for line in lines[:size])
        head = Head((block.start, 0), text, (tuple(cells),), syntax)
    for row in rows:
        own = row.text.rstrip("\n").split("\n")
        aligned = all(_is_gap(line, a) for line in own for a, _ in columns)
        cells_of = tuple(f"{_column_words(own, column)}\n" for column in columns) if aligned else ()
        names = row.at[0] < block.start + size
        yield replace(
            row, cells=cells_of, head=head, names=names, columns=columns if aligned else ()
        )


def _column_words(lines: Sequence[str], column: tuple[int, int]) -> str:
    parts = (line[slice(*column)].strip(" |") for line in lines)
    return " ".join(part for part in parts if part.strip("+-=:"))


def _is_gap(line: str, at: int) -> bool:
    """Return True if a column may begin here, which it does not in lines with wide letters."""
    return (
        at >= len(line)
        or line[at] in "+|"
        or at == 0
        or line[at - 1].isspace()
        or line[at].isspace()
    )


def _grid_edges(lines: Sequence[str]) -> tuple[list[int], int]:
    rules = [i for i, line in enumerate(lines) if _GRID.match(line)]
    head = next((i + 1 for i in rules[1:] if "=" in lines[i]), 0)
    starts = [0, *(i + 1 for i in rules[1:] if i + 1 < len(lines))]
    return starts, head


def _grid_columns(rule: str) -> tuple[tuple[int, int], ...]:
    bars = [i for i, sign in enumerate(rule) if sign == "+"]
    return tuple(pairwise(bars))


def _simple_edges(lines: Sequence[str]) -> tuple[list[int], int]:
    rules = [i for i, line in enumerate(lines) if _SIMPLE.match(line)]
    size = rules[1] + 1 if len(rules) > 2 else 0
    first = size or 1
    margin = len(lines[0]) - len(lines[0].lstrip())
    starts = [
        i
        for i in range(first + 1, len(lines))
        if lines[i][margin : margin + 1].strip() and i not in rules and not _SPAN.match(lines[i])
    ]
    return [0, *([size] if size and size < len(lines) else []), *starts], size


def _simple_columns(rule: str) -> tuple[tuple[int, int], ...]:
    starts = [match.start() for match in re.finditer(r"=+", rule)]
    return tuple(pairwise((*starts, 10_000)))


def _directive(block: FileBlock, lines: Sequence[str], kind: str) -> Iterator[Row]:
    """Yield rows of a ``list-table`` or ``csv-table``; its options belong to the head."""
    options = {}
    top = 1
    while top < len(lines) and (option := _OPTION.match(lines[top])):
        options[option[1]] = option[2]
        top += 1
    body = [i for i in range(top, len(lines)) if lines[i].strip()]
    if kind == "list-table":
        starts = [i for i in body if _LIST_ROW.match(lines[i])]
        split: Callable[[str], tuple[str, ...]] = _list_cells
    else:
        starts, split, is_open = [], _comma_cells, False
        for i in body:
            starts += [] if is_open else [i]
            is_open ^= lines[i].count('"') % 2 == 1
    count = (
        int(options.get("header-rows") or 0)
        if (options.get("header-rows") or "0").isdecimal()
        else 0
    )
    edges = [0, *starts, len(lines)]
    rows = [
        Row((block.start + a, 0), text, split(text) if a else ())
        for a, b in pairwise(edges)
        if (text := "".join(f"{line}\n" for line in lines[a:b]))
    ]
    named = [row.cells or (row.text,) for row in rows[1 : 1 + count]]
    if header := options.get("header"):
        named.insert(0, split(header) or (header,))
    text = "".join(row.text for row in rows[1 : 1 + count])
    text = f"{lines[0].strip()}\n   :header: {header}\n{text}" if header else text
    head = Head((block.start, 0), text, tuple(named), "rst") if named else None
    for number, row in enumerate(rows):
        yield replace(row, head=head, names=number <= count)


def _list_cells(text: str) -> tuple[str, ...]:
    cells = list(_LIST_CELL.finditer(text))
    margin = len(cells[1][1]) if len(cells) > 1 else 0
    return cut(text, [cell.start() for cell in cells[1:] if len(cell[1]) == margin])


def _comma_cells(text: str) -> tuple[str, ...]:
    signs = _QUOTED_OR_COMMA.finditer(text.rstrip("\n"))
    return cut(text, [sign.end() for sign in signs if sign[1]])
