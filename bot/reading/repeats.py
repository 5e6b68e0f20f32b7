"""Repeats within a message: its text and its blocks, or one part after the other."""

import re
from collections.abc import Iterable, Iterator

_MARKS = re.compile(r"[*_~`]+|(?<!\S)[-+•·●◦▪]+(?!\S)")
"""Signs that style a line or begin an item: an app writes them in one place and not in another."""
_WORD = re.compile(r"\w+")
_COVERED = 0.7


def covers(blocks: str, text: str) -> bool:
    """Return True if the blocks repeat the text, which Slack shows only without blocks."""
    words = set(_WORD.findall(text.lower()))
    return bool(words) and len(words & set(_WORD.findall(blocks.lower()))) >= _COVERED * len(words)


def without_repeats(parts: Iterable[str]) -> Iterator[str]:
    """The parts, except those that repeat the part before them, perhaps in another style."""
    before = None
    for part in parts:
        words = " ".join(_MARKS.sub("", part).split())
        if words != before:
            yield part
        before = words
