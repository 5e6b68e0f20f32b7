"""Plain text or code -> paragraphs, which are separated by blank lines; it has no markup."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.readers.parsed_file import FileBlock, ParsedFile


def read_text(lines: Sequence[str]) -> ParsedFile:
    """Read a text file."""
    return ParsedFile("plain", tuple(lines), tuple(paragraphs(lines)))


def read_code(lines: Sequence[str]) -> ParsedFile:
    """Read a file that a page shows as code: a block up to each gap in it."""
    blocks = [replace(block, kind="code") for block in paragraphs(lines)]
    return ParsedFile("plain", tuple(lines), tuple(blocks))


def paragraphs(lines: Sequence[str]) -> list[FileBlock]:
    """Return the groups of lines between blank lines."""
    blocks: list[FileBlock] = []
    start: int | None = None
    for index, line in enumerate(lines):
        if line.strip():
            start = index if start is None else start
        elif start is not None:
            blocks.append(FileBlock("prose", start, index))
            start = None
    if start is not None:
        blocks.append(FileBlock("prose", start, len(lines)))
    return blocks
