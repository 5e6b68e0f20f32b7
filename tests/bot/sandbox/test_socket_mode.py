"""The real Bolt app over a real socket."""

import threading

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from tests.bot.sandbox.conftest import Json, Person
from tests.waiting import PATIENCE, wait_for


def test_a_mention_reaches_bolt_as_two_events_and_is_answered_in_its_thread(
    app: App, connected: SocketModeHandler, person: Person
) -> None:
    seen: list[Json] = []
    answered = threading.Event()

    @app.event("app_mention")
    def mention(event: Json, body: Json, client: WebClient) -> None:
        seen.append(body)
        client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="in a moment")
        answered.set()

    @app.event("message")
    def message(body: Json) -> None:
        seen.append(body)

    said = person.say("@Footnote what does PAY-4031 mean?", channel="C0INCIDENT")
    assert answered.wait(PATIENCE)
    wait_for(lambda: len(seen) == 2)
    assert {body["event"]["type"] for body in seen} == {"app_mention", "message"}
    assert len({body["event_id"] for body in seen}) == 2
    assert seen[0]["event"]["text"] == "<@U0FOOTNOTE> what does PAY-4031 mean?"
    thread = person.get(f"messages?channel=C0INCIDENT&thread_ts={said['ts']}")["messages"]
    assert [message["text"] for message in thread] == [
        "<@U0FOOTNOTE> what does PAY-4031 mean?",
        "in a moment",
    ]
