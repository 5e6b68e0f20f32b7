"""The endpoints with which people and tests move the sandbox."""

import json
import time
from urllib.request import Request, urlopen

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.bot.sandbox.conftest import Json, Person, refused


def test_say_returns_the_events_as_slack_sends_them(person: Person) -> None:
    said = person.say("<@U0FOOTNOTE> is it &lt;5%?", channel="C0SHARED", user="U0EXTERNAL")
    message, mention = said["events"]
    assert message["event_id"] != mention["event_id"]
    assert message["is_ext_shared_channel"] is True
    assert message["authorizations"][0]["user_id"] == "U0FOOTNOTE"
    event = message["event"]
    client_msg_id = event.pop("client_msg_id")
    assert event == {
        "type": "message",
        "user": "U0EXTERNAL",
        "team": "T0OTHER",
        "user_team": "T0OTHER",
        "source_team": "T0OTHER",
        "text": "<@U0FOOTNOTE> is it &lt;5%?",
        "ts": said["ts"],
        "event_ts": said["ts"],
        "channel": "C0SHARED",
        "channel_type": "channel",
        "blocks": [
            {
                "type": "rich_text",
                "block_id": "typed",
                "elements": [
                    {
                        "type": "rich_text_section",
                        "elements": [
                            {"type": "user", "user_id": "U0FOOTNOTE"},
                            {"type": "text", "text": " is it <5%?"},
                        ],
                    }
                ],
            }
        ],
    }
    del event["channel_type"]
    assert mention["event"] == {**event, "type": "app_mention", "client_msg_id": client_msg_id}


def test_a_direct_message_is_no_mention(person: Person) -> None:
    said = person.say("@Footnote hi", channel="D0ENGINEER", user="U0ENGINEER")
    assert [body["event"]["type"] for body in said["events"]] == ["message"]
    assert said["events"][0]["event"]["channel_type"] == "im"


def test_typed_text_is_escaped_and_names_become_mentions(person: Person) -> None:
    said = person.say("@footnote a<b & see https://x.test/?a=1, mail@footnote.test", typed=True)
    assert said["events"][0]["event"]["text"] == (
        "<@U0FOOTNOTE> a&lt;b &amp; see <https://x.test/?a=1,> mail@footnote.test"
    )


def test_an_alert_bot_posts_attachments_without_text(person: Person) -> None:
    alert = {"title": "[FIRING:1] PaymentsDown", "text": "5xx 7%"}
    said = person.say("", bot="B0ALERTS", attachments=[alert])
    event = said["events"][0]["event"]
    assert (event["subtype"], event["bot_id"], event["attachments"]) == (
        "bot_message",
        "B0ALERTS",
        [alert],
    )
    assert "user" not in event


@pytest.mark.parametrize("bot", ["B0ALERTS", True, {"id": "B0ALERTS"}, {"bot_id": "B0ALERTS"}])
def test_a_bot_may_be_named_in_several_ways(person: Person, bot: object) -> None:
    event = person.post("say", {"channel": "C0GENERAL", "text": "x", "bot": bot})["events"][0]
    assert (event["event"]["bot_id"], event["event"]["username"]) == ("B0ALERTS", "Alerts")


def test_an_app_may_post_as_its_user(person: Person) -> None:
    event = person.say("x", user="U0ALERTS", bot="B0ALERTS")["events"][0]["event"]
    assert (event["user"], event["bot_id"]) == ("U0ALERTS", "B0ALERTS")
    assert "subtype" not in event


@pytest.mark.parametrize(
    "bot",
    [
        "U0SELF",
        {"user_id": "U0SELF"},
        {"user": "U0SELF", "bot_id": "B0SELF"},
        {"id": "B0SELF", "user_id": "U0SELF"},
    ],
)
def test_the_app_itself_may_be_named_in_several_ways(
    client: WebClient, person: Person, bot: object
) -> None:
    person.post("reset", {"bot": bot})
    assert client.auth_test()["user_id"] == "U0SELF"
    assert client.auth_test()["bot_id"] in ("B0SELF", "B0FOOTNOTE")


def test_a_direct_message_is_between_two(person: Person) -> None:
    said = person.say("hi", channel="D0ONCALL", user="U0ENGINEER")
    assert said["error"] == "not_in_channel"


def test_the_sample_alert_is_an_alert(person: Person) -> None:
    event = person.post("alert", {"channel": "C0INCIDENT"})["events"][0]["event"]
    assert event["subtype"] == "bot_message"
    assert "PaymentsSignatureFailures" in event["attachments"][0]["title"]


def test_files_broadcasts_edits_and_deletions_have_their_subtypes(person: Person) -> None:
    root = person.say("hello")
    shared = person.say("@Footnote look", files=[{"name": "a.log"}])
    assert [body["event"]["subtype"] for body in shared["events"]] == ["file_share", "file_share"]
    loud = person.say("loud", thread_ts=root["ts"], broadcast=True)
    assert loud["events"][0]["event"]["subtype"] == "thread_broadcast"
    place = {"channel": "C0GENERAL", "ts": root["ts"]}
    edited = person.post("edit", {**place, "text": "@Footnote hello"})["events"]
    assert [body["event"].get("subtype") for body in edited] == ["message_changed", None]
    assert edited[0]["event"]["previous_message"]["text"] == "hello"
    assert edited[1]["event"]["type"] == "app_mention"
    assert edited[1]["event"]["edited"]["user"] == "U0ONCALL"
    again = person.post("edit", {**place, "text": "@Footnote hello!"})["events"]
    assert [body["event"]["type"] for body in again] == ["message"]
    deleted = person.post("delete", place)["events"]
    assert deleted[0]["event"]["deleted_ts"] == root["ts"]


def test_reset_brings_other_people_places_and_threads(client: WebClient, person: Person) -> None:
    person.say("before")
    own = {"bot_id": "B0BOTSELF", "app_id": "A0BOTSELF"}
    person.post("reset", {
        "bot": {"user_id": "U0BOTSELF", **own},
        "team": {"id": "T0EXAMPLE", "name": "Example"},
        "channels": {"C0ONCALL": {"name": "oncall"}, "C0SHARED": {"is_ext_shared": True}},
        "threads": {"C0HELP/1764400001.000100": [
            {"type": "message", "user": "U0SAM", "text": "<@U0BOTSELF> how?",
             "ts": "1764400001.000100", "thread_ts": "1764400001.000100"},
            {"type": "message", "user": "U0BOTSELF", "text": "so", "ts": "1764400002.000100",
             "thread_ts": "1764400001.000100", **own},
        ]},
    })  # fmt: skip
    who = client.auth_test()
    assert (who["user_id"], who["bot_id"], who["team_id"]) == (
        "U0BOTSELF",
        "B0BOTSELF",
        "T0EXAMPLE",
    )
    assert person.get("messages?channel=C0GENERAL")["messages"] == []
    thread = client.conversations_replies(channel="C0HELP", ts="1764400001.000100")["messages"]
    assert [message["text"] for message in thread] == ["<@U0BOTSELF> how?", "so"]
    assert client.users_info(user="U0SAM")["user"]["name"] == "sam"
    place: Json = {"channel": "C0HELP", "ts": "1764400002.000100"}
    assert client.chat_update(**place, text="its own message, so it may")["ok"]


def test_given_changes_and_deletions_happen_to_the_message(
    client: WebClient, person: Person
) -> None:
    person.post("rules", {"ack_seconds": 0.01})
    event = {"type": "message", "user": "U0SAM", "channel": "C0ONCALL"}
    change = {**event, "subtype": "message_changed"}
    deletion = {**event, "subtype": "message_deleted"}
    for inner in (
        {**event, "ts": "1764400001.000100", "text": "one"},
        {**event, "ts": "1764400002.000100", "text": "two"},
        {**change, "ts": "9.9", "message": {"ts": "1764400001.000100", "text": "changed"}},
        {**deletion, "ts": "9.9", "deleted_ts": "1764400002.000100"},
        {**deletion, "ts": "9.9", "deleted_ts": "1764400003.000100"},
        {"type": "reaction_added", "item": {"channel": "C0ONCALL"}},
    ):
        body = {"type": "event_callback", "event": inner, "is_ext_shared_channel": True}
        person.post("event", body)
    history = client.conversations_history(channel="C0ONCALL")["messages"]
    assert [message["text"] for message in history] == ["changed"]
    assert client.conversations_info(channel="C0ONCALL")["channel"]["is_ext_shared"] is True


@pytest.mark.parametrize("shared", [True, False])
def test_a_given_change_brings_the_message_that_nobody_had_seen(
    shared: bool, client: WebClient, person: Person
) -> None:
    person.post("rules", {"ack_seconds": 0.01})
    ts = "1764400001.000100"
    message = {"type": "message", "user": "U0SAM", "ts": ts, "thread_ts": None, "text": "old"}
    change = {"type": "message", "subtype": "message_changed", "channel": "C0NEW", "ts": "9.9"}
    for now in ("junk", {}, message):
        body = {"type": "event_callback", "event": {**change, "message": now}}
        person.post("event", {**body, "is_ext_shared_channel": shared})
    [found] = client.conversations_replies(channel="C0NEW", ts=ts)["messages"]
    assert found["text"] == "old"
    assert client.chat_postMessage(channel="C0NEW", thread_ts=ts, text="an answer")["ok"]


@pytest.mark.parametrize(
    ("content_type", "body", "error"),
    [
        ("application/json", b"{", "invalid_json"),
        ("application/json", b"[]", "json_not_object"),
        ("text/plain", b"x", "invalid_post_type"),
        ("multipart/form-data", b"x", "invalid_form_data"),
        ("application/x-www-form-urlencoded", b"\xff", "invalid_form_data"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(
    person: Person, content_type: str, body: bytes, error: str
) -> None:
    headers = {"Content-Type": content_type, "Authorization": "Bearer xoxb-sandbox"}
    with urlopen(Request(person.url + "/api/api.test", body, headers)) as response:
        assert json.load(response) == {"ok": False, "error": error}


def test_ordered_failures_hit_the_next_calls_only(client: WebClient, person: Person) -> None:
    person.post("fail", {"method": "users.info", "error": "internal_error", "times": 2})
    args: Json = {"user": "U0ONCALL"}
    errors = [refused(client, "users.info", **args) for _ in range(2)]
    assert errors == ["internal_error"] * 2
    assert client.users_info(**args)["ok"]


def test_a_failure_may_be_a_status_a_limit_or_a_stall(client: WebClient, person: Person) -> None:
    person.post("fail", {"method": "auth.test", "retry_after": 7})
    with pytest.raises(SlackApiError) as caught:
        client.auth_test()
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "7"
    assert caught.value.response["error"] == "ratelimited"
    person.post("fail", {"method": "*", "status": 503})
    with pytest.raises(SlackApiError) as caught:
        client.auth_test()
    assert caught.value.response.status_code == 503
    person.post("fail", {"method": "auth.test", "delay": 0.2})
    begun = time.monotonic()
    assert client.auth_test()["ok"]
    assert time.monotonic() - begun >= 0.2


def test_every_call_is_listed_without_its_token(client: WebClient, person: Person) -> None:
    client.chat_postMessage(channel="C0GENERAL", text="hello")
    refused(client, "users.info", user="U0NEVER")
    calls = person.get("calls")["calls"]
    assert [call["method"] for call in calls] == ["chat.postMessage", "users.info"]
    assert calls[0]["args"] == {"channel": "C0GENERAL", "text": "hello"}
    assert calls[0]["response"]["ok"] is True
    assert calls[1]["response"] == {"ok": False, "error": "user_not_found"}
    assert abs(calls[0]["at"] - time.time()) < 60
    assert "xoxb" not in str(calls)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("say", {"channel": "C0NOWHERE", "user": "U0ONCALL", "text": "x"}),
        ("say", {"channel": "C0GENERAL", "user": "U0NOBODY", "text": "x"}),
        ("say", {"channel": "C0GENERAL", "user": "U0ONCALL", "text": "x", "thread_ts": "1.1"}),
        ("edit", {}),
        ("event", ["no body"]),
        ("fail", {"error": "x"}),
        ("rules", {"no_such_rule": 1}),
        ("click", {"user": "U0ONCALL", "action_id": "x"}),
        ("nonsense", {}),
        ("say", []),
    ],
)
def test_mistakes_are_answered_and_change_nothing(person: Person, name: str, body: object) -> None:
    assert person.post(name, body)["ok"] is False
    assert person.get("messages?channel=C0GENERAL")["messages"] == []


def test_half_a_character_is_refused_and_nothing_of_it_stays(person: Person) -> None:
    assert person.say("half: \ud83d")["error"] == "bad_request"
    assert all(
        "half" not in m["text"] for m in person.get("messages?channel=C0GENERAL")["messages"]
    )
