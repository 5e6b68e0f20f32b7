"""The limits of a message, and that breaking one is seen."""

from typing import Any

import pytest

from tests.bot.blocks.limits import broken_limits


def section(**parts: Any) -> dict[str, Any]:
    return {"type": "section", **parts}


def words(count: int) -> dict[str, str]:
    return {"type": "mrkdwn", "text": "x" * count}


ROW = [{"type": "raw_text", "text": "x"}]
BUTTON = {"type": "button", "text": {"type": "plain_text", "text": "x" * 76}, "value": "v" * 2_001}


@pytest.mark.parametrize(
    ("blocks", "line"),
    [
        ([{"type": "divider"}] * 51, "51 blocks"),
        ([{"type": "markdown", "text": "x" * 6_001}] * 2, "12002 characters of Markdown"),
        ([section(text=words(2_900))] * 5, "characters in all blocks"),
        ([section(text=words(3_001))], "text of 3001"),
        ([section(fields=[words(1)] * 11)], "11 fields"),
        ([section(fields=[words(2_001)])], "field of 2001"),
        ([{"type": "header", "text": words(151)}], "text of 151"),
        ([{"type": "context", "elements": [words(1)] * 11}], "11 elements"),
        ([{"type": "actions", "elements": [BUTTON]}], "button of 76"),
        ([{"type": "actions", "elements": [BUTTON]}], "value of 2001"),
        ([{"type": "table", "rows": [ROW] * 101}], "101 rows"),
        ([{"type": "table", "rows": [ROW * 21]}], "21 cells"),
        ([{"type": "table", "rows": [ROW]}] * 2, "more than one table"),
        ([{"type": "table", "rows": [[words(10_000)]]}], "characters in a table"),
        ([{"type": "rich_text", "elements": []}], "an empty rich_text"),
        ([{"type": "divider", "block_id": "a"}] * 2, "a block_id twice"),
    ],
)
def test_a_broken_limit_is_named(blocks: list[dict[str, Any]], line: str) -> None:
    assert any(line in found for found in broken_limits({"text": "x", "blocks": blocks}))


@pytest.mark.parametrize("text", ["", " \n", "x" * 4_001])
def test_the_notification_is_neither_empty_nor_too_long(text: str) -> None:
    assert broken_limits({"text": text, "blocks": []})
