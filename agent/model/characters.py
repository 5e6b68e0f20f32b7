"""Text of any origin -> characters that can be sent, stored and printed."""

import re
from typing import Any

from ingest.invisible import ASCII_CONTROLS, LATIN_CONTROLS, char_class

_MARKUP = re.compile(r"[*_`\[\]<>|\n]+")
_CONTROLS = re.compile(char_class(ASCII_CONTROLS, LATIN_CONTROLS))


def encodable(value: Any) -> Any:
    """A string, or a JSON value, whose halves of surrogate pairs are joined or replaced.

    JSON can contain such halves, but no encoding can write them.
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in value.items()}
    return [encodable(item) for item in value] if isinstance(value, list) else value


def unmarked(text: str) -> str:
    """A title for use within Markdown, without characters of Markdown."""
    return _MARKUP.sub(" ", text).strip()


def printable(text: str) -> str:
    """``text`` without control characters, which a terminal would obey."""
    return _CONTROLS.sub("", text)
