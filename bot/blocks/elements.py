"""Words -> the blocks that Slack calls section, header, context and button, within its limits."""

import re
from collections.abc import Sequence
from typing import Any

from bot.reading.addresses import openable
from bot.reading.mrkdwn import escape

Block = dict[str, Any]

_SECTION, _HEADER, _LABEL = 3_000, 150, 75
_WHOLE = re.compile(r"<[^<>\s][^<>]*>|&\w+;|[^<&]|[<&]", re.DOTALL)
"""What must not be cut: a link with its label, an entity."""


def mrkdwn(text: str) -> Block:
    """A text object; Slack makes no links and no channel names of its own out of its words."""
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
    """Words under an address, or the words alone where no click may open it."""
    # A line end or a bar would end the label, and with it the link.
    words = escape(" ".join(label.split())).replace("|", "¦")
    address = openable(url)
    return f"<{escape(address)}|{words}>" if address else words


def code(text: str) -> str:
    """Words as code, on one line; a backtick of their own would end it."""
    return f"`{escape(' '.join(text.split())).replace('`', '')}`"


def shortened(text: str, limit: int) -> str:
    """Slack text that fits, cut after a whole line or word, with a sign that it was cut."""
    if len(text) <= limit:
        return text
    kept = ""
    for match in _WHOLE.finditer(text):
        if len(kept) + len(match[0]) > limit - 2:
            break
        kept += match[0]
    whole_lines = kept.rpartition("\n")[0]
    if len(whole_lines) >= len(kept) // 2:
        return f"{whole_lines}\n…"
    words = kept.rpartition(" ")[0]
    # A blank within a link's label is no place to cut.
    return f"{words if words.count('<') == words.count('>') and words else kept} …"


def _plain(text: str, limit: int) -> Block:
    return {"type": "plain_text", "text": text if len(text) <= limit else f"{text[: limit - 1]}…"}
