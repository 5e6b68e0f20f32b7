"""Plain text: paragraphs are what stands between blank lines; nothing in it is markup."""

from collections.abc import Sequence

from ingest.readers.parsed_file import Block, ParsedFile


def read_text(lines: Sequence[str]) -> ParsedFile:
    """Read a text file."""
    return ParsedFile("plain", tuple(lines), tuple(paragraphs(lines)))


def paragraphs(lines: Sequence[str]) -> list[Block]:
    """Runs of lines without a blank one between them."""
    blocks: list[Block] = []
    start: int | None = None
    for index, line in enumerate(lines):
        if line.strip():
            start = index if start is None else start
        elif start is not None:
            blocks.append(Block("prose", start, index))
            start = None
    if start is not None:
        blocks.append(Block("prose", start, len(lines)))
    return blocks
