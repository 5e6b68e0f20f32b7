"""Web addresses in text: the end of each, and whether a click may open it. Pure."""

import re

from ingest.invisible import (
    ASCII_CONTROLS,
    BIDI_CONTROLS,
    DIRECTION_MARKS,
    JOINERS,
    ZERO_WIDTH,
    char_class,
)

ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>\"`\u0000-\u001f]+|mailto:[^\s<>\"`]+", re.IGNORECASE)
BARE_HOST = re.compile(
    r"(?<![\w-])(?:(?=[\w-]{0,62}[^\W\d_])\w[\w-]{0,62}\.){1,9}[^\W\d_]{2,24}(?![\w-])"
)
"""Every repetition is bounded, as this runs on any text of a model."""
_LINKABLE = re.compile(r"https?://[^/\s]|mailto:.", re.IGNORECASE)
_MAX_LENGTH = 2_000
_UNSAFE = re.compile(
    r"[\s|<>\"\\`]|"
    + char_class(ASCII_CONTROLS, BIDI_CONTROLS, DIRECTION_MARKS, JOINERS, ZERO_WIDTH)
)


def trimmed(address: str) -> str:
    """A bare address without the punctuation of the sentence around it."""
    unopened = {closing: _unopened(address, closing) for closing in ")]" if closing in address}
    end = len(address)
    while end and (
        (last := address[end - 1]) in ".,;:!?'*_~…" or (last in unopened and unopened[last] < end)
    ):
        end -= 1
    return address[:end]


def openable(url: str | None) -> str | None:
    """The address, encoded so that no link syntax cuts it; None if a click must not open it."""
    if url is None or not _LINKABLE.match(url) or len(url) > _MAX_LENGTH:
        return None
    url = _UNSAFE.sub(lambda char: "".join(f"%{b:02X}" for b in char[0].encode()), url)
    if _unbalanced(url, ")") or _unbalanced(url[::-1].translate({40: 41, 41: 40}), ")"):
        url = url.replace("(", "%28").replace(")", "%29")
    return url


def may_be_linked(word: str) -> bool:
    """Return True if Slack might make a link of this word."""
    return "://" in word or BARE_HOST.search(word) is not None


def _unbalanced(text: str, closing: str) -> bool:
    """Return True if a closing bracket lacks its opening one."""
    return _unopened(text, closing) < len(text)


def _unopened(text: str, closing: str) -> int:
    """Index of the first closing bracket without an opening one, or the length of the text."""
    opening, depth = {")": "(", "]": "["}[closing], 0
    for place, char in enumerate(text):
        depth += (char == opening) - (char == closing)
        if depth < 0:
            return place
    return len(text)
