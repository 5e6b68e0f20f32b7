"""Texts that are too long -> texts of at most a given number of characters.

All packages may import this module, so it is at the bottom of the import layers. No function cuts
between a letter and its accent, inside a joined emoji, or between the halves of a surrogate pair.
"""

import re
from unicodedata import category

_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_HIGH_HALVES, _LOW_HALVES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
_LONGEST_CLUSTER = 32
"""Maximum number of places that are tried for a cut; a longer pile of accents is cut anywhere."""


def shorten_end(text: str, limit: int) -> str:
    """Return the text, or its beginning and ``…``: at most ``limit`` characters."""
    if len(text) <= limit:
        return text
    if limit < 1:
        return ""
    return text[: _boundary(text, limit - 1, -1)].rstrip() + "…"


def shorten_middle(
    text: str, limit: int, *, tail: float = 1 / 3, whole: re.Pattern[str] | None = None
) -> str:
    """Return the text, or its beginning and end: at most ``limit`` characters.

    A line between them says how many characters are left out. ``tail`` is the share of the result,
    from 0 to 1, that comes from the end. No match of ``whole`` is cut in two. If there is no room
    for the line, only the beginning is returned.
    """
    if len(text) <= limit:
        return text
    room = limit - len(_omission(len(text)))
    if room < 2:
        return shorten_end(text, limit)
    in_tail = int(room * tail)
    head_end = _boundary(text, room - in_tail, -1)
    tail_start = _boundary(text, len(text) - in_tail, +1)
    for match in whole.finditer(text) if whole else ():
        if match.start() < head_end < match.end():
            head_end = match.start()
        if match.start() < tail_start < match.end():
            tail_start = match.end()
    return text[:head_end] + _omission(tail_start - head_end) + text[tail_start:]


def _omission(count: int) -> str:
    return f"\n[… {count:,} characters left out …]\n"


def _boundary(text: str, at: int, step: int) -> int:
    """Move a cut to the next place between two visible characters."""
    cut = at
    for _ in range(_LONGEST_CLUSTER):
        if not 0 < cut < len(text) or not _belong_together(text[cut - 1], text[cut]):
            return cut
        cut += step
    return at


def _belong_together(before: str, after: str) -> bool:
    return (
        category(after).startswith("M")
        or _JOINER in (before, after)
        or ord(after) in _SKIN_TONES
        or (ord(before) in _HIGH_HALVES and ord(after) in _LOW_HALVES)
    )
