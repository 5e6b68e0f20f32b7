"""Characters that nobody sees, as named sets, and texts without them.

All packages may import this module, so it is at the bottom of the import layers. The sets come from
the categories of Unicode. Each caller joins those that are dangerous or useless in its texts.
"""

import re
from collections.abc import Iterable
from unicodedata import bidirectional, category

_RANGES = (
    range(0x3000),
    range(0xFE00, 0x10000),
    range(0x1BCA0, 0x1BCA4),
    range(0x1D173, 0x1D17B),
)
"""Code points that can be invisible, except for tags; the last two are shorthand and music."""


def _in_category(name: str) -> frozenset[str]:
    chars = (chr(code) for codes in _RANGES for code in codes)
    return frozenset(char for char in chars if category(char) == name)


_FORMAT = _in_category("Cf")

LINE_CONTROLS = frozenset("\t\n")
"""Controls that text needs."""
ASCII_CONTROLS = frozenset(map(chr, (*range(0x20), 0x7F))) - LINE_CONTROLS
LATIN_CONTROLS = frozenset(map(chr, range(0x80, 0xA0)))
"""The second block of control characters (C1), which terminals obey too."""
BIDI_CONTROLS = frozenset(char for char in _FORMAT if bidirectional(char)[:2] in {"LR", "RL", "PD"})
BIDI_CONTROLS |= frozenset(char for char in _FORMAT if bidirectional(char) == "FSI")
"""Embeddings, overrides and isolates: they show text in another order than it has."""
DIRECTION_MARKS = frozenset("\u061c\u200e\u200f")
JOINERS = frozenset("\u200c\u200d")
"""Needed in emoji and in Arabic, Persian and Indic words."""
ZERO_WIDTH = frozenset(char for char in _FORMAT if bidirectional(char) == "BN") - JOINERS
"""Spaces and hyphens without width, byte order mark, and formats that Unicode has retired."""
FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u3164\uffa0")
"""Letters and marks without a glyph, and a code point that Unicode keeps invisible."""
ANNOTATIONS = frozenset("\ufff9\ufffa\ufffb")
VARIATIONS = frozenset(map(chr, range(0xFE00, 0xFE0E)))
"""Selectors of glyphs, without the two that choose between text and emoji."""
TAGS = frozenset(map(chr, range(0xE0000, 0xE1000)))
"""A hidden copy of ASCII, and room for more: a whole instruction can be written with them."""
HALVES = frozenset(map(chr, range(0xD800, 0xE000)))
"""Halves of surrogate pairs, which no encoding can write."""


def char_class(*sets: Iterable[str]) -> str:
    """Return a character class of a regular expression that matches any of these characters."""
    codes = sorted({ord(char) for chars in sets for char in chars})
    spans: list[list[int]] = []
    for code in codes:
        if spans and code == spans[-1][1] + 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "[" + "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in spans) + "]"


HIDDEN = re.compile(
    char_class(
        ASCII_CONTROLS,
        LATIN_CONTROLS - {"\x85"},  # it ends a line
        BIDI_CONTROLS,
        DIRECTION_MARKS,
        ZERO_WIDTH,
        FILLERS,
        ANNOTATIONS,
        VARIATIONS,
        TAGS,
    )
    # In these scripts and in emoji, joiners are visible, and a selector chooses the emoji.
    + "|(?<![\u00a9\u00ae\u0600-\u08ff\u0900-\u0dff\u200c\u200d\u203c-\u33ff\ufe0e\ufe0f"
    + "\U0001f000-\U0001faff])(?:"
    + char_class(JOINERS)
    + "|[\ufe0e\ufe0f](?!\u20e3))+"
)
"""Characters that a text of the docs is read without."""


def without_hidden(text: str) -> str:
    """Return the text without zero-width, bidirectional, tag and control characters."""
    return HIDDEN.sub("", text)


def visible_line(text: str) -> str:
    """Return the visible characters of a name, on one line: what any room may show as it is."""
    return " ".join(without_hidden(text).split())
