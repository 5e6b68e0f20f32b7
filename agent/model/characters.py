"""Text of any origin -> characters that can be sent, stored and printed."""

import re
from typing import Any

_MARKUP = re.compile(r"[*_`\[\]<>|\n]+")
_CONTROLS = re.compile(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]")


def encodable(value: Any) -> Any:
    """A string, or all of them in a JSON value, with halves of surrogate pairs joined or replaced.

    JSON can spell halves, and no encoding can write them.
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in value.items()}
    return [encodable(item) for item in value] if isinstance(value, list) else value


def unmarked(text: str) -> str:
    """A title as it may stand within Markdown: without what would be read as markup there."""
    return _MARKUP.sub(" ", text).strip()


def printable(text: str) -> str:
    """``text`` without what a terminal would take for a command."""
    return _CONTROLS.sub("", text)
