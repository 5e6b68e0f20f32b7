"""Text of any origin -> characters that can be sent and stored."""

import re
from typing import Any

_MARKUP = re.compile(r"[*_`\[\]<>|\n]+")


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
