"""Plain text or code -> paragraphs, which are separated by blank lines; it has no markup."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.readers.parsed_file import FileBlock, ParsedFile, UnreadableDocument

PACKAGE = re.compile(r"[A-Za-z0-9][\w.-]*+(?:\[[^\[\]]*+\])?+\s*+(?:[=<>~!]=|[<>]|@\s)\s*+\S")
OPTION = re.compile(r"--?[a-z][\w-]*+(?:[ =]|$)")
UNPINNED = re.compile(r"[A-Za-z0-9][\w.-]*+$")
SENTENCE = re.compile(r"#(?:\s++\S++){6}")
"""A comment of several words."""


def read_text(lines: Sequence[str]) -> ParsedFile:
    """Read a text file. Raises UnreadableDocument for a list of packages."""
    if _is_list_of_packages(lines):
        raise UnreadableDocument("empty: a list of packages and their versions, without text")
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


def _is_list_of_packages(lines: Sequence[str]) -> bool:
    """Return True if each line is a package with its version, an option or a short comment."""
    packages = others = 0
    for line in map(str.strip, lines):
        if PACKAGE.match(line):
            packages += 1
        elif SENTENCE.match(line) or UNPINNED.match(line):
            others += 1
        elif line and not line.startswith("#") and not OPTION.match(line):
            return False
    return packages > others
