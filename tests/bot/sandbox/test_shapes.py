"""Every key that the sandbox sends is one of real Slack's, with the same JSON type."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from slack_sdk import WebClient

from tests.bot.sandbox.conftest import Json, Person

FREE = {"event_payload", "state", "icons", "blocks"}
"""Maps whose keys are the app's own; blocks are too, and have their own rules."""


@cache
def sample(shared: Path, kind: str, name: str) -> Any:
    file = shared / "slack-shapes" / kind / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def api_sample(shared: Path, name: str) -> Json:
    """A method's answer; a message or a channel is one kind of object whatever method shows it.

    The samples are unions over recorded calls, and few calls were recorded of some methods: a
    message under reactions.get was never a reply, a channel in a list never shared.
    """
    found: Json = dict(sample(shared, "api", name))
    message = {
        **sample(shared, "api", "conversations.history")["messages"][0],
        **sample(shared, "api", "conversations.replies")["messages"][0],
    }
    channel = sample(shared, "api", "conversations.info")["channel"]
    if "message" in found:
        found["message"] = {**message, **found["message"]}
    if "messages" in found:
        found["messages"] = [{**message, **found["messages"][0]}]
    if name == "users.list":
        user = sample(shared, "api", "users.info")["user"]
        found["members"] = [{**user, **found["members"][0]}]
    if "channels" in found:
        found["channels"] = [{**channel, **found["channels"][0]}]
    return found


def event_sample(shared: Path, name: str) -> Json:
    """An event body; subtypes of message share what a plain message has."""
    found: Json = dict(sample(shared, "events", name))
    if found["event"]["type"] == "message":
        found["event"] = {**sample(shared, "events", "Message")["event"], **found["event"]}
    return found


def strangers(sent: Any, known: Any, path: str = "") -> Iterator[str]:
    """Paths of ``sent`` that ``known`` does not have, or has with another type."""
    if sent is None:
        return
    if isinstance(sent, dict) and isinstance(known, dict):
        for key, value in sent.items():
            if key not in known:
                yield f"{path}.{key}"
            elif key not in FREE:
                yield from strangers(value, known[key], f"{path}.{key}")
    elif isinstance(sent, list) and isinstance(known, list):
        for value in sent:
            yield from strangers(value, known[0] if known else None, f"{path}[]")
    elif type(sent) is not type(known) and not {type(sent), type(known)} <= {int, float}:
        yield f"{path}: {type(sent).__name__}, not {type(known).__name__}"


BLOCKS: list[Json] = [
    {"type": "markdown", "text": "**a** [b](https://c.test)\n\n- d\n\n```\ne\n```"},
    {"type": "context", "elements": [{"type": "mrkdwn", "text": "f"}]},
]
MODAL: Json = {
    "type": "modal",
    "title": {"type": "plain_text", "text": "T"},
    "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x"}}],
}


@pytest.fixture
def busy(client: WebClient, person: Person) -> Person:
    """A workspace in which every method was called once."""
    root = person.say("@Footnote hi", files=[{"name": "a.log"}])["ts"]
    place: Json = {"channel": "C0GENERAL", "thread_ts": root}
    posted = client.chat_postMessage(
        **place,
        text="x",
        blocks=BLOCKS,
        metadata={"event_type": "answer", "event_payload": {"id": "a"}},
        attachments=[{"text": "y", "fallback": "y"}],
    )
    client.chat_update(channel="C0GENERAL", ts=posted["ts"], text="y", blocks=BLOCKS)
    client.chat_postEphemeral(channel="C0GENERAL", user="U0ONCALL", text="z")
    client.chat_getPermalink(channel="C0GENERAL", message_ts=posted["ts"])
    client.reactions_add(channel="C0GENERAL", timestamp=root, name="eyes")
    client.reactions_get(channel="C0GENERAL", timestamp=root)
    client.conversations_replies(channel="C0GENERAL", ts=root, include_all_metadata=True)
    client.conversations_history(channel="C0GENERAL")
    client.conversations_list(types="public_channel,private_channel,im")
    for channel in ("C0GENERAL", "C0SHARED"):
        client.conversations_info(channel=channel)
    client.conversations_members(channel="C0GENERAL")
    client.conversations_open(users="U0ONCALL")
    for user in ("U0ONCALL", "U0EXTERNAL", "U0FOOTNOTE"):
        client.users_info(user=user)
    client.users_list()
    client.team_info()
    client.bots_info(bot="B0ALERTS")
    client.auth_test()
    client.apps_connections_open(app_token="xapp-sandbox")
    stream = client.chat_stream(
        **place, recipient_team_id="T0SANDBOX", recipient_user_id="U0ONCALL", buffer_size=1
    )
    stream.append(markdown_text="a")
    stream.append(markdown_text="b")
    stream.stop()
    thread: Json = {"channel_id": "C0GENERAL", "thread_ts": root}
    client.assistant_threads_setStatus(**thread, status="works")
    prompts = [{"title": "t", "message": "m"}]
    client.assistant_threads_setSuggestedPrompts(channel_id="D0ONCALL", prompts=prompts)
    client.views_publish(user_id="U0ONCALL", view={**MODAL, "type": "home"})
    client.chat_delete(channel="C0GENERAL", ts=posted["ts"])
    return person


def test_every_answer_has_slacks_shape(busy: Person, shared: Path) -> None:
    checked = set()
    found = set()
    for call in busy.get("calls")["calls"]:
        name = call["method"]
        checked.add(name)
        if name == "chat.stopStream":
            call["response"] = {"ok": call["response"]["ok"]}  # the sample is of an error
        found |= {f"{name}{one}" for one in strangers(call["response"], api_sample(shared, name))}
    assert sorted(found) == []
    missing = {file.stem for file in (shared / "slack-shapes" / "api").glob("*.json")} - checked
    assert missing == {"views.open", "views.update"}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Message", {}),
        ("AppMention", {"text": "@Footnote hi"}),
        ("MessageBot", {"bot": "B0ALERTS", "attachments": [{"title": "t", "text": "x"}]}),
        ("MessageFileShare", {"files": [{"name": "a.log"}]}),
    ],
)
def test_events_have_slacks_shape(person: Person, shared: Path, name: str, given: Json) -> None:
    said = person.say(**{"text": "hi", **given})
    assert list(strangers(said["events"][-1], event_sample(shared, name))) == []


def test_events_of_changes_have_slacks_shape(person: Person, shared: Path) -> None:
    ts = person.say("hi")["ts"]
    place = {"channel": "C0GENERAL", "ts": ts}
    reacted = {**place, "user": "U0ONCALL", "name": "eyes"}
    loud = person.say("loud", thread_ts=ts, broadcast=True)
    bodies = {
        "MessageThreadBroadcast": loud["events"][0],
        "MessageChanged": person.post("edit", {**place, "text": "ho"})["events"][0],
        "ReactionAdded": person.post("react", reacted)["events"][0],
        "MessageDeleted": person.post("delete", place)["events"][0],
        "AppHomeOpened": person.post("home", {"user": "U0ONCALL"})["events"][0],
    }
    found = {
        f"{name}{one}"
        for name, body in bodies.items()
        for one in strangers(body, event_sample(shared, name))
    }
    assert sorted(found) == []
