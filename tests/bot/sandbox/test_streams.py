"""chat.startStream and its kin, through the SDK's own chat_stream."""

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.models.messages.chunk import TaskUpdateChunk

from tests.bot.sandbox.conftest import Json, Person, refused

RECIPIENT: Json = {"recipient_team_id": "T0SANDBOX", "recipient_user_id": "U0ONCALL"}


@pytest.fixture
def thread(person: Person) -> Json:
    """Where to stream."""
    return {"channel": "C0INCIDENT", "thread_ts": person.say("hi", channel="C0INCIDENT")["ts"]}


def test_the_sdk_streams_a_reply_with_tasks_and_closing_blocks(
    client: WebClient, person: Person, thread: Json
) -> None:
    stream = client.chat_stream(**thread, **RECIPIENT, buffer_size=4)
    stream.append(markdown_text="First **part**. ")
    stream.append(chunks=[TaskUpdateChunk(id="t", title="Searching", status="in_progress")])
    stream.append(markdown_text="Second part.")
    footer = {"type": "context", "elements": [{"type": "mrkdwn", "text": "generated"}]}
    stopped = stream.stop(
        blocks=[footer], metadata={"event_type": "answer", "event_payload": {"id": "a"}}
    )
    assert stopped["message"]["text"] == "First **part**. Second part."
    message = person.get(f"messages?channel=C0INCIDENT&thread_ts={thread['thread_ts']}")["messages"]
    assert [block["type"] for block in message[1]["blocks"]] == ["markdown", "context"]
    assert message[1]["blocks"][0]["text"] == "First **part**. Second part."


def test_a_stream_in_a_channel_names_its_reader(client: WebClient, thread: Json) -> None:
    team = {"recipient_team_id": "T0SANDBOX"}
    assert refused(client, "chat.startStream", **thread) == "missing_recipient_team_id"
    assert refused(client, "chat.startStream", **thread, **team) == "missing_recipient_user_id"


def test_a_direct_message_needs_no_reader(client: WebClient, person: Person) -> None:
    root = person.say("hi", channel="D0ONCALL")
    assert client.chat_startStream(channel="D0ONCALL", thread_ts=root["ts"])["ok"]


def test_while_it_streams_it_is_not_updated_and_afterwards_not_appended(
    client: WebClient, thread: Json
) -> None:
    started = client.chat_startStream(**thread, **RECIPIENT, markdown_text="a")
    place = {"channel": "C0INCIDENT", "ts": started["ts"]}
    assert refused(client, "chat.update", **place, text="b") == "streaming_state_conflict"
    client.chat_stopStream(**place)
    error = refused(client, "chat.appendStream", **place, markdown_text="c")
    assert error == "message_not_in_streaming_state"
    assert client.chat_update(**place, text="b")["ok"]


def test_a_stream_ends_by_itself(client: WebClient, person: Person, thread: Json) -> None:
    person.post("rules", {"stream_seconds": 0})
    started = client.chat_startStream(**thread, **RECIPIENT)
    with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
        client.chat_stopStream(channel="C0INCIDENT", ts=started["ts"])


def test_the_stop_button_ends_it_and_tells_the_app(
    client: WebClient, person: Person, thread: Json
) -> None:
    started = client.chat_startStream(**thread, **RECIPIENT, markdown_text="a")
    told = person.post("stop", {"user": "U0ONCALL", **thread})["events"]
    event = told[0]["event"]
    event.pop("event_ts")
    assert event == {
        "type": "agent_session_stopped",
        "channel": "C0INCIDENT",
        "thread_ts": thread["thread_ts"],
        "user": "U0ONCALL",
        "streaming_message_ts": [started["ts"]],
    }
    place = {"channel": "C0INCIDENT", "ts": started["ts"]}
    assert refused(client, "chat.appendStream", **place, markdown_text="b") == "stopped_by_user"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"chunks": [{"type": "song"}]}, "invalid_chunks"),
        ({"chunks": [{"type": "task_update", "id": "1", "status": "late"}]}, "invalid_chunks"),
        (
            {"chunks": [{"type": "markdown_text", "text": "x"}], "markdown_text": "y"},
            "markdown_text_conflict",
        ),
        ({}, "no_text"),
    ],
)
def test_refuses_these_chunks(client: WebClient, thread: Json, args: Json, error: str) -> None:
    started = client.chat_startStream(**thread, **RECIPIENT)
    place = {"channel": "C0INCIDENT", "ts": started["ts"]}
    assert refused(client, "chat.appendStream", **place, **args) == error


def test_only_the_apps_own_messages_stream(client: WebClient, thread: Json) -> None:
    place = {"channel": "C0INCIDENT", "ts": thread["thread_ts"]}
    error = refused(client, "chat.appendStream", **place, markdown_text="x")
    assert error == "message_not_owned_by_app"
