"""Web addresses in text: the end of each, what Slack may link, and what a click may open. Pure.

Slack also turns bare hosts into links, and takes ``README.md`` for a host. Its rule is not public,
so the rule here is wider: a word that only might be linked counts as an address.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple
from unicodedata import category, normalize

from ingest.invisible import (
    ASCII_CONTROLS,
    BIDI_CONTROLS,
    DIRECTION_MARKS,
    FILLERS,
    JOINERS,
    ZERO_WIDTH,
    char_class,
)

ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>\"`\u0000-\u001f]+|mailto:[^\s<>\"`]+", re.IGNORECASE)
_START = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{0,30}://|(?<![\w.+-])[a-z][a-z0-9+.-]{1,30}:(?=[a-z0-9/+?#@]))"
    # A dot between letters, before an end that can be a top-level domain.
    r"|[\w-]\.(?:xn--|[^\W\d_]{2})"
    r"|[a-z0-9]\u3002[a-z]{2}"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])",
    re.IGNORECASE,
)
"""Every repetition is bounded, as this runs on any text of a model."""
_SPAN = re.compile(r"[^\s<>\"]+")
"""No linker goes on after these characters; after any other it may."""
_EDGE = re.compile(r"[()\[\]{}|,;`'*]")
"""Characters that a bare host does not begin with."""
_PIECES = 20
"""Maximum number of places in one word of a document at which an address is looked for."""
_LINKABLE = re.compile(r"https?://[^/\s]|mailto:.", re.IGNORECASE)
_MAX_LENGTH = 2_000
_BEGIN = re.compile(r"^|(?=https?://)|[()\[\]{}|,;`'*]", re.IGNORECASE)
_END = re.compile(r"[|`']")
_ENDS = frozenset("*_~")
"""Characters that an address may end with, though Markdown puts them around one."""
_AROUND = '.:!?…"/\\'
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


class Address(NamedTuple):
    """A part of a text that Slack might link, and its place."""

    start: int
    """Index of the first character of the word, which may be before the address."""
    end: int
    url: str


def linkable(text: str) -> Iterator[Address]:
    """Yield every part of a text that Slack might turn into a link."""
    for span in _SPAN.finditer(text):
        if address := _first_address(span[0]):
            start, end, url = address
            yield Address(span.start() + start, span.start() + end, url)


def may_be_linked(word: str) -> bool:
    """Return True if Slack might make a link of this word, or of a part of it."""
    return next(linkable(word), None) is not None


@lru_cache(maxsize=1_024)
def addresses_in(document: str) -> frozenset[str]:
    """Every whole address in a text of the docs."""
    found: set[str] = set()
    for span in _SPAN.findall(document):
        if _START.search(span):
            for match in islice(_BEGIN.finditer(span), _PIECES):
                if address := _first_address(span[match.end() :]):
                    found |= {address.url, trimmed(_without_markup(address.url)).lstrip("_~")}
    return frozenset(found)


def _without_markup(url: str) -> str:
    """The address up to the first character that ends one in Markdown."""
    end = min(_unopened(url, ")"), _unopened(url, "]"))
    return _END.split(url[:end], maxsplit=1)[0]


def _first_address(word: str) -> Address | None:
    """The first address in a word; all of the word behind it may belong to it."""
    seen = _as_seen(word)
    match = _START.search(seen)
    if not match:
        return None
    start = 0
    if seen == word:
        edge = max((m.end() for m in _EDGE.finditer(word, 0, match.start())), default=0)
        start = edge + len(word[edge:]) - len(word[edge:].lstrip(_AROUND))
        first = match.start() if match["scheme"] else start
    else:
        first = 0
    url = trimmed(word[first:])
    if not _ENDS.isdisjoint(word[first + len(url) :]):
        url = word[first:]
    return Address(min(start, first), first + len(url), url) if url else None


def _as_seen(word: str) -> str:
    """The word as a program may read it: without invisible characters, with ordinary dots."""
    if word.isascii() and word.isprintable():
        return word
    letters = normalize("NFKC", word)
    return "".join(c for c in letters if category(c)[0] not in "MC" and c not in FILLERS)


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
