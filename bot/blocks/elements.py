"""Words -> section, header, context and button blocks, within Slack's limits."""

import re
from collections.abc import Sequence
from typing import Any

from bot.reading.addresses import openable
from bot.reading.mrkdwn import escape
from ingest.shorten import shorten_end

Block = dict[str, Any]
"""One of Slack's layout blocks."""
Element = dict[str, Any]
"""A part of a ``rich_text`` block, or of another element."""

_SECTION, _HEADER, _LABEL = 3_000, 150, 75
_WHOLE = re.compile(r"<[^<>\s][^<>]*>|&\w+;|[^<&]|[<&]", re.DOTALL)
"""A link with its label, an entity, or any other character: none of these is cut."""


def mrkdwn(text: str) -> Block:
    """A text object in which Slack does not turn words into links or channel names."""
    return {"type": "mrkdwn", "text": shortened(text, _SECTION), "verbatim": True}


def section(text: str) -> Block:
    return {"type": "section", "text": mrkdwn(text)}


def header(text: str) -> Block:
    return {"type": "header", "text": _plain(text, _HEADER)}


def context(block_id: str, text: str) -> Block:
    """A small grey line."""
    return {"type": "context", "block_id": block_id, "elements": [mrkdwn(text)]}


def button(action_id: str, label: str, value: str) -> Block:
    text = _plain(label, _LABEL)
    return {"type": "button", "action_id": action_id, "text": text, "value": value}


def actions(block_id: str, buttons: Sequence[Block]) -> Block:
    return {"type": "actions", "block_id": block_id, "elements": list(buttons)}


def link(label: str, url: str | None) -> str:
    """Words as a link; the words alone if the address is missing or unsafe."""
    # A line end or a bar would end the label, and with it the link.
    words = escape(" ".join(label.split())).replace("|", "¦")
    address = openable(url)
    return f"<{escape(address)}|{words}>" if address else words


def code(text: str) -> str:
    """Return words as code, on one line, without their backticks, which would end the code."""
    return f"`{escape(' '.join(text.split())).replace('`', '')}`"


def shortened(text: str, limit: int) -> str:
    """Slack text of at most ``limit`` characters, cut after a line or word."""
    if len(text) <= limit:
        return text
    head = ""
    for match in _WHOLE.finditer(text):
        if len(head) + len(match[0]) > limit - 2:
            break
        head += match[0]
    whole_lines = head.rpartition("\n")[0]
    if len(whole_lines) >= len(head) // 2:
        return f"{whole_lines}\n…"
    words = head.rpartition(" ")[0]
    # A cut at a blank within a link's label would break the link.
    return f"{words if words.count('<') == words.count('>') and words else head} …"


def _plain(text: str, limit: int) -> Block:
    return {"type": "plain_text", "text": shorten_end(text, limit)}
