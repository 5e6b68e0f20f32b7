"""Messages of integrations, as text."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.reading.message import message_text

NAMES = {"U1": "ada"}
RICH = {"type": "rich_text_section", "elements": [{"type": "text", "text": "deep"}]}

FIRING = {
    "text": "",
    "attachments": [
        {
            "fallback": "[FIRING:1] DiskFull | https://am.test/1",
            "title": "[FIRING:1] DiskFull (db-1 &gt; 90%)",
            "title_link": "https://am.test/1?a=1&amp;b=2",
            "pretext": "<!channel>",
            "text": "Disk *full* on `db-1`",
            "fields": [{"title": "severity", "value": "page", "short": True}],
            "actions": [
                {"type": "button", "text": "Runbook", "url": "https://rb.test/disk"},
                {"type": "button", "text": "Silence", "value": '{"op":"silence"}'},
            ],
            "footer": "alertmanager",
        }
    ],
}


def test_an_alert_reads_in_the_order_in_which_it_is_shown() -> None:
    assert message_text(FIRING) == (
        "@channel\n"
        "[FIRING:1] DiskFull (db-1 > 90%) (https://am.test/1?a=1&b=2)\n"
        "Disk *full* on `db-1`\n"
        "severity: page\n"
        "Runbook: https://rb.test/disk\n"
        "alertmanager"
    )


def test_a_fallback_speaks_only_where_nothing_else_does() -> None:
    assert message_text({"attachments": [{"fallback": "Disk full"}]}) == "Disk full"
    assert message_text({"attachments": [{"fallback": "[no preview available]"}]}) == ""


def test_rich_text_keeps_lists_code_quotes_and_people() -> None:
    def section(*elements: dict[str, Any]) -> dict[str, Any]:
        return {"type": "rich_text_section", "elements": list(elements)}

    def words(text: str, **style: bool) -> dict[str, Any]:
        return {"type": "text", "text": text, "style": style}

    elements = [
        section(
            words("Ask "), {"type": "user", "user_id": "U1"}, {"type": "emoji", "name": "wave"}
        ),
        {
            "type": "rich_text_list",
            "style": "ordered",
            "elements": [section(words("drain", code=True))],
        },
        {
            "type": "rich_text_list",
            "style": "bullet",
            "indent": 1,
            "elements": [section({"type": "link", "url": "https://a.test", "text": "board"})],
        },
        {"type": "rich_text_preformatted", "elements": [words("a\n\n  b")]},
        {"type": "rich_text_quote", "elements": [words("said")]},
    ]
    message = {"blocks": [{"type": "rich_text", "elements": elements}]}
    assert message_text(message, NAMES.get) == (
        "Ask @ada:wave:\n1. `drain`\n  - board (https://a.test)\n```\na\n\n  b\n```\n> said"
    )


def test_a_shared_message_is_read_with_the_one_that_shares_it() -> None:
    shared = {"message_blocks": [{"message": {"text": "Disk full on db-1"}}]}
    assert message_text({"text": "look", "attachments": [shared]}) == "look\nDisk full on db-1"


def test_a_card_of_a_newer_kind_shows_its_texts() -> None:
    card = {
        "type": "card",
        "title": {"type": "mrkdwn", "text": "Incident 7"},
        "body": {"type": "mrkdwn", "text": "Checkout is down"},
        "actions": [
            {
                "type": "button",
                "text": {"type": "plain_text", "text": "Open"},
                "url": "https://a.test",
            }
        ],
    }
    assert message_text({"blocks": [card]}) == "Incident 7\nCheckout is down\nOpen: https://a.test"


def test_an_own_answer_reads_without_addresses_and_with_its_citations() -> None:
    words = [
        {"type": "text", "text": "Run "},
        {"type": "text", "text": "grep \\.", "style": {"code": True}},
        {"type": "text", "text": " "},
        {"type": "link", "url": "https://a.test/q_(1)#L1", "text": "[queues-1]"},
        {"type": "text", "text": ", 2 * 3."},
    ]
    section = {"type": "rich_text_section", "elements": words}
    message = {"blocks": [{"type": "rich_text", "elements": [section]}]}
    assert message_text(message, addresses=False) == "Run `grep \\.` [queues-1], 2 * 3."


def test_what_controls_show_is_read_with_the_address_of_each_menu_entry() -> None:
    entry = {"text": {"type": "plain_text", "text": "Open log"}, "url": "https://log.test/1"}
    name = {"type": "plain_text", "text": "Severity"}
    blocks = [
        {"type": "input", "label": name, "element": {"type": "x_input", "initial_value": "2"}},
        {"type": "actions", "elements": [{"type": "overflow", "options": [entry]}]},
        {
            "type": "data_table",
            "caption": "Queues",
            "rows": [[{"type": "raw_text", "text": "mail"}, {"type": "raw_text", "text": "9"}]],
        },
    ]
    assert message_text({"blocks": blocks}) == (
        "Severity: 2\nOpen log: https://log.test/1\nQueues\nmail | 9"
    )


def test_the_signs_around_a_monitors_markdown_are_left_out() -> None:
    attachment = {"title": "Errors", "text": "%%%\nRate is 7 %%% now\n%%%"}
    assert message_text({"attachments": [attachment]}) == "Errors\nRate is 7 %%% now"


@pytest.mark.parametrize("limit", [300, 4_000])
def test_what_is_too_long_keeps_titles_and_whole_addresses_and_says_what_it_left_out(
    limit: int,
) -> None:
    attachment = {
        "title": "[FIRING:900] DiskFull",
        "text": "\n".join(f"node-{n} is full" for n in range(900))
        + "\nrunbook_url = https://rb.test/disk",
        "actions": [{"type": "button", "text": "Silence", "url": "https://am.test/silence?x=1"}],
    }
    text = message_text({"attachments": [attachment]}, limit=limit)
    assert len(text) <= limit
    assert text.startswith("[FIRING:900] DiskFull\nnode-0 is full")
    assert "https://rb.test/disk" in text
    assert "https://am.test/silence?x=1" in text
    assert "\n[… " in text
    assert "characters left out …]\n" in text


KEYS = """text blocks attachments elements fields type title value url style actions files message
message_blocks fallback rows accessory alt_text user_id timestamp indent offset name
element label options initial_value initial_option caption"""
KINDS = """section rich_text rich_text_list rich_text_section table image button markdown header
user link date context mrkdwn input overflow static_select data_table"""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS.split()), inner | st.sampled_from(KINDS.split()), max_size=6
        )
    ),
    max_leaves=40,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(["text", "blocks", "attachments", "files"]), JSON))
def test_any_json_can_be_read_as_a_message(message: dict[str, Any]) -> None:
    text = message_text(message)
    assert len(text) <= 4_000


def test_blocks_nested_without_end_are_read_down_to_a_depth() -> None:
    block: Any = {"type": "section", "text": {"type": "mrkdwn", "text": "deepest"}}
    for _ in range(400):
        block = {"type": "container", "child_blocks": [block]}
    assert message_text({"text": "Outer", "blocks": [block]}) == "Outer"


def test_one_endless_line_is_cut_before_an_address_never_within() -> None:
    text = message_text({"text": "word " * 70 + "https://a.test/" + "x" * 5_000}, limit=400)
    assert text.startswith("word word")
    assert "https" not in text
    assert text.endswith(" characters left out …]\n")


def test_blocks_that_nobody_knows_are_searched_for_texts_but_not_for_what_a_click_shows() -> None:
    text = {"type": "mrkdwn", "text": "Pool at 98%"}
    hidden = {"type": "plain_text", "text": "Are you sure?"}
    blocks = [
        {"type": "gauge", "content": text, "confirm": {"text": hidden}, "name": "gauge-1"},
        {"type": "grid", "cells": [[{"text": "left"}], [{"text": "right"}]]},
        {"type": "rich_text", "elements": [{"type": "rich_text_new", "elements": [RICH]}]},
        {"type": "context_actions", "elements": [{"type": "icon_button", "text": hidden}]},
    ]
    assert message_text({"blocks": blocks}) == "Pool at 98%\nleft\nright\ndeep"


def test_the_choices_of_a_checklist_are_read_as_they_are_seen() -> None:
    page, fail = ({"text": {"type": "plain_text", "text": t}, "value": t} for t in ("Page", "Fail"))
    checklist = {"type": "checkboxes", "options": [page, fail], "initial_options": [page]}
    assert message_text({"blocks": [{"type": "actions", "elements": [checklist]}]}) == (
        "[x] Page\n[ ] Fail"
    )


@pytest.mark.parametrize("title", ["*Host*", "*Host:*", "*Host*:", "_Host_", "Host:"])
def test_a_field_keeps_its_title_and_its_value_on_one_line(title: str) -> None:
    field = {"type": "mrkdwn", "text": f"{title}\ndb-1"}
    assert message_text({"blocks": [{"type": "section", "fields": [field]}]}) == "Host: db-1"


def test_links_of_videos_and_sources_are_read() -> None:
    title = {"type": "plain_text", "text": "Replay"}
    source = {"type": "url", "url": "https://log.test/1", "text": "log"}
    blocks = [
        {"type": "video", "title": title, "title_url": "https://v.test/1"},
        {"type": "task_card", "title": "Drain", "sources": [source]},
    ]
    assert message_text({"blocks": blocks}) == (
        "Replay (https://v.test/1)\nDrain\nlog (https://log.test/1)"
    )


def test_an_email_is_read_and_a_snippet_as_far_as_slack_shows_it() -> None:
    email = {"title": "Disk full", "subject": "Disk full on db-1", "plain_text": "At 95 %."}
    snippet = {"name": "err.log", "preview": "panic\n  at <main>"}
    assert message_text({"text": "", "files": [email, snippet, {"name": "cpu.png"}]}) == (
        "[attached file: Disk full]\nDisk full on db-1\nAt 95 %.\n"
        "[attached file: err.log]\npanic\n  at <main>\n[attached file: cpu.png]"
    )


def test_what_nobody_sees_is_not_read() -> None:
    text = "Kube\u200bPod\u2060 \u202efull\u202c \U000e0068\U000e0069@\u200bhere 👩\u200d🚒 ✔\ufe0f"
    assert (
        message_text({"attachments": [{"title": text}]}) == "KubePod full @here 👩\u200d🚒 ✔\ufe0f"
    )


def test_a_runbook_link_survives_a_thousand_others_and_a_line_without_end() -> None:
    links = "\n".join(f"see https://g.test/d/{n}" for n in range(1_000))
    button = {"type": "button", "text": "Runbook", "url": "https://rb.test/x"}
    assert "https://rb.test/x" in message_text(
        {"attachments": [{"text": links, "actions": button}]}
    )
    line = '{"labels":"' + "x " * 9_000 + '","runbook_url":"https://rb.test/y"}'
    assert message_text({"text": line}).endswith('"runbook_url":"https://rb.test/y"}')


def test_a_long_field_leaves_room_for_the_others() -> None:
    trace = "\n".join(f"at frame {n}" for n in range(900))
    fields = [{"title": "Trace", "value": trace}, {"title": "Severity", "value": "page"}]
    text = message_text({"attachments": [{"title": "Crash", "fields": fields}]})
    assert text.startswith("Crash\nTrace: at frame 0\nat frame 1\n")
    assert "\n[… " in text
    assert text.endswith("\nSeverity: page")


def test_reading_takes_a_time_in_proportion_to_the_length() -> None:
    """Signs that many patterns begin with, forty thousand of each: were one of them tried from
    every sign to the end, this test would take minutes."""
    for sign in ("a", "aB", " ", "*", "_", ":a:", "<", "<@", "```\n", "a.", "https:"):
        field = {"type": "mrkdwn", "text": f"{sign * 40_000}\nx"}
        message = {"text": sign * 40_000, "blocks": [{"type": "section", "fields": [field]}]}
        assert len(message_text(message)) <= 4_000
