"""Names of folders and words of questions -> versions of the product, and their order."""

import math
import re
from collections.abc import Collection

_NUMBER = r"\d{1,8}(?:[._]\d{1,8}){0,4}+(?:[._]x)?(?:[-_.]?(?:alpha|beta|rc|pre)[-_.]?\d{0,4})?"
_PART = re.compile(rf"(?P<word>(?:v|ver|version|release|rel)[-_.]?)?(?P<number>{_NUMBER})", re.I)
_DATE = re.compile(r"(?:19|20)\d\d(?:[._](?:0?[1-9]|1[0-2])[._](?:0?[1-9]|[12]\d|3[01]))?")
_ASKED = re.compile(
    rf"(?<![\w./-])(?P<word>v|ver\.?\s?|versions?\s|releases?\s|release-)?(?P<number>{_NUMBER})"
    r"(?![\w-]|[./]\w)",
    re.I,
)
_DIGITS = re.compile(r"\d+|[a-z]+", re.I)

Order = tuple[tuple[int, float], ...]


def version_of(part: str) -> tuple[str, bool] | None:
    """Return the version that a part of a path names, and whether its form alone shows that.

    ``v1.14``, ``version-2.3``, ``release-2.8``, ``2.x`` and ``1.2`` have the form. Digits alone
    can mean anything, and a date is no version.
    """
    match = _PART.fullmatch(part)
    if match is None or (not match["word"] and _DATE.fullmatch(match["number"])):
        return None
    number = match["number"].replace("_", ".").lower()
    return number, bool(match["word"]) or not number.isdigit()


def order_of(version: str) -> Order:
    """Return the key that sorts versions, oldest first: ``2.x`` is behind all of 2, ``rc`` before.

    Equal lengths of two versions do not matter: 1.14 is older than 1.14.1.
    """
    key: list[tuple[int, float]] = []
    for piece in _DIGITS.findall(version.lower()):
        if piece.isdigit():
            key.append((1, int(piece)))
        else:
            key.append((1, math.inf) if piece == "x" else (-1, ord(piece[0])))
    return (*key, (0, 0))


def is_unreleased(version: str) -> bool:
    """Return True for a version before its release, such as ``2.0-rc1``."""
    return any(kind < 0 for kind, _number in order_of(version))


def asked_version(question: str, versions: Collection[str]) -> str | None:
    """Return the version among these that a question names, or None.

    ``1.14.3`` names ``1.14``, and ``2.7`` names ``2.x``. Digits alone name a version only after
    the word or a ``v``.
    """
    for match in _ASKED.finditer(question):
        number = match["number"].replace("_", ".").lower()
        if number.isdigit() and not match["word"]:
            continue
        parts = number.split(".")
        for length in range(len(parts), 0, -1):
            stem = ".".join(parts[:length])
            for name in (stem, f"{stem}.x"):
                if name in versions and (length == len(parts) or length > 1 or name != stem):
                    return name
    return None
