"""Pieces of a document: blocks, and parts of blocks that are too large for one chunk."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import ceil

from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.readers.search_text import search_text

LONGEST_LINE = 1.5
"""A line that is longer than the target multiplied by this is cut inside."""
LONGEST_REPEAT = 300
"""Maximum number of characters of a fence's opening or a table's head that is repeated."""
SHORTEST = 40
"""A piece of at most this many characters is never cut."""
LONGEST_WORD = 4_000
"""Of a word with more characters, such as a file in base64, only the beginning is indexed."""
DASHES = re.compile(r"-{4,}")
BREAKS = (re.compile(r"[.!?]\s+|[。！？]"), re.compile(r"\s+"))
_ENDLESS = re.compile(rf"[\w+/=%-]{{{LONGEST_WORD + 1},}}")


@dataclass(frozen=True)
class Piece:
    """A block, or a part of one that fits into a chunk."""

    block: FileBlock
    start: int
    """Index of its first line in the file's lines."""
    lines: tuple[str, ...]
    """The text of its lines, or one part of a line that is too long for one piece."""

    @property
    def end(self) -> int:
        return self.start + len(self.lines)

    @cached_property
    def size(self) -> int:
        return sum(map(len, self.lines)) + len(self.lines)


def pieces_of(block: FileBlock, parsed: ParsedFile, target: int) -> list[Piece]:
    """Return the block as one piece, or its parts if it is larger than ``target`` characters."""
    whole = Piece(block, block.start, parsed.lines[block.start : block.end])
    if whole.size <= target:
        return [whole]
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
    if block.parts and piece.end - piece.start == block.end - block.start:
        return [
            Piece(part, part.start, parsed.lines[part.start : part.end]) for part in block.parts
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
    line = _ENDLESS.sub(lambda word: f"{word[0][:target]}…", line)
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


def rendered(pieces: Sequence[Piece], parsed: ParsedFile) -> tuple[str, str]:
    """Return the text to show of these pieces, and the text to search."""
    lines: list[str] = []
    searched: list[tuple[bool, str]] = []
    end, head = pieces[0].start, (0, 0)
    for _, group in groupby(pieces, key=lambda piece: id(piece.block)):
        run = list(group)
        if run[0].start > end:
            lines.append("")
        if head != run[0].block.head != (0, 0) and pieces[0].start > run[0].block.head[0]:
            columns = "\n".join(parsed.lines[slice(*run[0].block.head)])
            if len(columns) <= LONGEST_REPEAT:
                lines.append(columns)
                searched.append((False, columns))
        head = run[0].block.head
        body = _body(run)
        lines.append(_framed(body, run, parsed))
        searched.extend(_searched(body, run[0], parsed))
        end = run[-1].end
    cleaned = (
        search_text(parsed.syntax, "code" if code else "prose", "\n".join(t for _, t in group))
        for code, group in groupby(searched, key=lambda item: item[0])
    )
    return "\n".join(lines).strip("\n"), "\n".join(filter(None, cleaned))


def _body(run: Sequence[Piece]) -> list[str]:
    """Return the lines of one block's pieces; parts of a line are joined again."""
    body: list[str] = []
    end = run[0].start
    for piece in run:
        if body and piece.start < end:
            body[-1] += piece.lines[0]
            body.extend(piece.lines[1:])
        else:
            body.extend(piece.lines)
        end = piece.end
    return body


def _framed(body: Sequence[str], run: Sequence[Piece], parsed: ParsedFile) -> str:
    """Add the header and footer of a block to pieces that lack them."""
    block = run[0].block
    header, footer = _frame(block, parsed)
    before = header if run[0].start >= block.start + block.header else ()
    after = footer if run[-1].end <= block.end - block.footer else ()
    return "\n".join((*before, *body, *after))


def _frame(block: FileBlock, parsed: ParsedFile) -> tuple[Sequence[str], Sequence[str]]:
    header = parsed.lines[block.start : block.start + block.header]
    if block.kind == "table" and parsed.syntax == "markdown":  # often padded to be aligned
        header = tuple(DASHES.sub("---", " ".join(line.split())) for line in header)
    footer = parsed.lines[block.end - block.footer : block.end]
    worth_it = sum(map(len, header)) <= LONGEST_REPEAT
    return (header, footer) if worth_it else ((), ())


def _searched(body: list[str], piece: Piece, parsed: ParsedFile) -> Iterator[tuple[bool, str]]:
    """Yield texts, with True for code, which has no markup."""
    block = piece.block
    if block.parts and len(body) == block.end - block.start:
        for part in block.parts:
            lines = body[part.start - block.start : part.end - block.start]
            yield from _searched(lines, Piece(part, part.start, tuple(lines)), parsed)
    elif block.kind == "code":
        first = max(0, block.start + block.header - piece.start)
        last = min(len(body), block.end - block.footer - piece.start)
        yield True, "\n".join(body[first:last])
    elif block.kind == "table" and piece.start >= block.start + block.header:
        yield False, "\n".join((*_frame(block, parsed)[0], *body))
    else:
        yield False, "\n".join(body)
