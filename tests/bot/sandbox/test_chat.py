"""chat.*: what Slack takes, and what it refuses."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.sandbox.webapi.content import content
from bot.sandbox.workspace.refusal import Refusal
from tests.bot.sandbox.conftest import Person, refused
from tests.waiting import wait_for


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(text: str, action_id: str) -> dict[str, Any]:
    return {"type": "button", "text": {"type": "plain_text", "text": text}, "action_id": action_id}


BAD_MESSAGES: list[tuple[str, dict[str, Any], str]] = [
    ("nothing to show", {}, "no_text"),
    ("only white space", {"text": "  \n"}, "no_text"),
    ("an unknown channel", {"channel": "C0NOWHERE", "text": "x"}, "channel_not_found"),
    ("no channel", {"channel": "", "text": "x"}, "channel_not_found"),
    ("Markdown beside text", {"markdown_text": "x", "text": "y"}, "markdown_text_conflict"),
    ("Markdown beside blocks", {"markdown_text": "x", "blocks": [section("y")]},
     "markdown_text_conflict"),
    ("too much Markdown", {"markdown_text": "x" * 12_001}, "msg_too_long"),
    ("a thread nobody began", {"text": "x", "thread_ts": "1.000001"}, "thread_not_found"),
    ("blocks that are no list", {"blocks": "{}"}, "invalid_blocks_format"),
    ("blocks that are no JSON", {"blocks": "[", "text": "x"}, "invalid_blocks_format"),
    ("51 blocks", {"blocks": [section("x")] * 51}, "invalid_blocks"),
    ("an unknown block", {"blocks": [{"type": "marquee"}]}, "invalid_blocks"),
    ("an unknown key", {"blocks": [{**section("x"), "colour": "red"}]}, "invalid_blocks"),
    ("a block of a modal", {"blocks": [{"type": "input"}]}, "invalid_blocks"),
    ("an empty section", {"blocks": [section("")]}, "invalid_blocks"),
    ("a long section", {"blocks": [section("x" * 3_001)]}, "invalid_blocks"),
    ("a long field", {"blocks": [{"type": "section", "fields": [
        {"type": "mrkdwn", "text": "x" * 2_001}]}]}, "invalid_blocks"),
    ("a mrkdwn header", {"blocks": [{**section("x"), "type": "header"}]}, "invalid_blocks"),
    ("a long header", {"blocks": [{"type": "header", "text": {
        "type": "plain_text", "text": "x" * 151}}]}, "invalid_blocks"),
    ("an empty Markdown block", {"blocks": [{"type": "markdown", "text": ""}]}, "invalid_blocks"),
    ("Markdown over 12,000 in two blocks", {"blocks": [
        {"type": "markdown", "text": "x" * 7_000}] * 2}, "invalid_blocks"),
    ("sections over 13,200 together", {"blocks": [section("x" * 2_900)] * 5},
     "msg_blocks_too_long"),
    ("11 context elements", {"blocks": [{"type": "context", "elements": [
        {"type": "mrkdwn", "text": "x"}] * 11}]}, "invalid_blocks"),
    ("26 buttons", {"blocks": [{"type": "actions", "elements": [
        button("x", f"a{n}") for n in range(26)]}]}, "invalid_blocks"),
    ("a long button", {"blocks": [{"type": "actions", "elements": [button("x" * 76, "a")]}]},
     "invalid_blocks"),
    ("an action_id twice", {"blocks": [{"type": "actions", "elements": [
        button("x", "a"), button("y", "a")]}]}, "invalid_blocks"),
    ("a button to nowhere", {"blocks": [{"type": "actions", "elements": [
        {**button("x", "a"), "url": "javascript:alert(1)"}]}]}, "invalid_blocks"),
    ("a block_id twice", {"blocks": [{**section("x"), "block_id": "b"}] * 2}, "invalid_blocks"),
    ("two tables", {"blocks": [{"type": "table", "rows": [[
        {"type": "raw_text", "text": "x"}]]}] * 2}, "invalid_blocks"),
    ("feedback without a value", {"blocks": [{"type": "context_actions", "elements": [{
        "type": "feedback_buttons", "action_id": "f",
        "positive_button": {"text": {"type": "plain_text", "text": "+"}},
        "negative_button": {"text": {"type": "plain_text", "text": "-"}, "value": "n"}}]}]},
     "invalid_blocks"),
    ("metadata without a type", {"text": "x", "metadata": {"event_payload": {}}},
     "invalid_metadata_schema"),
    ("nested lists in metadata", {"text": "x", "metadata": {
        "event_type": "t", "event_payload": {"a": [[1]]}}}, "invalid_metadata_schema"),
    ("metadata that is a list", {"text": "x", "metadata": []}, "invalid_metadata_format"),
    ("large metadata", {"text": "x", "metadata": {
        "event_type": "t", "event_payload": {"a": "x" * 8_000}}}, "metadata_too_large"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "args", "error"), BAD_MESSAGES, ids=[b[0] for b in BAD_MESSAGES])
def test_refuses(client: WebClient, case: str, args: dict[str, Any], error: str) -> None:
    """postMessage refuses this content with Slack's own error and posts nothing."""
    assert refused(client, "chat.postMessage", **{"channel": "C0GENERAL", **args}) == error
    assert client.conversations_history(channel="C0GENERAL")["messages"] == []


def test_says_where_in_the_blocks_the_mistake_is(client: WebClient) -> None:
    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel="C0GENERAL", text="x", blocks=[section("x"), section("")])
    assert caught.value.response["errors"] == [
        "must be more than 0 characters [json-pointer:/blocks/1]"
    ]


def test_takes_a_full_reply_and_hands_it_back(client: WebClient, person: Person) -> None:
    root = person.say("@Footnote hello", channel="C0INCIDENT")
    blocks: list[dict[str, Any]] = [
        {"type": "markdown", "text": "See [\\[runbook-0\\]](https://docs.example.com/r#L1)."},
        {"type": "context_actions", "elements": [{
            "type": "feedback_buttons", "action_id": "feedback",
            "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "up"},
            "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "down"},
        }]},
    ]  # fmt: skip
    posted = client.chat_postMessage(
        channel="C0INCIDENT",
        thread_ts=root["ts"],
        text="See runbook-0",
        blocks=blocks,
        metadata={"event_type": "answer", "event_payload": {"id": "a1", "chunks": [{"id": "r"}]}},
        unfurl_links=False,
    )
    bare = client.conversations_replies(channel="C0INCIDENT", ts=root["ts"])["messages"]
    full = client.conversations_replies(
        channel="C0INCIDENT", ts=root["ts"], include_all_metadata=True
    )["messages"]
    assert [message["ts"] for message in full] == [root["ts"], posted["ts"]]
    assert full[0]["reply_count"] == 1
    assert "metadata" not in bare[1]
    assert full[1]["metadata"]["event_payload"]["id"] == "a1"
    assert full[1]["parent_user_id"] == "U0ONCALL"
    assert [block["type"] for block in full[1]["blocks"]] == ["rich_text", "context_actions"]
    assert full[1]["blocks"][0]["elements"][0]["elements"] == [
        {"type": "text", "text": "See "},
        {"type": "link", "url": "https://docs.example.com/r#L1", "text": "[runbook-0]"},
        {"type": "text", "text": "."},
    ]
    as_sent = person.get("messages?channel=C0INCIDENT")["messages"][1]
    assert as_sent["blocks"][0]["text"] == blocks[0]["text"]


def test_arguments_come_as_json_form_or_multipart(client: WebClient) -> None:
    blocks = json.dumps([section("x")])
    client.api_call("chat.postMessage", json={"channel": "C0GENERAL", "blocks": [section("x")]})
    client.api_call("chat.postMessage", params={"channel": "C0GENERAL", "blocks": blocks})
    client.api_call(
        "chat.postMessage", data={"channel": "C0GENERAL", "blocks": blocks}, files={"f": b"x"}
    )
    messages = client.conversations_history(channel="C0GENERAL")["messages"]
    assert [message["blocks"][0]["text"]["text"] for message in messages] == ["x", "x", "x"]


def test_a_reply_goes_under_the_root_and_nowhere_else(client: WebClient, person: Person) -> None:
    root = person.say("a question")
    reply = client.chat_postMessage(channel="C0GENERAL", thread_ts=root["ts"], text="an answer")
    error = refused(
        client, "chat.postMessage", channel="C0GENERAL", thread_ts=reply["ts"], text="x"
    )
    assert error == "cannot_reply_to_message"


def test_update_changes_own_messages_only(client: WebClient, person: Person) -> None:
    own = client.chat_postMessage(channel="C0GENERAL", text="a", blocks=[section("a")])
    updated = client.chat_update(channel="C0GENERAL", ts=own["ts"], text="b")
    assert updated["message"]["text"] == "b"
    assert "blocks" not in updated["message"]
    place = {"channel": "C0GENERAL", "ts": own["ts"]}
    assert refused(client, "chat.update", **place, text="x" * 4_001) == "msg_too_long"
    assert refused(client, "chat.update", **{**place, "ts": "1.1"}, text="x") == "message_not_found"
    other = person.say("not yours")
    place["ts"] = other["ts"]
    assert refused(client, "chat.update", **place, text="x") == "cant_update_message"
    assert refused(client, "chat.delete", **place) == "cant_delete_message"


def test_a_deleted_root_leaves_a_tombstone_with_its_replies(
    client: WebClient, person: Person
) -> None:
    root = client.chat_postMessage(channel="C0GENERAL", text="root")
    person.say("reply", thread_ts=root["ts"])
    client.chat_delete(channel="C0GENERAL", ts=root["ts"])
    thread = client.conversations_replies(channel="C0GENERAL", ts=root["ts"])["messages"]
    assert [message.get("subtype") for message in thread] == ["tombstone", None]


def test_an_ephemeral_message_is_seen_by_one_and_is_not_in_the_thread(
    client: WebClient, person: Person
) -> None:
    root = person.say("hello")
    client.chat_postEphemeral(
        channel="C0GENERAL", user="U0ONCALL", text="only you", thread_ts=root["ts"]
    )
    thread = client.conversations_replies(channel="C0GENERAL", ts=root["ts"])["messages"]
    assert [message["text"] for message in thread] == ["hello"]
    assert person.get("messages?channel=C0GENERAL")["messages"][1]["_viewer"] == "U0ONCALL"
    ghost = {"channel": "C0GENERAL", "user": "U0NOBODY", "text": "x"}
    assert refused(client, "chat.postEphemeral", **ghost) == "user_not_found"
    far = {"channel": "C0GENERAL", "user": "U0EXTERNAL", "text": "x"}
    assert refused(client, "chat.postEphemeral", **far) == "user_not_in_channel"


def test_permalinks_name_the_thread_of_a_reply(client: WebClient, person: Person) -> None:
    root = person.say("hello")["ts"]
    reply = client.chat_postMessage(channel="C0GENERAL", text="x", thread_ts=root)["ts"]
    link = client.chat_getPermalink(channel="C0GENERAL", message_ts=reply)["permalink"]
    packed = reply.replace(".", "")
    assert link == (
        f"https://sandbox.slack.com/archives/C0GENERAL/p{packed}?thread_ts={root}&cid=C0GENERAL"
    )


def test_archived_and_foreign_places_cannot_be_written_to(
    client: WebClient, person: Person
) -> None:
    person.post("reset", {"channels": {
        "C0OLD": {"is_archived": True},
        "C0OTHER": {"is_member": False},
        "C0SECRET": {"is_member": False, "is_private": True},
    }})  # fmt: skip
    errors = {
        channel: refused(client, "chat.postMessage", channel=channel, text="x")
        for channel in ("C0OLD", "C0OTHER", "C0SECRET")
    }
    assert errors == {
        "C0OLD": "is_archived",
        "C0OTHER": "not_in_channel",
        "C0SECRET": "channel_not_found",
    }


def test_the_posting_limit_answers_429_with_retry_after(client: WebClient, person: Person) -> None:
    person.post("rules", {"posting_limit": True})
    for _ in range(3):
        client.chat_postMessage(channel="C0GENERAL", text="x")
    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel="C0GENERAL", text="x")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "1"
    assert len(person.get("messages?channel=C0GENERAL")["messages"]) == 3
    wait_for(lambda: client.chat_postMessage(channel="C0INCIDENT", text="elsewhere")["ok"])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "text", "elements", "fields", "rows", "accessory", "url", "block_id"]
                ),
                inner
                | st.sampled_from(
                    ["section", "actions", "context", "markdown", "table", "rich_text", "button"]
                ),
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_blocks_are_taken_or_refused_and_never_break_the_server(blocks: Any) -> None:
    args = {"channel": "C0GENERAL", "text": "x", "blocks": [blocks]}
    try:
        content(args)
    except Refusal as refusal:
        assert refusal.error.startswith(("invalid_blocks", "msg_"))  # noqa: PT017 - either is right
