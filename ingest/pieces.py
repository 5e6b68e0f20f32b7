"""Pieces of a document: blocks, and parts of blocks that are too large for one chunk."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil

from ingest.readers.cleaning import search_text
from ingest.readers.reading import Block, Reading

LONGEST_LINE = 1.5
"""A line of more than so many targets is cut inside."""
LONGEST_REPEAT = 200
"""Characters of a fence's opening or a table's head that are worth repeating."""
SHORTEST = 40
"""Characters below which nothing is cut any more."""
BREAKS = (re.compile(r"[.!?]\s+|[。！？]"), re.compile(r"\s+"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A block, or as much of one as goes into a chunk."""

    block: Block
    start: int
    """Index, in the reading, of the first of its lines."""
    lines: tuple[str, ...]
    """As read; a line that was cut inside is the only one."""

    @property
    def end(self) -> int:
        return self.start + len(self.lines)

    @property
    def size(self) -> int:
        return sum(map(len, self.lines)) + len(self.lines)


def pieces_of(block: Block, reading: Reading, target: int) -> list[Piece]:
    """The whole block, or its parts if it is larger than the target."""
    whole = Piece(block, block.start, reading.lines[block.start : block.end])
    if whole.size <= target:
        return [whole]
    if block.parts:
        return [piece for part in block.parts for piece in pieces_of(part, reading, target)]
    return list(_by_lines(whole, target))


def halves(pieces: Sequence[Piece], reading: Reading) -> Iterator[list[Piece]]:
    """Two lists of about the same size; the same list again if it cannot be divided."""
    if len(pieces) > 1:
        middle = _middle([piece.size for piece in pieces])
        yield list(pieces[:middle])
        yield list(pieces[middle:])
        return
    (piece,) = pieces
    if piece.size <= SHORTEST:
        yield list(pieces)
        return
    smaller = _smaller(piece, reading)
    if len(smaller) == 1:
        yield smaller
        return
    middle = _middle([part.size for part in smaller])
    yield smaller[:middle]
    yield smaller[middle:]


def _smaller(piece: Piece, reading: Reading) -> list[Piece]:
    block = piece.block
    if block.parts and piece.end - piece.start == block.end - block.start:
        return [
            Piece(part, part.start, reading.lines[part.start : part.end]) for part in block.parts
        ]
    if len(piece.lines) > 1:
        middle = _middle([len(line) + 1 for line in piece.lines])
        return [
            Piece(block, piece.start, piece.lines[:middle]),
            Piece(block, piece.start + middle, piece.lines[middle:]),
        ]
    line = piece.lines[0]
    return [Piece(block, piece.start, (part,)) for part in _segments(line, len(line) // 2 + 1)]


def _middle(sizes: Sequence[int]) -> int:
    """How many of them make up about half, at least one and not all."""
    half, running = sum(sizes) / 2, 0
    for count, size in enumerate(sizes[:-1], 1):
        running += size
        if running >= half:
            return count
    return max(1, len(sizes) - 1)


def _by_lines(piece: Piece, target: int) -> Iterator[Piece]:
    """Even groups of lines; a line that is too long by itself is cut inside."""
    share = piece.size / ceil(piece.size / target) * 1.05
    first, size = 0, 0
    for index, line in enumerate(piece.lines):
        too_long = len(line) > LONGEST_LINE * target
        if index > first and (too_long or size + len(line) + 1 > share):
            yield Piece(piece.block, piece.start + first, piece.lines[first:index])
            first, size = index, 0
        if too_long:
            for segment in _segments(line, target):
                yield Piece(piece.block, piece.start + index, (segment,))
            first = index + 1
        else:
            size += len(line) + 1
    if first < len(piece.lines):
        yield Piece(piece.block, piece.start + first, piece.lines[first:])


def _segments(line: str, target: int) -> Iterator[str]:
    """Cut a line after a sentence, else between words, else anywhere."""
    start = 0
    while len(line) - start > target:
        window = line[start : start + target]
        ends = (_last_break(pattern, window) for pattern in BREAKS)
        end = next((end for end in ends if end > target // 3), target)
        yield window[:end]
        start += end
    yield line[start:]


def _last_break(pattern: re.Pattern[str], window: str) -> int:
    return max((match.end() for match in pattern.finditer(window)), default=0)


def rendered(pieces: Sequence[Piece], reading: Reading) -> tuple[str, str]:
    """The text that is shown of these pieces, and the text that is searched."""
    runs = [list(run) for _, run in groupby(pieces, key=lambda piece: id(piece.block))]
    shown: list[str] = []
    searched: list[tuple[bool, str]] = []
    end = pieces[0].start
    for run in runs:
        text, search = _run(run, reading)
        if shown and run[0].start > end:
            shown.append("")
        shown.append(text)
        searched.append((run[0].block.kind == "code", search))
        end = run[-1].end
    cleaned = (
        search_text(reading.syntax, "code" if code else "prose", "\n".join(t for _, t in group))
        for code, group in groupby(searched, key=lambda item: item[0])
    )
    return "\n".join(shown).strip("\n"), "\n".join(filter(None, cleaned))


def _run(run: Sequence[Piece], reading: Reading) -> tuple[str, str]:
    """One block's pieces: with its header and footer where it was cut, without them for search."""
    block = run[0].block
    body: list[str] = []
    end = run[0].start
    for piece in run:
        if piece.start < end and body:
            body[-1] += piece.lines[0]
            body.extend(piece.lines[1:])
        else:
            body.extend(piece.lines)
        end = piece.end
    text = "\n".join(body)
    header, footer = _frame(block, reading)
    first, last = block.start + len(header), block.end - len(footer)
    if header and run[0].start >= first:
        text = "\n".join((*header, text))
    if footer and end <= last:
        text = "\n".join((text, *footer))
    if block.kind == "table":
        return text, text
    inner = body[max(0, first - run[0].start) :]
    return text, "\n".join(inner[: len(inner) - max(0, end - last)])


def _frame(block: Block, reading: Reading) -> tuple[tuple[str, ...], tuple[str, ...]]:
    header = reading.lines[block.start : block.start + block.header]
    footer = reading.lines[block.end - block.footer : block.end] if block.footer else ()
    if sum(map(len, header)) > LONGEST_REPEAT:
        return (), ()
    return header, footer
