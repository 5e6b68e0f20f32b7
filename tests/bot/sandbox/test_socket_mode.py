"""The real Bolt app over a real socket."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler

from bot.sandbox.server import Sandbox
from tests.bot.sandbox.conftest import Json, Person, wait_for


@pytest.fixture
def app(sandbox: Sandbox) -> App:
    from slack_sdk import WebClient

    return App(client=WebClient(token="xoxb-sandbox", base_url=sandbox.api_url))


@pytest.fixture
def connect(app: App, person: Person) -> Iterator[Callable[[], SocketModeHandler]]:
    opened: list[SocketModeHandler] = []

    def open_one() -> SocketModeHandler:
        handler = SocketModeHandler(app, "xapp-sandbox")
        before = person.get("state")["connections"]
        handler.connect()
        wait_for(lambda: person.get("state")["connections"] > before)
        opened.append(handler)
        return handler

    yield open_one
    for handler in opened:
        handler.close()


def test_mention_reaches_bolt_as_two_events_and_is_answered_in_its_thread(
    app: App, connect: Callable[[], SocketModeHandler], person: Person
) -> None:
    seen: list[Json] = []
    answered = threading.Event()

    @app.event("app_mention")
    def mention(event: Json, body: Json, client: Any) -> None:
        seen.append(body)
        client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="in a moment")
        answered.set()

    @app.event("message")
    def message(body: Json) -> None:
        seen.append(body)

    connect()
    said = person.say("@Footnote what does PAY-4031 mean?", channel="C0INCIDENT")
    assert answered.wait(5)
    wait_for(lambda: len(seen) == 2)
    assert {body["event"]["type"] for body in seen} == {"app_mention", "message"}
    assert len({body["event_id"] for body in seen}) == 2
    assert seen[0]["event"]["text"] == "<@U0FOOTNOTE> what does PAY-4031 mean?"
    thread = person.get(f"messages?channel=C0INCIDENT&thread_ts={said['ts']}")["messages"]
    assert [message["text"] for message in thread] == [
        "<@U0FOOTNOTE> what does PAY-4031 mean?",
        "in a moment",
    ]
