"""Repeated parts of a message are read once; parts that differ in a single sign are all read."""

from typing import Any

import pytest

from bot.reading.message import message_text


def test_the_text_that_blocks_repeat_is_said_once() -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "*Deploy failed:* api 4.2"}}]
    assert (
        message_text({"text": "Deploy failed: api 4.2", "blocks": blocks})
        == "*Deploy failed:* api 4.2"
    )


def test_a_text_that_blocks_do_not_repeat_is_kept() -> None:
    blocks = [
        {"type": "actions", "elements": [{"type": "button", "text": {}, "url": "https://a.test"}]}
    ]
    text = message_text({"text": "Deploy failed: api 4.2", "blocks": blocks})
    assert text == "Deploy failed: api 4.2\nhttps://a.test"


def test_attachments_that_share_values_are_each_kept_whole() -> None:
    def host(name: str) -> dict[str, Any]:
        fields = [{"title": "Severity", "value": "page"}, {"title": "Host", "value": name}]
        return {"title": "Disk full on a node", "fields": fields}

    assert message_text({"attachments": [host("db-1"), host("db-2")]}) == (
        "Disk full on a node\nSeverity: page\nHost: db-1\n"
        "Disk full on a node\nSeverity: page\nHost: db-2"
    )


def test_fields_that_repeat_within_an_attachment_stay_with_their_neighbours() -> None:
    pairs = [("Pod", "api-1"), ("State", "crash loop"), ("Pod", "api-2"), ("State", "crash loop")]
    fields = [{"title": title, "value": value} for title, value in pairs]
    text = message_text({"attachments": [{"title": "Two pods", "fields": fields}]})
    assert text == "Two pods\nPod: api-1\nState: crash loop\nPod: api-2\nState: crash loop"


def test_an_attachment_that_says_the_very_same_as_what_is_before_it_is_said_once() -> None:
    same = {"title": "Disk full on db-1", "title_link": "https://am.test/1"}
    assert message_text({"text": "Disk full on db-1", "attachments": [same, same]}) == (
        "Disk full on db-1\nDisk full on db-1 (https://am.test/1)"
    )
    assert message_text({"text": "*Disk full*", "attachments": [{"title": "Disk full"}]}) == (
        "*Disk full*"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Disk 91% full on db-1", "Disk 91% full on db-2"),
        ("queue depth > 90", "queue depth < 90"),
        ("offset 5 ms on web", "offset -5 ms on web"),
        ("load 1.5 on web", "load 15 on web"),
        ("load 1,5 on web", "load 1.5 on web"),
        ("🔴 payments-api", "🟢 payments-api"),
        ("latency ↑ on web", "latency ↓ on web"),
        ("pod api-A is down", "pod api-a is down"),
        ("full: /var/log on web", "full: var/log on web"),
    ],
)
def test_alerts_that_differ_in_one_sign_are_never_taken_for_one(one: str, other: str) -> None:
    apart = {"attachments": [{"text": one}, {"text": other}]}
    assert message_text(apart) == f"{one}\n{other}"
    together = {"attachments": [{"title": one, "text": other, "fields": [{"value": one}]}]}
    assert message_text(together) == f"{one}\n{other}\n{one}"


def test_items_are_the_same_whatever_sign_they_begin_with() -> None:
    attachment = {"text": "- web-1 is down\n- web-2 is down"}
    text = "• web-1 is down\n• web-2 is down"
    assert message_text({"text": text, "attachments": [attachment]}) == text


def test_the_address_of_what_is_folded_is_shown_once_and_where_its_words_are() -> None:
    feed = {"title": "API is slow", "title_link": "https://st.test/1", "text": "We look into it."}
    message = {"text": "<https://st.test/1|API is slow>", "attachments": [feed]}
    assert message_text(message) == "API is slow (https://st.test/1)\nWe look into it."


def test_code_stays_whole_though_one_of_its_lines_is_said_elsewhere() -> None:
    code = "```\nstep one\nERROR: exit code 1\n    at line 3\n```"
    attachment = {"title": "ERROR: exit code 1", "text": f"The log:\n{code}"}
    assert message_text({"attachments": [attachment]}).endswith(f"The log:\n{code}")
