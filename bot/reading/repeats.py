"""What an app says twice in one message: its text and its blocks, or one block after the other."""

import re
from collections.abc import Iterable, Iterator

_MARKS = re.compile(r"[*_~`]+|(?<!\S)[-+•·●◦▪]+(?!\S)")
"""Signs that style a line or begin an item: an app writes them in one place and not in another."""
_WORD = re.compile(r"\w+")
_COVERED = 0.7


def covers(shown: str, text: str) -> bool:
    """Whether blocks say what the text says; Slack shows the text only where there are none."""
    words = set(_WORD.findall(text.lower()))
    return bool(words) and len(words & set(_WORD.findall(shown.lower()))) >= _COVERED * len(words)


def without_repeats(parts: Iterable[str]) -> Iterator[str]:
    """The parts, without one that says the same as the part before it, however it is styled."""
    before = None
    for part in parts:
        words = " ".join(_MARKS.sub("", part).split())
        if words != before:
            yield part
        before = words
