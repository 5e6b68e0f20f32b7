"""Tables whose cells are padded to one width -> the same rows without the blanks.

Formatters pad each cell to the longest one of its column. The blanks would fill chunks and answers.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ingest.readers.parsed_file import FileBlock, ParsedFile

_BEFORE_BAR = re.compile(r"(?<![ \t])[ \t]{2,}+(?=\|)")
_AFTER_BAR = re.compile(r"(?<=\|)[ \t]{2,}+(?=\S)")
_RULE = frozenset("-:+| \t")
"""Characters of a line between the head and the rows."""
_DASHES = re.compile(r"-{4,}+")
_DRAWN = re.compile(r"[ \t>]*\+[-=]")
"""The first line of a table whose columns are places in its lines."""


def without_padding(parsed: ParsedFile) -> ParsedFile:
    """Return the file with narrow tables; each line keeps its place."""
    if parsed.syntax not in ("markdown", "wiki"):
        return parsed
    lines = list(parsed.lines)
    for table in _tables(parsed.blocks):
        if not _DRAWN.match(lines[table.start]):
            lines[table.start : table.end] = map(_narrow, lines[table.start : table.end])
    return replace(parsed, lines=tuple(lines))


def _tables(blocks: Iterable[FileBlock]) -> Iterator[FileBlock]:
    for block in blocks:
        if block.kind == "table":
            yield block
        elif block.kind != "code":
            yield from _tables(block.parts)


def _narrow(line: str) -> str:
    line = _AFTER_BAR.sub(" ", _BEFORE_BAR.sub(" ", line))
    return _DASHES.sub("---", line) if _RULE.issuperset(line.lstrip("> \t")) else line
