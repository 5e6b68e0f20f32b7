"""The shared cases of alert messages, as any integration posts them."""

from typing import Any

import pytest

from bot.alerts import message_json
from tests.bot.cases import cases, folded


@pytest.mark.parametrize("case", cases("alerts"))
def test_a_reader_gets_what_the_alert_shows(case: dict[str, Any]) -> None:
    expect = case["expect"]
    text = message_json(case["input"]["message"])["text"]
    flat = folded(text)
    assert [part for part in expect.get("must_contain", []) if folded(part) not in flat] == []
    assert [part for part in expect.get("must_not_contain", []) if folded(part) in flat] == []
    assert len(text) <= expect.get("max_chars", len(text))
    for part, count in expect.get("max_count", {}).items():
        assert flat.count(folded(part)) <= count
    for parts in expect.get("same_line", []):
        assert any(all(part in line for part in parts) for line in text.split("\n")), parts
    assert all(part in text for part in expect.get("whitespace_exact", []))
    places = [flat.find(folded(part)) for part in expect.get("in_order", [])]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("case", cases("alerts"))
def test_a_shortened_alert_says_so(case: dict[str, Any]) -> None:
    message = case["input"]["message"]
    bulk = [a.get("text", "") for a in message.get("attachments", []) if a.get("text")]
    text = message_json(message)["text"]
    if case["expect"].get("if_shortened_says_so") and sum(map(len, bulk)) > len(text):
        assert "left out" in text
