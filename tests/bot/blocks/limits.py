"""The limits of one Slack message, and the check of a message against them."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bot.sandbox.webapi.block_rules import check_blocks
from bot.sandbox.workspace.refusal import Refusal

BLOCKS = 50
TOTAL = 13_000
"""All blocks together; not documented, refused a little above (``msg_blocks_too_long``)."""
MARKDOWN = 12_000
"""All ``markdown`` blocks of a message together."""
TOP_TEXT = 4_000
SECTION, FIELD, FIELDS, HEADER, CONTEXT, ACTIONS = 3_000, 2_000, 10, 150, 10, 25
BUTTON, VALUE, CONTEXT_ACTIONS = 75, 2_000, 5
TABLE_ROWS, TABLE_COLUMNS, TABLE_CHARACTERS = 100, 20, 10_000


LITERAL = {"rich_text", "table", "divider"}
"""Types of blocks in which Slack parses nothing."""
AROUND = {"context", "actions", "context_actions"}
"""Types of blocks around an answer."""


def broken_limits(message: Mapping[str, Any]) -> list[str]:
    """One line for each limit that the message breaks; none means Slack takes it."""
    blocks = message.get("blocks", [])
    found = list(_of_message(message, blocks))
    for number, block in enumerate(blocks):
        found.extend(f"block {number} ({block.get('type')}): {line}" for line in _of_block(block))
    return found


def refused_by_the_sandbox(message: Mapping[str, Any]) -> Iterator[str]:
    """A line where the sandbox's Slack does not take the blocks."""
    try:
        check_blocks(message["blocks"])
    except Refusal as refusal:
        yield f"the sandbox refuses: {refusal}"


def _of_message(message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> Iterator[str]:
    text = message.get("text", "")
    if not text.strip() or len(text) > TOP_TEXT:
        yield f"top-level text has {len(text)} characters"
    if len(blocks) > BLOCKS:
        yield f"{len(blocks)} blocks"
    if (total := len(json.dumps(blocks, ensure_ascii=False))) > TOTAL:
        yield f"{total} characters in all blocks"
    markdown = sum(len(b.get("text", "")) for b in blocks if b.get("type") == "markdown")
    if markdown > MARKDOWN:
        yield f"{markdown} characters of Markdown"
    if sum(block.get("type") == "table" for block in blocks) > 1:
        yield "more than one table"
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    if len(ids) != len(set(ids)):
        yield "a block_id twice"


def _of_block(block: Mapping[str, Any]) -> Iterator[str]:
    check = _CHECKS.get(block.get("type", ""))
    return check(block) if check else iter(())


def _of_markdown(block: Mapping[str, Any]) -> Iterator[str]:
    yield from _length("text", block.get("text", ""), MARKDOWN)


def _of_header(block: Mapping[str, Any]) -> Iterator[str]:
    yield from _length("text", block.get("text", {}).get("text", ""), HEADER)


def _of_context(block: Mapping[str, Any]) -> Iterator[str]:
    yield from _count("elements", block["elements"], CONTEXT)
    for element in block["elements"]:
        yield from _length("element", element.get("text", element.get("alt_text", "")), SECTION)


def _of_actions(block: Mapping[str, Any]) -> Iterator[str]:
    yield from _count("elements", block["elements"], ACTIONS)
    for element in block["elements"]:
        yield from _of_button(element)


def _of_context_actions(block: Mapping[str, Any]) -> Iterator[str]:
    yield from _count("elements", block["elements"], CONTEXT_ACTIONS)
    for element in block["elements"]:
        for name in ("positive_button", "negative_button"):
            if name in element:
                yield from _of_button(element[name])


def _of_section(block: Mapping[str, Any]) -> Iterator[str]:
    if "text" in block:
        yield from _length("text", block["text"].get("text", ""), SECTION)
    if "fields" in block:
        yield from _count("fields", block["fields"], FIELDS)
        for item in block["fields"]:
            yield from _length("field", item.get("text", ""), FIELD)


def _of_button(button: Mapping[str, Any]) -> Iterator[str]:
    yield from _length("button", button.get("text", {}).get("text", ""), BUTTON)
    if "value" in button:
        yield from _length("value", button["value"], VALUE)


def _of_table(block: Mapping[str, Any]) -> Iterator[str]:
    rows = block["rows"]
    yield from _count("rows", rows, TABLE_ROWS)
    for row in rows:
        yield from _count("cells", row, TABLE_COLUMNS)
    if (size := len(json.dumps(rows, ensure_ascii=False))) > TABLE_CHARACTERS:
        yield f"{size} characters in a table"


def _of_rich_text(block: Mapping[str, Any]) -> Iterator[str]:
    if not block.get("elements"):
        yield f"an empty {block.get('type')}"
    for element in block.get("elements", []):
        if element.get("type") == "text" and not element.get("text"):
            yield "an empty text"
        if "elements" in element:
            yield from _of_rich_text(element)


def _length(what: str, text: str, limit: int) -> Iterator[str]:
    if not 0 < len(text) <= limit:
        yield f"{what} of {len(text)} characters"


def _count(what: str, items: list[Any], limit: int) -> Iterator[str]:
    if not 0 < len(items) <= limit:
        yield f"{len(items)} {what}"


_CHECKS: dict[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "markdown": _of_markdown,
    "header": _of_header,
    "section": _of_section,
    "context": _of_context,
    "actions": _of_actions,
    "context_actions": _of_context_actions,
    "table": _of_table,
    "rich_text": _of_rich_text,
}
