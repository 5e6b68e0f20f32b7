"""Text of a message -> messages without blocks: no part pings, and only known addresses link.

Slack reads such a text as its own format, so code is kept as code there, and every other word that
Slack might link becomes code, too.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from bot.reading.addresses import linkable
from bot.reading.mrkdwn import escape, unescape

PART_CHARS = 3_500
"""Maximum number of characters of a message that is only text; Slack takes 4,000."""

_FENCE = "```"
_LINK = re.compile(r"<([^<>|\s]+)[|>]")
_BESIDE_CODE = frozenset("([{\"'")


def links_of(message: Mapping[str, Any]) -> frozenset[str]:
    """Every address that a rendered message links: those of links, and those in its prose."""
    found: set[str] = set()
    waiting: list[Any] = [message.get("blocks")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict) and value.get("type") != "rich_text_preformatted":
            waiting += [part for part in value.values() if isinstance(part, dict | list)]
            found |= _links(value)
    return frozenset(found)


def _links(element: Mapping[str, Any]) -> set[str]:
    if isinstance(url := element.get("url"), str):
        return {url}
    text, style = element.get("text"), element.get("style")
    if not isinstance(text, str):
        return set()
    match element.get("type"):
        case "mrkdwn":
            return {unescape(link) for link in _LINK.findall(text)}
        case "text" | "raw_text" if not (isinstance(style, dict) and style.get("code")):
            return {address.url for address in linkable(text)}
    return set()


def plain_parts(
    text: str, limit: int = PART_CHARS, live: Collection[str] = frozenset()
) -> list[str]:
    """Text in parts of at most ``limit`` characters, escaped; only ``live`` addresses may link.

    Parts end at line ends. A code block in two parts is closed in the first, opened in the second.
    """
    parts: list[str] = []
    lines: list[str] = []
    size = 0
    is_code = False

    def flush() -> None:
        nonlocal lines, size
        if any(line.strip() for line in lines):
            parts.append("\n".join([*lines, _FENCE] if is_code else lines))
        lines, size = ([_FENCE], len(_FENCE) + 1) if is_code else ([], 0)

    for line in text.split("\n"):
        content = line.lstrip()
        if content.startswith(_FENCE):
            if size + 2 * len(_FENCE) + 2 > limit:
                flush()
            is_code = not is_code
            lines.append(_FENCE)
            size += len(_FENCE) + 1
            line = content.lstrip("`")
            if not line.strip():
                continue
        for piece in _pieces(line, limit - 8, None if is_code else live):
            if size + len(piece) + 5 > limit:
                flush()
            lines.append(piece)
            size += len(piece) + 1
    flush()
    return parts or ["(nothing to show)"]


def _pieces(line: str, limit: int, live: Collection[str] | None) -> Iterator[str]:
    """Yield a line as Slack takes it, in pieces of at most ``limit`` characters.

    In a line of a code block, where ``live`` is None, only backticks are replaced.
    """
    if len(line) <= limit:
        sent = escape(line.replace(_FENCE, "'''") if live is None else _inert(line, live))
        if len(sent) <= limit or len(line) < 2:
            yield sent
            return
    middle = len(line) // 2
    yield from _pieces(line[:middle], limit, live)
    yield from _pieces(line[middle:], limit, live)


def _inert(line: str, live: Collection[str]) -> str:
    """The line, with its code as code; every address that is not live becomes code."""
    out = ""
    *pairs, last = line.split("`")
    if len(pairs) % 2:  # the last backtick has no partner
        pairs, last = pairs[:-1], f"{pairs[-1]}'{last}"
    for number, part in enumerate([*pairs, last]):
        if number % 2:
            out = _with_code(out, part)
            continue
        end = 0
        for address in linkable(part):
            if address.url not in live:
                out = _followed(out, part[end : address.start])
                out = _with_code(out, part[address.start : address.end])
                end = address.end
        out = _followed(out, part[end:])
    return out


def _with_code(before: str, code: str) -> str:
    """The text with code behind it; Slack reads backticks as code only between other characters."""
    if not code.strip():
        return f"{before} {code} "
    is_apart = not before or before[-1].isspace() or before[-1] in _BESIDE_CODE
    return f"{before}{'' if is_apart else ' '}`{code}`"


def _followed(before: str, text: str) -> str:
    is_glued = before.endswith("`") and text[:1].isalnum()
    return f"{before} {text}" if is_glued else before + text
