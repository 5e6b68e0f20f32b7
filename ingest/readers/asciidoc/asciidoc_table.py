"""Table of AsciiDoc -> its rows, whose cells may stand on one line or on lines of their own."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.readers.parsed_file import FileBlock

CELL = re.compile(r"(?:(?<!\S)(?:(\d++)?(?:\.(\d++))?([+*]))?[<^>]?(?:\.[<^>])?[a-z]?)?(?<!\\)\|")
"""Beginning of a cell, with the columns and rows that it fills."""
COLUMNS = re.compile(r"\bcols=(?:\"([^\"\]]*)\"|'([^'\]]*)'|([\w*]+))")
REPEATED = re.compile(r"(\d{1,3})\*")
OPTIONS = re.compile(r"\b(?:options?|opts)=(?:\"([^\"\]]*+)\"|(\w++))")
MOST = 200
"""Maximum number of columns or rows that one cell fills."""


def read_table(lines: Sequence[str], start: int, opening: int, end: int) -> FileBlock:
    """Return the table from ``start``, whose delimiters are ``opening`` and the line before
    ``end``, in rows that repeat its head."""
    described, last = "".join(lines[start:opening]), end - 1
    text = [index for index in range(opening + 1, last) if lines[index].strip()]
    if lines[opening][0] in "|!":
        rows = list(_rows(lines, text, _columns(described, lines, text)))
    else:
        rows = text  # values with commas or colons: a line is a row
    if not rows:
        return FileBlock("table", start, end)
    edges = [*rows, last]
    head = (rows[0], edges[1]) if _has_head(described, lines, rows[0], opening) else (0, 0)
    parts = (
        FileBlock("table", first, stop, head=head if first >= head[1] else (0, 0))
        for first, stop in pairwise(edges)
    )
    opened, closed = FileBlock("prose", start, rows[0]), FileBlock("prose", last, end)
    return FileBlock("table", start, end, parts=(opened, *parts, closed))


def _has_head(described: str, lines: Sequence[str], row: int, opening: int) -> bool:
    """Return True if the first row is declared as a head, or stands alone on the first line."""
    options = " ".join(filter(None, (o[1] or o[2] for o in OPTIONS.finditer(described))))
    if "noheader" in f"{described} {options}":
        return False
    alone = row == opening + 1 and not lines[row + 1].strip()
    return alone or "%header" in described or "header" in options


def _columns(described: str, lines: Sequence[str], text: Sequence[int]) -> int:
    """Return the number of columns, from ``cols`` or from the cells of the first line."""
    declared = COLUMNS.search(described)
    value = next(filter(None, declared.groups()), "") if declared else ""
    if "," in value or ";" in value or "*" in value:
        columns = re.split(r"[,;]", value)
        repeated = (REPEATED.match(column.strip()) for column in columns)
        return max(1, sum(int(times[1]) if times else 1 for times in repeated))
    first = CELL.finditer(lines[text[0]]) if text else ()
    return max(1, sum(_size(cell)[0] for cell in first))


def _size(cell: re.Match[str]) -> tuple[int, int]:
    """Return the number of columns and of rows that a cell fills."""
    wide = min(int(cell[1][:4]), MOST) if cell[1] else 1
    high = min(int(cell[2][:4]), MOST) if cell[2] else 1
    return wide, high


def _rows(lines: Sequence[str], text: Sequence[int], columns: int) -> Iterator[int]:
    """Yield the line at which each row begins."""
    filled = columns
    later: list[int] = []
    """Columns of the next rows that cells above fill, the next row last."""
    for index in text:
        cells = list(CELL.finditer(lines[index]))
        for number, cell in enumerate(cells):
            if filled >= columns:
                filled = later.pop() if later else 0
                if number == 0 and not lines[index][: cell.start()].strip():
                    yield index
            wide, high = _size(cell)
            filled += wide
            if high > 1 and cell[3] == "+":
                later = [0] * (high - 1 - len(later)) + later
                for row in range(len(later) - high + 1, len(later)):
                    later[row] += wide
