"""What a reader makes of a file: the lines that are shown, and the blocks they form.

A line keeps the number it has in the file as stored, whatever was taken out around it, so that a
citation opens the right place even where the shown text is not the source itself (HTML, notebooks).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ingest.errors import IngestError

BlockKind = Literal["heading", "prose", "table", "code"]
Syntax = Literal["markdown", "rst", "plain"]


class UnreadableDocument(IngestError):
    """A file that cannot be indexed; ``reason`` begins with its kind, such as ``empty``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of lines that belongs together: ``lines[start:end]`` of its reading."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Depth of a heading, from 1; 0 for everything else."""
    label: str = ""
    """A heading's words as a reader sees them."""
    parts: tuple["Block", ...] = ()
    """Smaller blocks it consists of: where it is cut when it is too large."""
    header: int = 0
    """First lines that every piece of it repeats: a fence's opening, a table's head."""
    footer: int = 0
    """Last lines that every piece of it repeats: a fence's closing."""
    head: tuple[int, int] = (0, 0)
    """Lines above it that are repeated where it stands without them: its columns' names."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The text of a file in the order it is read."""

    syntax: Syntax
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    numbers: tuple[int, ...] = ()
    """Line numbers in the file; empty when they are simply 1, 2, 3."""
    title: str = ""
    """What the format itself calls the page."""
    masked: int = 0
    """Credentials that the reader replaced by a mark, where only it can see the text."""

    def number(self, index: int) -> int:
        """The number, in the file as stored, of ``lines[index]``."""
        return self.numbers[index] if self.numbers else index + 1


def covering(blocks: Sequence[Block], lines: Sequence[str], start: int, end: int) -> list[Block]:
    """Stretch blocks over every line between them that has text, so that none is lost."""
    covered: list[Block] = []
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


def _trimmed(block: Block, lines: Sequence[str]) -> Block:
    end = block.end
    while end > block.start + 1 and not lines[end - 1].strip():
        end -= 1
    return block if end == block.end else replace(block, end=end)
