"""A block with tables -> its rows, whatever markup they are written in."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.chunks.drawn_rows import drawn_rows
from ingest.chunks.table_parts import Head, Row, cut
from ingest.readers.parsed_file import FileBlock, ParsedFile, Syntax

_BAR = re.compile(r"(?<!\\)\|")
_PADDING = re.compile(r"-{4,}")
_BOLD = re.compile(r"(?:\*\*|__)\S.*(?:\*\*|__)|<(b|strong)>.*</\1>")


def rows_of(block: FileBlock, parsed: ParsedFile) -> tuple[Row, ...]:
    """Return the rows of a block; empty for a block without a table."""
    lines = parsed.lines[block.start : block.end]
    if block.kind == "code" or not lines:
        return ()
    if block.head != (0, 0):
        return () if block.parts else tuple(_row_below(block, parsed))
    if drawn := tuple(drawn_rows(block, lines, parsed)):
        return drawn
    if block.kind == "table" and not block.parts:
        return tuple(_barred(block, lines, parsed.syntax))
    return ()


def whole_tables(blocks: Sequence[FileBlock], parsed: ParsedFile) -> list[FileBlock]:
    """Make a first head row, which stands above the head that Markdown knows, part of it."""
    whole: list[FileBlock] = []
    for block in blocks:
        above = whole[-1] if whole else None
        if above and block.kind == "table" and _heads(above, block, parsed):
            whole.pop()
            more = block.start - above.start
            block = replace(block, start=above.start, header=block.header + more)
        whole.append(block)
    return whole


def _heads(above: FileBlock, table: FileBlock, parsed: ParsedFile) -> bool:
    lines = parsed.lines[above.start : above.end]
    is_near = above.kind == "prose" and above.end == table.start and len(lines) <= 2
    return is_near and table.header > 0 and all(line.lstrip(" >").startswith("|") for line in lines)


def _row_below(block: FileBlock, parsed: ParsedFile) -> Iterator[Row]:
    """Yield the one row of a block whose columns are named by other lines."""
    text = "\n".join(parsed.lines[block.start : block.end])
    names = [line for line in parsed.lines[slice(*block.head)] if line.strip()]
    cells = tuple(_bar_cells(line) or (line,) for line in names)
    head = Head((block.head[0], 0), "\n".join(names), cells, parsed.syntax, is_above=True)
    yield Row((block.start, 0), f"{text}\n", _bar_cells(f"{text}\n"), head)


def _barred(block: FileBlock, lines: Sequence[str], syntax: Syntax) -> Iterator[Row]:
    rows = [
        Row((block.start + i, 0), f"{line}\n", _bar_cells(f"{line}\n"))
        for i, line in enumerate(lines)
    ]
    size = block.header
    if 0 < size < len(rows) - 1 and _names_more(rows[size]):
        size += 1
    names = [row for row in rows[:size] if row.has_words]
    text = "".join(_PADDING.sub("---", " ".join(row.text.split())) + "\n" for row in rows[:size])
    cells = tuple(row.cells or (row.text,) for row in names)
    head = Head((block.start, 0), text, cells, syntax, has_bars=True) if names else None
    for number, row in enumerate(rows):
        yield replace(row, head=head, names=number < size)


def _names_more(row: Row) -> bool:
    """Return True for a row under the head that names columns, too: it has no name, or is bold."""
    cells = [cell.strip("|\n ") for cell in row.cells]
    words = [cell for cell in cells if cell]
    return len(words) > 1 and (not cells[0] or all(map(_BOLD.fullmatch, words)))


def _bar_cells(text: str) -> tuple[str, ...]:
    """Cut before each bar; the first and the last one belong to the cells beside them."""
    stripped = text.rstrip("| \t\n")
    cuts = [bar.start() for bar in _BAR.finditer(stripped) if stripped[: bar.start()].strip(" \t>")]
    return cut(text, cuts)
