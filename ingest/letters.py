"""Text -> the same text in one form, where letters can be written in two ways.

Texts are compared in these forms only; people see the lines of the file.
"""

import re
import unicodedata
from typing import Literal

Form = Literal["NFC", "NFKC"]

# To sort a run of accents takes time that grows with the square of its length, so a run without
# blanks that no word reaches is brought into its form in parts.
_LONG_RUN = re.compile(r"(?<!\S)\S{501,}+")
_PART = re.compile(r"\s*+\S{1,500}+|\s++")


def composed(text: str) -> str:
    """Return text with each accent, or part of a syllable, joined to its letter, as in paths."""
    return _normalized("NFC", text)


def plain(text: str) -> str:
    """Return text with plain characters for those of the same meaning: ``ＰＡＹ－４０３１``, ``ﬁ``.

    A symbol such as ``™`` or ``①`` stays apart from the words beside it.
    """
    if text.isascii():
        return text
    symbols: dict[str, str | int | None] = {
        sign: f" {sign} "
        for sign in set(text)
        if unicodedata.category(sign) == "So" or unicodedata.decomposition(sign)[:8] == "<circle>"
    }
    return _normalized("NFKC", text.translate(str.maketrans(symbols)) if symbols else text)


def folded(text: str) -> str:
    """Return plain text in which letters with one capital are one letter: ``ß``, ``ı``, ``ς``."""
    return plain(text).upper().casefold()


def _normalized(form: Form, text: str) -> str:
    if text.isascii():
        return text
    parts = _PART.findall(text) if _LONG_RUN.search(text) else [text]
    return "".join(unicodedata.normalize(form, part) for part in parts)
