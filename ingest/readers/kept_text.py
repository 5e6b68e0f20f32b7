"""Text with code and escapes -> the same text cleaned, but for these: they are not markup."""

import re
from collections.abc import Callable

STAND_IN = re.compile(r"\x02(\d+)\x03")
"""Placeholder of what is kept; these control characters were removed from all documents."""


def _last_group(match: re.Match[str]) -> str:
    return match[match.lastindex or 0]


def around(
    literal: re.Pattern[str],
    text: str,
    clean: Callable[[str], str],
    kept: Callable[[re.Match[str]], str] = _last_group,
) -> str:
    """Clean a text, except for the matches of ``literal``: what ``kept`` returns stays of them."""
    words: list[str] = []

    def keep(match: re.Match[str]) -> str:
        words.append(kept(match))
        return f"\x02{len(words) - 1}\x03"

    text = clean(literal.sub(keep, text))
    return STAND_IN.sub(lambda match: words[int(match[1])], text) if words else text
