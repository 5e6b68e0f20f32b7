"""Lines of a code block in an answer -> the lines that end where the docs go on.

A shell runs what stands before a line break. So a line break of an answer is a blank of the docs
only where the code goes on by itself: within brackets or quotes, after a pipe, a comma or the like.
"""

import re
from collections.abc import Callable, Iterable, Iterator

_GOES_ON = re.compile(r".*(?:[|&;,]|(?<!\S)(?:do|then|else))", re.DOTALL)
_SIGNS = re.compile(r"\\.|[\"'()\[\]{}]")


def torn_lines(
    lines: Iterable[tuple[int, str]], is_torn: Callable[[str, str], bool]
) -> Iterator[tuple[int, str]]:
    """The numbers of lines that end within a documented line, with the word that follows there."""
    depth, quote = 0, ""
    number, code = 0, ""
    for following, line in lines:
        is_closed = code and not depth and not quote and not _joins(code, line)
        if is_closed and is_torn(code, line):
            yield number, line.split()[0]
        code = line if is_closed or not code else f"{code} {line}"
        number = following
        depth, quote = (0, "") if code is line else (depth, quote)
        depth, quote = _open(line, depth, quote)


def _joins(code: str, line: str) -> bool:
    """Return True if a line break between the two is a blank in any language."""
    is_key = code.endswith(":") and not line.startswith("-")
    return is_key or line.startswith("|") or _GOES_ON.fullmatch(code) is not None


def _open(line: str, depth: int, quote: str) -> tuple[int, str]:
    """The number of brackets and the quotation mark that are still open after a line."""
    for sign in _SIGNS.finditer(line):
        mark = sign.group()
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "\"'":
            # An apostrophe within a word opens nothing.
            quote = "" if line[max(0, sign.start() - 1) : sign.start()].isalnum() else mark
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(0, depth - 1)
    return depth, quote


def ends_with_semicolon(line: str) -> bool:
    """Return True if a semicolon ends the code, not the line, as in SQL."""
    code, mark, after = line.strip("`. ").partition(";")
    return bool(mark) and not after and not re.search(r"(?<!\S)-", code)
