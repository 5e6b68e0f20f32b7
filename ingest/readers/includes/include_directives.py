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
    syntaxes = SYNTAXES.get(parsed.syntax, ())
    text = "\n".join(lines)
    if not syntaxes or not any(mark in text for mark in MARKS):
        return ()
    page = PageLines(lines, _shown(lines, parsed), _code_lines(parsed.blocks, lines, parsed))
    includes = [each for syntax in syntaxes for each in syntax(page)]
    includes = [each for each in includes if 0 < len(each.target) <= LONGEST_TARGET]
    includes.sort(key=lambda each: each.line)
    return tuple(_under_headings(includes[:MOST_INCLUDES], parsed))


def _shown(lines: Sequence[str], parsed: ParsedFile) -> list[str]:
    """Return what is shown of each line; all lines of an HTML table count as shown."""
    shown = [""] * len(lines)
    for index, line in enumerate(parsed.lines):
        shown[parsed.number(index) - 1] += line
    for block in parsed.blocks if parsed.numbers else ():
        if block.kind == "table":
            rows = slice(parsed.number(block.start) - 1, parsed.number(block.end - 1))
            shown[rows] = lines[rows]
    return shown


def _code_lines(
    blocks: Iterable[FileBlock],
    lines: Sequence[str],
    parsed: ParsedFile,
    code: dict[int, int] | None = None,
) -> dict[int, int]:
    """Index of each line in code -> index of the first line of that code."""
    code = {} if code is None else code
    for block in blocks:
        _code_lines(block.parts, lines, parsed, code)
        first = parsed.number(block.start) - 1
        if block.kind == "code" and not DIRECTIVE.match(lines[first]):
            code.update(dict.fromkeys(range(first, parsed.number(block.end - 1)), first))
    return code


def _under_headings(includes: Sequence[Include], parsed: ParsedFile) -> Iterator[Include]:
    path: list[FileBlock] = []
    headings = iter([b for b in parsed.blocks if b.kind == "heading"])
    following = next(headings, None)
    for include in includes:
        while following is not None and parsed.number(following.start) < include.line:
            while path and path[-1].level >= following.level:
                path.pop()
            path.append(following)
            following = next(headings, None)
        yield replace(include, heading=tuple(block.label for block in path if block.label))
