"""Lines of a page -> the files that it includes, with the part that it shows of each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ingest.readers.includes.include_syntaxes import SYNTAXES, PageLines
from ingest.readers.includes.shown_part import Include
from ingest.readers.parsed_file import FileBlock, ParsedFile

MOST_INCLUDES = 2_000
"""Maximum number of directives that are read of one page."""
LONGEST_TARGET = 1_000

MARKS = ("include", ":file:", "8<", "{!", "{{", "![[", "import ")
"""Every directive has one of them."""
DIRECTIVE = re.compile(r"^\s*+(?:`{3,}+|~{3,}+)\{(?!code)")
"""A fence of MyST that holds text, or that includes."""


def includes_of(lines: Sequence[str], parsed: ParsedFile) -> tuple[Include, ...]:
    """Return the directives of a page. ``lines``: its text with front matter blanked."""
    if parsed.numbers or len(parsed.lines) != len(lines):
        return ()  # HTML and notebooks: what is shown is not what is written
    syntaxes = SYNTAXES.get(parsed.syntax, ())
    text = "\n".join(lines)
    if not any(mark in text for mark in MARKS):
        return ()
    page = PageLines(lines, parsed.lines, _code_lines(parsed.blocks, lines))
    found = [each for syntax in syntaxes for each in syntax(page)]
    found = [each for each in found if 0 < len(each.target) <= LONGEST_TARGET]
    found.sort(key=lambda each: each.line)
    return tuple(_under_headings(found[:MOST_INCLUDES], parsed))


def _code_lines(
    blocks: Iterable[FileBlock], lines: Sequence[str], code: dict[int, int] | None = None
) -> dict[int, int]:
    """Index of each line in code -> index of the first line of that code."""
    code = {} if code is None else code
    for block in blocks:
        _code_lines(block.parts, lines, code)
        if block.kind == "code" and not DIRECTIVE.match(lines[block.start]):
            code.update(dict.fromkeys(range(block.start, block.end), block.start))
    return code


def _under_headings(found: Sequence[Include], parsed: ParsedFile) -> Iterator[Include]:
    path: list[FileBlock] = []
    headings = iter([b for b in parsed.blocks if b.kind == "heading"])
    following = next(headings, None)
    for include in found:
        while following is not None and following.start < include.line - 1:
            while path and path[-1].level >= following.level:
                path.pop()
            path.append(following)
            following = next(headings, None)
        yield replace(include, heading=tuple(block.label for block in path if block.label))
