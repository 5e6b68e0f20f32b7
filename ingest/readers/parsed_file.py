"""The output of a reader: the lines of a file that are shown, and the blocks that they form.

Each shown line keeps its number in the file as stored. So a citation opens the right lines even if
the shown text differs from the source, as in HTML and notebooks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ingest.errors import IngestError

BlockKind = Literal["heading", "prose", "table", "code"]
Syntax = Literal["markdown", "rst", "asciidoc", "wiki", "plain"]


class UnreadableDocument(IngestError):
    """A file that cannot be indexed. ``reason`` begins with a keyword such as ``empty``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class FileBlock:
    """Lines that belong together: ``lines[start:end]`` of the file."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Depth of a heading, from 1; 0 for everything else."""
    label: str = ""
    """Words of a heading, without markup."""
    parts: tuple["FileBlock", ...] = ()
    """Smaller blocks inside: a block that is too large is cut between them."""
    header: int = 0
    """Number of first lines that every piece repeats: a fence's opening, a table's head."""
    footer: int = 0
    """Number of last lines that every piece repeats: a fence's closing."""
    head: tuple[int, int] = (0, 0)
    """Start and end of the lines that name this block's columns; a chunk without them repeats them.
    """


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """Text of a file in reading order."""

    syntax: Syntax
    lines: tuple[str, ...]
    blocks: tuple[FileBlock, ...]
    numbers: tuple[int, ...] = ()
    """Line numbers in the file as stored; empty if they are 1, 2, 3 and so on."""
    title: str = ""
    """Title from the format itself, such as HTML's ``<title>``."""
    masked_lines: tuple[int, ...] = ()
    """The line of each credential that the reader has masked, in a format that hides its text."""

    def number(self, index: int) -> int:
        """Return the number of ``lines[index]`` in the file as stored."""
        return self.numbers[index] if self.numbers else index + 1


def moved(block: FileBlock, by: int) -> FileBlock:
    """Return the block ``by`` lines further down."""
    parts = tuple(moved(part, by) for part in block.parts)
    head = (block.head[0] + by, block.head[1] + by) if block.head != (0, 0) else (0, 0)
    return replace(block, start=block.start + by, end=block.end + by, parts=parts, head=head)


def with_head(parsed: ParsedFile, head: Sequence[tuple[int, str]]) -> ParsedFile:
    """Put lines of front matter, with their indexes in the file, before the first block.

    Where the first block is a heading they are part of it, so that they are no section of their
    own.
    """
    if not head:
        return parsed
    first = parsed.blocks[0].start if parsed.blocks else len(parsed.lines)
    by = len(head) + 1 - first
    blocks = [moved(block, by) for block in parsed.blocks]
    if blocks and blocks[0].kind == "heading":
        blocks[0] = replace(blocks[0], start=0)
    else:
        blocks.insert(0, FileBlock("prose", 0, len(head)))
    numbers = [index + 1 for index, _ in head]
    return replace(
        parsed,
        lines=(*(line for _, line in head), "", *parsed.lines[first:]),
        blocks=tuple(blocks),
        numbers=(*numbers, numbers[-1], *map(parsed.number, range(first, len(parsed.lines)))),
    )


def covering(
    blocks: Sequence[FileBlock], lines: Sequence[str], start: int, end: int
) -> list[FileBlock]:
    """Extend blocks over all lines between them that have text, so that no line is lost."""
    covered: list[FileBlock] = []
    position = start
    for block in blocks:
        if block.end <= position:
            continue
        first = next((i for i in range(position, block.start) if lines[i].strip()), block.start)
        if first < block.start and covered and block.kind == "heading":
            covered[-1] = replace(covered[-1], end=block.start)
            first = block.start
        start = max(first, position)
        covered.append(block if start == block.start else replace(block, start=start))
        position = block.end
    if covered and any(line.strip() for line in lines[position:end]):
        covered[-1] = replace(covered[-1], end=end)
    return [_trimmed(block, lines) for block in covered]


def _trimmed(block: FileBlock, lines: Sequence[str]) -> FileBlock:
    end = block.end
    while end > block.start + 1 and not lines[end - 1].strip():
        end -= 1
    return block if end == block.end else replace(block, end=end)
