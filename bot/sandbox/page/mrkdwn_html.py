"""Slack's mrkdwn -> HTML for the page."""

import re
from collections.abc import Callable

from bot.sandbox.events.translation import unescape
from bot.sandbox.page.emoji import emoji
from bot.sandbox.page.safe_html import Html, el, join, link

Name = Callable[[str], str]
"""The name behind an id."""

FENCE = re.compile(r"```\n?(.*?)```", re.DOTALL)
INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|<(?P<token>[^<>\s][^<>]*)>"
    r"|(?<![\w*])\*(?P<bold>[^*\n]+)\*(?![\w*])"
    r"|(?<![\w_])_(?P<italic>[^_\n]+)_(?![\w_])"
    r"|(?<![\w~])~(?P<strike>[^~\n]+)~(?![\w~])"
    r"|:(?P<emoji>[a-z0-9_+-]+):(?::skin-tone-[2-6]:)?"
)


def render(text: str, name: Name) -> Html:
    """Text with fences, quotes and inline marks."""
    parts: list[Html] = []
    position = 0
    for fence in FENCE.finditer(text):
        parts.append(_lines(text[position : fence.start()], name))
        parts.append(el("pre", el("code", unescape(fence.group(1)))))
        position = fence.end()
    parts.append(_lines(text[position:], name))
    return join(parts)


def _lines(text: str, name: Name) -> Html:
    parts: list[Html] = []
    quoted: list[Html] = []
    for number, line in enumerate(text.split("\n")):
        if line.startswith(("&gt;", ">")):
            words = line.removeprefix("&gt;").removeprefix(">").lstrip()
            quoted += [*([el("br")] if quoted else []), inline(words, name)]
            continue
        if quoted:
            parts.append(el("blockquote", quoted))
            quoted = []
        elif number:
            parts.append(el("br"))
        parts.append(inline(line, name))
    if quoted:
        parts.append(el("blockquote", quoted))
    return join(parts)


def inline(text: str, name: Name) -> Html:
    parts: list[Html | str] = []
    position = 0
    for found in INLINE.finditer(text):
        parts.append(unescape(text[position : found.start()]))
        parts.append(_mark(found, name))
        position = found.end()
    parts.append(unescape(text[position:]))
    return join(parts)


def _mark(found: re.Match[str], name: Name) -> Html | str:
    kind, words = found.lastgroup, found.group(found.lastgroup or 0)
    if kind == "code":
        return el("code", unescape(words))
    if kind == "token":
        return _token(words, name)
    if kind == "emoji":
        return emoji(words)
    tag = {"bold": "strong", "italic": "em", "strike": "s"}[kind or "bold"]
    return el(tag, inline(words, name))


def _token(token: str, name: Name) -> Html:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return mention("@" + (label or name(target[1:])))
    if target.startswith("#"):
        return mention("#" + (label or name(target[1:])))
    if target.startswith("!date"):
        return join(label)
    if target.startswith("!"):
        return mention(label or "@" + target[1:].split("^")[0])
    return link(unescape(target), unescape(label or target))


def mention(text: str) -> Html:
    return el("span", text, cls="mention")
