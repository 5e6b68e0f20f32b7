"""Comparison of text: invisible characters do not count, and a word is found only as a whole."""

import re
from functools import lru_cache

from ingest.invisible import BIDI_CONTROLS, DIRECTION_MARKS, JOINERS, TAGS, ZERO_WIDTH, char_class

_TRIES = 2_000
"""Maximum number of places to look at for one needle; after these it counts as not found."""
_LONGEST_ADDRESS = 2_000
INVISIBLE = re.compile(char_class(BIDI_CONTROLS, DIRECTION_MARKS, JOINERS, ZERO_WIDTH))
HIDDEN = re.compile(char_class(BIDI_CONTROLS, TAGS))
"""Characters that make a text look different from what it is."""
TYPOGRAPHIC = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "«": '"', "»": '"', "…": "..."}
)
DASHES = str.maketrans({"‐": "-", "‑": "-", "‒": "-", "−": "-", "–": "-"})
HYPHENS = str.maketrans({"‐": "-", "‑": "-"})
"""Signs that mean a hyphen in prose; in a command they are other signs."""
_CONTINUED = re.compile(r"(?<!\s)\s*+(?:\\\r?\n\s*+)++")


def clean(text: str) -> str:
    """The text without invisible characters, odd blanks and line continuation."""
    text = INVISIBLE.sub("", text)
    text = _CONTINUED.sub(" ", text) if "\\" in text else text
    return text.replace("\u00a0", " ").replace("\u202f", " ").replace("\u2009", " ")


def squeezed(text: str) -> str:
    return " ".join(text.split())


def typed_forms(plain: str) -> tuple[str, ...]:
    """The text, and the text with plain signs in place of typographic ones."""
    typed = plain.translate(TYPOGRAPHIC)
    if not re.search("[‐‑‒−–—]", typed):
        return (plain,) if typed == plain else (plain, typed)
    dashed = typed.replace("—", "--")
    return (plain, typed, dashed.translate(DASHES), dashed.replace("–", "--"))


@lru_cache(maxsize=4096)
def occurs(needle: str, text: str) -> bool:
    """Return True if ``text`` contains ``needle`` as a whole, not inside a word, name or path."""
    return place_of(needle, text) != -1


def place_of(needle: str, text: str, start: int = 0) -> int:
    """Offset of ``needle`` as a whole, from ``start`` on; -1 if ``text`` does not contain it."""
    at = text.find(needle, start) if needle else -1
    for _ in range(_TRIES):
        if at == -1 or stands_alone(needle, text, at):
            return at
        at = text.find(needle, at + 1)
    return -1


def stands_alone(needle: str, text: str, at: int) -> bool:
    after = at + len(needle)
    return _begins(needle, text[max(0, at - 2) : at], text, at) and _ends(
        needle, text[after : after + 2]
    )


def _begins(needle: str, before: str, text: str, at: int) -> bool:
    edge, other, beyond = needle[0], before[-1:], before[:-1]
    if edge == "/":
        inside = other.isalnum() or other in ("_", ".", "~", "-")
        if not other or not inside:
            return True
        return "://" in text[max(0, at - _LONGEST_ADDRESS) : at].rpartition(" ")[2]
    if not (edge.isalnum() or edge in "-_"):
        return True
    if other == "-":
        if edge.isdigit() and (not beyond or beyond in " =([`'\""):
            return False  # a sign
        return edge != "-" and not beyond.isalnum()
    if other == ".":
        return not beyond.isalnum() or _is_field(needle, edge, beyond)
    if other == "/" and "/" in needle:
        return not beyond.isalnum() and beyond not in ("_", ".", "~")
    if other == "_":
        return not beyond.isalnum() and beyond != "_"
    return not other.isalnum()


def _ends(needle: str, after: str) -> bool:
    edge, other, beyond = needle[-1], after[:1], after[1:]
    if edge in "/~.*$" and " " in needle:
        # "rm -rf /" does more than "rm -rf /tmp".
        return not other.isalnum() and other not in ("/", "_", "{", "*")
    if not (edge.isalnum() or edge in "-_"):
        return True
    if other == "." and " " not in needle and _is_field(needle, edge, beyond):
        return True
    if other in ("-", ".", "_") or (other == "/" and "/" in needle):
        return not beyond.isalnum() and beyond not in ("-", "_")
    return not other.isalnum()


def _is_field(needle: str, edge: str, beyond: str) -> bool:
    """Return True if a needle can be a part of a name such as ``spec.replicas``.

    A part of a version or of a host never counts.
    """
    return "." not in needle and edge.isalpha() and beyond.isalpha()
