"""Pieces of a document: blocks, and parts of blocks that are too large for one chunk."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import ceil

from ingest.chunks.table_parts import LONGEST_HEAD, Row
from ingest.chunks.table_rows import rows_of
from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.readers.search_text import search_text

LONGEST_LINE = 1.5
"""A line that is longer than the target multiplied by this is cut inside."""
LONGEST_REPEAT = 300
"""Maximum number of characters of a fence's opening that is repeated."""
SHORTEST = 40
"""A piece of at most this many characters is never cut."""
LONGEST_WORD = 4_000
"""Of a word with more characters, such as a file in base64, only the beginning is indexed."""
BREAKS = (re.compile(r"[.!?]\s+|[。！？]"), re.compile(r"\s+"))
_TAG_BEGINS = re.compile(r"<[A-Za-z/!]")
_ENDLESS = re.compile(rf"[\w+/=%-]{{{LONGEST_WORD + 1},}}")

Fits = Callable[[str], bool]


@dataclass(frozen=True)
class Piece:
    """A block, or a part of one that fits into a chunk."""

    block: FileBlock
    start: int
    """Index of its first line in the file's lines."""
    lines: tuple[str, ...]
    """The text of its lines, or one part of a line that is too long for one piece."""
    rows: tuple[Row, ...] = ()
    """The rows of a table that it holds, or the one that it is a part of."""
    cells: range | None = None
    """Cells of the row that it is a part of."""

    @property
    def end(self) -> int:
        return self.start + len(self.lines)

    @cached_property
    def size(self) -> int:
        return sum(map(len, self.lines)) + len(self.lines)

    @property
    def table(self) -> tuple[int, int] | None:
        """Line and character at which its table begins; None if no columns have to be named."""
        head = self.rows[0].head if self.rows and not self.rows[-1].names else None
        return head.at if head else None

    @property
    def lacks_name(self) -> bool:
        """True for a part of a row that does not begin with the row's first cell."""
        if not self.cells or self.rows[0].names:
            return False
        begin = self.rows[0].of(range(self.cells.stop))
        return not begin.startswith("\n".join(self.lines))


def pieces_of(block: FileBlock, parsed: ParsedFile, target: int) -> list[Piece]:
    """Return the block as one piece, or its parts if it is larger than ``target`` characters."""
    whole = Piece(block, block.start, parsed.lines[block.start : block.end])
    if whole.size <= target:
        return [replace(whole, rows=rows_of(block, parsed))] if block.head != (0, 0) else [whole]
    if rows := rows_of(block, parsed):
        return list(_by_rows(block, rows, target))
    if block.parts:
        return [piece for part in block.parts for piece in pieces_of(part, parsed, target)]
    return list(_by_lines(whole, target))


def halves(pieces: Sequence[Piece], parsed: ParsedFile) -> list[list[Piece]]:
    """Divide pieces into two lists of about the same size; empty if that is impossible."""
    if len(pieces) == 1:
        (piece,) = pieces
        pieces = _smaller(piece, parsed) if piece.size > SHORTEST else pieces
    if len(pieces) == 1:
        return []
    middle = _middle([piece.size for piece in pieces])
    return [list(pieces[:middle]), list(pieces[middle:])]


def _smaller(piece: Piece, parsed: ParsedFile) -> list[Piece]:
    block = piece.block
    is_whole = piece.lines == parsed.lines[block.start : block.end]
    rows = piece.rows or (rows_of(block, parsed) if is_whole else ())
    if rows and (smaller := _smaller_table(piece, rows)):
        return smaller
    if is_whole and block.parts:
        return [own for part in block.parts for own in pieces_of(part, parsed, piece.size)]
    if len(piece.lines) > 1:
        middle = _middle([len(line) + 1 for line in piece.lines])
        return [
            replace(piece, lines=piece.lines[:middle]),
            replace(piece, start=piece.start + middle, lines=piece.lines[middle:]),
        ]
    line = piece.lines[0]
    return [replace(piece, lines=(part,)) for part in _segments(line, len(line) // 2 + 1)]


def _smaller_table(piece: Piece, rows: Sequence[Row]) -> list[Piece]:
    """Cut between rows, else between cells; empty if there is one cell."""
    block, bodies = piece.block, [row for row in rows if not row.names]
    if len(bodies) == 1 and not _is_long(rows[:-1]):  # each part of the row repeats the head
        rows = bodies
    elif not bodies:
        rows = [row for row in rows if row.has_words] or rows
    cuts = [i for i, row in enumerate(rows) if i and (not row.names or not bodies)]
    if cuts:
        middle = _middle([len(row.text) for row in rows])
        cut = min(cuts, key=lambda i: abs(i - middle))
        return [_of_rows(block, rows[:cut]), _of_rows(block, rows[cut:])]
    row = rows[-1]
    cells = piece.cells or range(len(row.cells))
    if len(cells) > 1:
        middle = cells.start + _middle([len(row.cells[i]) for i in cells])
        parts = range(cells.start, middle), range(middle, cells.stop)
        return [_of_cells(block, row, part) for part in parts]
    if len(cells) == 1 and not piece.cells:
        return list(_by_lines(_of_cells(block, row, cells), len(row.text) // 2 + 1))
    return []


def _is_long(head: Sequence[Row]) -> bool:
    """Return True if repeated names of columns are shortened."""
    return sum(len(" ".join(row.text.split())) for row in head if row.has_words) > LONGEST_HEAD


def _of_rows(block: FileBlock, rows: Sequence[Row]) -> Piece:
    text = "".join(row.text for row in rows).removesuffix("\n")
    return Piece(block, rows[0].at[0], tuple(text.split("\n")), tuple(rows))


def _of_cells(block: FileBlock, row: Row, cells: range) -> Piece:
    start = row.at[0]
    if not row.columns:
        start += sum(cell.count("\n") for cell in row.cells[: cells.start])
    lines = row.of(cells).removesuffix("\n").split("\n")
    return Piece(block, start, tuple(lines), (row,), cells)


def _by_rows(block: FileBlock, rows: Sequence[Row], target: int) -> Iterator[Piece]:
    """Yield even groups of rows of one table; a row that is too long is cut between its cells."""
    for head, of_table in groupby(rows, key=lambda row: row.head):
        table = list(of_table)
        repeated = len(head.repeated(None, None)) if head else 0
        room = max(target - repeated, target // 2)
        total = sum(len(row.text) for row in table)
        share = total / ceil(total / room) * 1.05
        group = [row for row in table if row.names]
        if _is_long(group):  # then each chunk names its own columns
            for row in filter(lambda row: row.has_words, group):
                yield from _by_cells(block, row, room)
            group = []
        bodies = [row for row in table if not row.names]
        size = sum(len(row.text) for row in group)
        for row in bodies:
            too_long = len(row.text) > LONGEST_LINE * target
            if (too_long or size + len(row.text) > share) and any(not own.names for own in group):
                yield _of_rows(block, group)
                group, size = [], 0
            if too_long:  # its parts repeat the head
                yield from _by_cells(block, row, room)
                group, size = [], 0
            else:
                group.append(row)
                size += len(row.text)
        if group:
            yield _of_rows(block, group)


def _by_cells(block: FileBlock, row: Row, room: int) -> Iterator[Piece]:
    """Yield groups of cells of one row; a cell that is too long is cut inside."""
    first, size = 0, 0
    for index, cell in enumerate(row.cells):
        too_long = len(cell) > LONGEST_LINE * room
        is_name = (first, index) == (0, 1) and row.has_short_name  # it needs no chunk of its own
        if (
            index > first
            and (too_long or size + len(cell) > room)
            and not (is_name and not too_long)
        ):
            if not is_name:
                yield _of_cells(block, row, range(first, index))
            first, size = index, 0
        if too_long:
            yield from _by_lines(_of_cells(block, row, range(index, index + 1)), room)
            first = index + 1
        else:
            size += len(cell)
    if first < len(row.cells):
        yield _of_cells(block, row, range(first, len(row.cells)))
    if not row.cells:
        yield from _by_lines(_of_rows(block, [row]), room)


def _middle(sizes: Sequence[int]) -> int:
    """Return how many of the sizes make up about half: at least one, but not all."""
    half, running = sum(sizes) / 2, 0
    for count, size in enumerate(sizes[:-1], 1):
        running += size
        if running >= half:
            return count
    return max(1, len(sizes) - 1)


def _by_lines(piece: Piece, target: int) -> Iterator[Piece]:
    """Yield even groups of lines; a line that is too long by itself is cut inside."""
    share = piece.size / ceil(piece.size / target) * 1.05
    first, size = 0, 0
    for index, line in enumerate(piece.lines):
        too_long = len(line) > LONGEST_LINE * target
        if index > first and (too_long or size + len(line) + 1 > share):
            yield replace(piece, start=piece.start + first, lines=piece.lines[first:index])
            first, size = index, 0
        if too_long:
            for segment in _segments(line, target):
                yield replace(piece, start=piece.start + index, lines=(segment,))
            first = index + 1
        else:
            size += len(line) + 1
    if first < len(piece.lines):
        yield replace(piece, start=piece.start + first, lines=piece.lines[first:])


def _segments(line: str, target: int) -> Iterator[str]:
    """Cut a line after a sentence, else between words, else anywhere."""
    line = _ENDLESS.sub(lambda word: f"{word[0][:target]}…", line)
    start = 0
    while len(line) - start > target:
        window = line[start : start + target]
        ends = (_last_break(pattern, window) for pattern in BREAKS)
        end = next((end for end in ends if end > target // 3), target)
        tag = window.rfind("<", target // 3, end)
        if tag > window.rfind(">", 0, end) and _TAG_BEGINS.match(window, tag):
            end = tag
        yield window[:end]
        start += end
    yield line[start:]


def _last_break(pattern: re.Pattern[str], window: str) -> int:
    return max((match.end() for match in pattern.finditer(window)), default=0)


def rendered(pieces: Sequence[Piece], parsed: ParsedFile, fits: Fits) -> tuple[str, str]:
    """Return the text to show of these pieces, and the text to search."""
    lines: list[str] = []
    searched: list[tuple[bool, str]] = []
    end, head = pieces[0].start, None
    for _, group in groupby(pieces, key=lambda piece: (id(piece.block), piece.table)):
        run = list(group)
        if run[0].start > end:
            lines.append("")
        table = run[0].table
        if table and table != head and not _shows_head(pieces, run[0]):
            columns = _columns([piece for piece in pieces if piece.table == table], fits)
            lines.append(columns)
            searched.append((False, columns))
        head = table
        body = _body(run)
        block = run[0].block
        is_table = block.kind == "table" and not block.parts
        shown = [line for line in body if line.strip(" >")] if is_table else body
        lines.append(_framed(shown, run, parsed))
        searched.extend(_searched(body, run[0], parsed))
        end = run[-1].end
    cleaned = (
        search_text(parsed.syntax, "code" if code else "prose", "\n".join(t for _, t in group))
        for code, group in groupby(searched, key=lambda item: item[0])
    )
    return "\n".join(lines).strip("\n"), "\n".join(filter(None, cleaned))


def _shows_head(pieces: Sequence[Piece], piece: Piece) -> bool:
    head = piece.rows[0].head
    if head and head.is_above:
        return pieces[0].start <= head.at[0]
    return any(row.names and row.head is head for each in pieces for row in each.rows)


def _columns(run: Sequence[Piece], fits: Fits) -> str:
    """Return the head of these rows, so short that it leaves half of the chunk to them."""
    row, cells, longest = run[0].rows[0], run[0].cells, LONGEST_HEAD
    if cells and all(piece.cells and piece.rows[0] is row for piece in run):
        cells = range(cells.start, max(piece.cells.stop for piece in run if piece.cells))
    else:
        cells = None
    while True:
        columns = row.head.repeated(row, cells, longest) if row.head else ""
        if longest <= SHORTEST or fits(f"{columns}\n{columns}"):
            return columns
        longest //= 2


def _body(run: Sequence[Piece]) -> list[str]:
    """Return the lines of one block's pieces; parts of a line are joined again."""
    body: list[str] = []
    end, row = run[0].start, None
    for piece in run:
        own = list(piece.lines)
        if piece.lacks_name and piece.rows[0] is not row:
            body.extend(piece.rows[0].named(own.pop(0)))
        elif body and piece.start < end and not (piece.cells and piece.rows[0].columns):
            body[-1] += own.pop(0)
        body.extend(own)
        end, row = piece.end, piece.rows[-1] if piece.rows else None
    return body


def _framed(body: Sequence[str], run: Sequence[Piece], parsed: ParsedFile) -> str:
    """Add the opening and closing line of a fence to pieces that lack them."""
    block = run[0].block
    header, footer = _frame(block, parsed) if block.kind == "code" else ((), ())
    before = header if run[0].start >= block.start + block.header else ()
    after = footer if run[-1].end <= block.end - block.footer else ()
    return "\n".join((*before, *body, *after))


def _frame(block: FileBlock, parsed: ParsedFile) -> tuple[Sequence[str], Sequence[str]]:
    header = parsed.lines[block.start : block.start + block.header]
    footer = parsed.lines[block.end - block.footer : block.end]
    worth_it = sum(map(len, header)) <= LONGEST_REPEAT
    return (header, footer) if worth_it else ((), ())


def _searched(body: list[str], piece: Piece, parsed: ParsedFile) -> Iterator[tuple[bool, str]]:
    """Yield texts, with True for code, which has no markup."""
    block = piece.block
    if block.parts and tuple(body) == parsed.lines[block.start : block.end]:
        for part in block.parts:
            lines = body[part.start - block.start : part.end - block.start]
            yield from _searched(lines, Piece(part, part.start, tuple(lines)), parsed)
    elif block.kind == "code":
        first = max(0, block.start + block.header - piece.start)
        last = min(len(body), block.end - block.footer - piece.start)
        yield True, "\n".join(body[first:last])
    else:
        yield False, "\n".join(body)
