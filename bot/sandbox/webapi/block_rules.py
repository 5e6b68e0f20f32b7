"""Slack's rules for blocks: the models of slack_sdk, and the rules that those do not check."""

import logging
from collections.abc import Iterator
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from bot.sandbox.workspace.refusal import Json, Refusal

MESSAGE_BLOCKS = 50
MARKDOWN = 12_000
ALL_BLOCKS = 13_200
IN_MESSAGES = frozenset(
    [
        "section",
        "divider",
        "image",
        "actions",
        "context",
        "context_actions",
        "file",
        "header",
        "markdown",
        "video",
        "rich_text",
        "table",
        "task_card",
        "plan",
        "card",
        "carousel",
        "container",
        "alert",
    ]
)
IN_VIEWS = frozenset(
    [
        "section",
        "divider",
        "image",
        "actions",
        "context",
        "file",
        "header",
        "video",
        "rich_text",
        "input",
        "table",
        "alert",
    ]
)
BUTTON_KEYS = frozenset(
    [
        "type",
        "text",
        "action_id",
        "url",
        "value",
        "style",
        "confirm",
        "accessibility_label",
        "visible_to_user_ids",
        "agent_prompt",
    ]
)
TEXT_LIMITS = {"section": 3_000, "header": 150}


def check_blocks(
    blocks: Any, *, most: int = MESSAGE_BLOCKS, kinds: frozenset[str] = IN_MESSAGES
) -> None:
    """Refuse blocks that Slack would refuse, with the place of each fault."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise Refusal("invalid_blocks_format")
    complaints = []
    if len(blocks) > most:
        complaints.append(f"no more than {most} items allowed [json-pointer:/blocks]")
    for number, block in enumerate(blocks):
        where = f"[json-pointer:/blocks/{number}]"
        complaints += [f"{problem} {where}" for problem in _complaints(_problems(block, kinds))]
    complaints += [f"{problem} [json-pointer:/blocks]" for problem in _complaints(_across(blocks))]
    if complaints:
        raise Refusal(
            "invalid_blocks",
            errors=complaints,
            response_metadata={"messages": [f"[ERROR] {one}" for one in complaints]},
        )
    if sum(map(len, [*strings(blocks, "text"), *strings(blocks, "url")])) > ALL_BLOCKS:
        raise Refusal("msg_blocks_too_long")


def _complaints(problems: Iterator[str]) -> list[str]:
    """Collect problems; a block that the rules cannot read is malformed."""
    try:
        return list(problems)
    except (TypeError, AttributeError, KeyError, ValueError):
        return ["malformed block"]


def _problems(block: Json, kinds: frozenset[str]) -> Iterator[str]:
    kind = block.get("type")
    if kind not in kinds:
        yield f"unsupported type: {kind}"
        return
    parsed = _parsed(block)
    if parsed is None:
        yield f"unsupported type: {kind}"
        return
    unknown = set(block) - set(parsed.attributes) - {"block_id", "type"}
    yield from (f"invalid additional property: {key}" for key in sorted(unknown))
    try:
        parsed.validate_json()
    except SlackObjectFormationError as error:
        yield str(error)
    if len(str(block.get("block_id", ""))) > 255:
        yield "block_id is longer than 255 characters"
    yield from _own_rules(block)


def _parsed(block: Json) -> Block | None:
    logger = logging.getLogger("slack_sdk.models.blocks.blocks")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        return Block.parse(block)
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
    finally:
        logger.setLevel(level)


def _own_rules(block: Json) -> Iterator[str]:
    kind = block["type"]
    if kind in TEXT_LIMITS and "text" in block:
        yield from _text(block["text"], TEXT_LIMITS[kind], plain=kind == "header")
    for entry in block.get("fields", []) if kind == "section" else []:
        yield from _text(entry, 2_000)
    if kind == "markdown" and not str(block.get("text", "")).strip():
        yield "must be more than 0 characters"
    if kind == "context":
        yield from _context(block.get("elements"))
    if kind in ("actions", "context_actions"):
        yield from _actions(block.get("elements"), most=25 if kind == "actions" else 5)
    if kind == "section" and isinstance(block.get("accessory"), dict):
        yield from _element(block["accessory"])
    if kind == "table":
        yield from _table(block.get("rows"))
    if kind == "rich_text":
        yield from _rich_text(block.get("elements"))


def _text(value: Any, most: int, *, plain: bool = False) -> Iterator[str]:
    if not isinstance(value, dict) or value.get("type") not in ("plain_text", "mrkdwn"):
        yield "missing or unknown text object"
        return
    if plain and value["type"] != "plain_text":
        yield "must be a plain_text object"
    if not isinstance(value.get("text"), str) or not value["text"]:
        yield "must be more than 0 characters"
    elif len(value["text"]) > most:
        yield f"must be less than {most + 1} characters"
    allowed = {"type", "text", "emoji"} if value["type"] == "plain_text" else {
        "type", "text", "verbatim"
    }  # fmt: skip
    yield from (f"invalid additional property: {key}" for key in sorted(set(value) - allowed))


def _context(elements: Any) -> Iterator[str]:
    if not isinstance(elements, list) or not 1 <= len(elements) <= 10:
        yield "a context holds 1 to 10 elements"
        return
    for element in elements:
        if not isinstance(element, dict):
            yield "must be an object"
        elif element.get("type") != "image":
            yield from _text(element, 3_000)


def _actions(elements: Any, most: int) -> Iterator[str]:
    if not isinstance(elements, list) or not 1 <= len(elements) <= most:
        yield f"1 to {most} elements allowed"
        return
    ids = [element.get("action_id") for element in elements if isinstance(element, dict)]
    named = [action for action in ids if action]
    if len(named) != len(set(named)):
        yield "action_id must be unique"
    for element in elements:
        yield from _element(element)


def _element(element: Any) -> Iterator[str]:
    if not isinstance(element, dict) or not element.get("type"):
        yield "missing element type"
        return
    if len(str(element.get("action_id", ""))) > 255:
        yield "action_id is longer than 255 characters"
    if element["type"] == "button":
        yield from _text(element.get("text"), 75, plain=True)
        yield from (
            f"invalid additional property: {key}" for key in sorted(set(element) - BUTTON_KEYS)
        )
        yield from _value(element)
    if element["type"] == "feedback_buttons":
        for key in ("positive_button", "negative_button"):
            button = element.get(key)
            if not isinstance(button, dict) or not button.get("value"):
                yield f"missing {key}"
                continue
            yield from _text(button.get("text"), 75, plain=True)
            yield from _value(button)


def _value(button: Json) -> Iterator[str]:
    if len(str(button.get("value", ""))) > 2_000:
        yield "value is longer than 2000 characters"
    url = button.get("url")
    if url is not None and (len(url) > 3_000 or not url.startswith(("http://", "https://"))):
        yield "url is not a valid URL"
    if button.get("style") not in (None, "primary", "danger"):
        yield "style must be primary or danger"


def _table(rows: Any) -> Iterator[str]:
    if not isinstance(rows, list) or not 1 <= len(rows) <= 100:
        yield "a table holds 1 to 100 rows"
        return
    if any(not isinstance(row, list) or not 1 <= len(row) <= 20 for row in rows):
        yield "a row holds 1 to 20 cells"
    if sum(len(text) for text in strings(rows, "text")) > 10_000:
        yield "a table holds at most 10000 characters"


def _rich_text(elements: Any) -> Iterator[str]:
    kinds = {"rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted"}
    if not isinstance(elements, list):
        yield "missing required field: elements"
        return
    for element in elements:
        if not isinstance(element, dict) or element.get("type") not in kinds:
            yield "unknown rich text element"


def _across(blocks: list[Json]) -> Iterator[str]:
    """Problems between the blocks of one message."""
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    if len(ids) != len(set(ids)):
        yield "block_id already exists"
    markdown = sum(
        len(str(block.get("text", ""))) for block in blocks if block.get("type") == "markdown"
    )
    if markdown > MARKDOWN:
        yield f"markdown blocks hold more than {MARKDOWN} characters"
    if sum(block.get("type") == "table" for block in blocks) > 1:
        yield "only_one_table_allowed"


def strings(value: Any, key: str) -> Iterator[str]:
    """Yield every string under ``key``, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key and isinstance(inner, str):
                yield inner
            else:
                yield from strings(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)
