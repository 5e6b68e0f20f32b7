"""Text -> its words: for comparison with another text, or for its language."""

import re
from collections.abc import Iterator

_FENCED = re.compile(
    r"^[ \t]*+(?:```|~~~)[^\n]*+\n(?:(?![ \t]*+(?:```|~~~))[^\n]*+\n)*+(?:[^\n]*+)", re.M
)
_INLINE = re.compile(r"`[^`\n]*+`|<[^<>\n]*+>|https?://\S++")
_IDENTIFIER = re.compile(
    r"(?<!\S)\S*?(?:[a-z][A-Z]|[A-Za-z0-9][_./:=][A-Za-z0-9]|--?[a-z]|[A-Za-z]-?\d)\S*+"
)
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]++")


def words(text: str) -> Iterator[str]:
    """Yield the words of a text; a script without blanks gives its characters."""
    return (match.group() for match in _WORD.finditer(text))


def without_code(text: str) -> str:
    """Remove code, addresses and identifiers, which are the same in every language."""
    prose = _INLINE.sub(" ", _FENCED.sub(" ", text))
    return " ".join(word for word in prose.split() if not _IDENTIFIER.match(word))
