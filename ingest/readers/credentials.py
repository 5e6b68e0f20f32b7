"""Credentials in a text -> marks; lines keep their places.

A text is read as people see it: without tags, entities and markup.
"""

import html
import re
from bisect import bisect_right

from ingest.invisible import without_hidden
from ingest.readers.credential_forms import Place, credentials
from ingest.readers.html import CELLS, INLINE

MASK = "[masked]"
_WITHIN_WORDS = INLINE - CELLS - {"br"}
_MARKUP = re.compile(
    r"<(?:/?(?P<tag>[a-zA-Z]\w{0,20})(?:[^\w<>][^<>]{0,500})?|!--[^<>]{0,500}--)>|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{2,31});"
    r"|\\[ -/:-@\[-`{-~]|\*{1,3}"
)


def masked(text: str) -> tuple[str, tuple[int, ...]]:
    """Replace credentials by a mark; return the text and the line of each, from 1."""
    places = _joined(_places(text))
    parts: list[str] = []
    lines: list[int] = []
    end, line = 0, 1
    for start, stop in places:
        parts.append(text[end:start])
        line += text.count("\n", end, start)
        lines.append(line)
        body = text[start:stop]
        parts.append("\n".join(MASK if part.strip() else part for part in body.split("\n")))
        line += body.count("\n")
        end = stop
    return "".join([*parts, text[end:]]), tuple(lines)


def _joined(places: list[Place]) -> list[Place]:
    """The places in order; those that overlap are one."""
    joined: list[Place] = []
    for start, end in sorted(places):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif start < end:
            joined.append((start, end))
    return joined


def _places(text: str) -> list[Place]:
    """The places of the credentials that people see in a text."""
    seen: list[str] = []
    starts, sources = [0], [0]
    length = end = 0
    for match in _MARKUP.finditer(text):
        before = text[end : match.start()]
        shown = _shown(match)
        seen += [before, shown]
        length += len(before)
        if shown:
            starts.append(length)
            sources.append(match.start())
        length += len(shown)
        starts.append(length)
        sources.append(match.end())
        end = match.end()
    seen.append(text[end:])

    def source(index: int) -> int:
        place = bisect_right(starts, index) - 1
        return sources[place] + index - starts[place]

    return [(source(start), source(stop - 1) + 1) for start, stop in credentials("".join(seen))]


def _shown(markup: re.Match[str]) -> str:
    if tag := markup["tag"]:
        return "" if tag.lower() in _WITHIN_WORDS else "\n"
    match markup[0][0]:
        case "&":
            return without_hidden(html.unescape(markup[0]))
        case "\\":
            return markup[0][1:].strip()
    return ""
