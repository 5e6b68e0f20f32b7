"""Text in Slack's wire format: as rich text, escaped and unescaped."""

import re

from bot.sandbox.workspace.refusal import Json

EMOJI = re.compile(r"(?<![\w:]):([a-z][a-z0-9_+-]*):(?![\w:])")
TOKEN = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")


def typed_blocks(text: str) -> list[Json]:
    """Return the rich_text block that Slack's clients send with a typed text."""
    section = {"type": "rich_text_section", "elements": token_elements(text)}
    return [{"type": "rich_text", "block_id": "typed", "elements": [section]}]


def token_elements(text: str) -> list[Json]:
    """Text with tokens such as ``<@U…>`` -> rich text elements."""
    elements: list[Json] = []
    position = 0
    for token in TOKEN.finditer(text):
        _add_text(elements, text[position : token.start()])
        elements.append(_element(*token.groups()))
        position = token.end()
    _add_text(elements, text[position:])
    return elements


def _element(sign: str, target: str, label: str | None) -> Json:
    if sign == "@":
        return {"type": "user", "user_id": target}
    if sign == "#":
        return {"type": "channel", "channel_id": target}
    if sign == "!" and target.startswith("subteam^"):
        return {"type": "usergroup", "usergroup_id": target.removeprefix("subteam^")}
    if sign == "!":
        return {"type": "broadcast", "range": target}
    link: Json = {"type": "link", "url": unescape(target)}
    if label:
        link["text"] = unescape(label)
    return link


def _add_text(elements: list[Json], text: str) -> None:
    for number, part in enumerate(EMOJI.split(text)):
        if number % 2:
            elements.append({"type": "emoji", "name": part})
        elif part:
            elements.append({"type": "text", "text": unescape(part)})


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
