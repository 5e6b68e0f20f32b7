"""Deliveries that go wrong, by socket and by HTTP."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.request import BoltRequest
from slack_sdk import WebClient
from websockets.sync.client import connect

from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from tests.bot.sandbox.conftest import Json, Person
from tests.bot.stage import patient_rules
from tests.waiting import PATIENCE, wait_for


@pytest.fixture
def dial(sandbox: Sandbox) -> Callable[[], Any]:
    """A bare connection, for what a well-behaved client never does."""
    client = WebClient(base_url=sandbox.api_url)

    def open_one() -> Any:
        return connect(client.apps_connections_open(app_token="xapp-sandbox")["url"])

    return open_one


def test_without_an_ack_the_same_event_comes_again(person: Person, dial: Callable[[], Any]) -> None:
    person.post("rules", {"ack_seconds": 0.05})
    with dial() as socket:
        assert json.loads(socket.recv())["type"] == "hello"
        person.say("hello")
        envelopes = [json.loads(socket.recv(timeout=PATIENCE)) for _ in range(4)]
        assert [e["retry_attempt"] for e in envelopes] == [0, 1, 2, 3]
        assert [e["retry_reason"] for e in envelopes] == ["", "timeout", "timeout", "timeout"]
        assert len({e["envelope_id"] for e in envelopes}) == 4
        assert len({e["payload"]["event_id"] for e in envelopes}) == 1
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.3)


def test_an_ack_ends_it(sandbox: Sandbox, person: Person, dial: Callable[[], Any]) -> None:
    with dial() as socket:
        socket.recv()
        person.say("hello")
        envelope = json.loads(socket.recv(timeout=PATIENCE))
        assert sandbox.slack.delivery.under_way
        socket.send(json.dumps({"envelope_id": envelope["envelope_id"]}))
        wait_for(lambda: not sandbox.slack.delivery.under_way)
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.3)


def test_a_lost_connection_hands_its_events_to_the_next(
    person: Person, dial: Callable[[], Any]
) -> None:
    with dial() as socket:
        socket.recv()
        person.say("hello")
        first = json.loads(socket.recv(timeout=PATIENCE))
    with dial() as socket:
        socket.recv()
        again = json.loads(socket.recv(timeout=PATIENCE))
        assert again["payload"] == first["payload"]
        assert again["retry_attempt"] == 1


def test_what_is_said_before_anybody_connects_waits(
    person: Person, dial: Callable[[], Any]
) -> None:
    said = person.say("@Footnote early")
    with dial() as socket:
        socket.recv()
        got = [json.loads(socket.recv(timeout=PATIENCE))["payload"] for _ in range(2)]
    assert got == said["events"]


def test_without_a_connection_nothing_is_delivered_and_a_click_fails(
    client: WebClient, person: Person, dial: Callable[[], Any]
) -> None:
    person.post("rules", {"ack_seconds": 0.05})
    event = {"type": "message", "channel": "C0GENERAL", "user": "U0ONCALL", "ts": "1764400001.1"}
    body = {"type": "event_callback", "event_id": "Ev1", "event": event}
    assert person.post("event", body) == {"delivered": 0}
    command = {"user": "U0ONCALL", "channel": "C0GENERAL", "text": "anyone?"}
    answer = person.post("command", command)
    assert (answer["acked"], answer["reason"]) == (False, "timeout")
    with dial() as socket:
        socket.recv()
        assert json.loads(socket.recv(timeout=PATIENCE))["payload"] == body


def test_given_events_arrive_as_given_and_in_order(
    client: WebClient, person: Person, dial: Callable[[], Any]
) -> None:
    event = {"type": "message", "user": "U0SAM", "text": "hi <@U0KIM>", "channel": "C0ONCALL",
             "ts": "1764400001.000100", "event_ts": "1764400001.000100"}  # fmt: skip
    body = {"type": "event_callback", "event_id": "Ev1", "team_id": "T0EXAMPLE", "event": event}
    given = [body, {**body, "retry_num": 2, "retry_reason": "http_error"}, {**body, "odd": [1]}]
    with dial() as socket:
        socket.recv()
        assert person.post("event", given) == {"delivered": 3}
        got = [json.loads(socket.recv(timeout=PATIENCE)) for _ in given]
    assert [e["payload"] for e in got] == [body, body, {**body, "odd": [1]}]
    assert [e["retry_attempt"] for e in got] == [0, 2, 0]
    thread = client.conversations_replies(channel="C0ONCALL", ts=event["ts"])["messages"]
    assert [message["text"] for message in thread] == ["hi <@U0KIM>"]
    assert client.users_info(user="U0KIM")["user"]["name"] == "kim"


def test_the_bots_own_posts_come_back_as_messages_of_a_bot(
    client: WebClient, dial: Callable[[], Any]
) -> None:
    with dial() as socket:
        socket.recv()
        metadata = {"event_type": "answer", "event_payload": {"id": "a1"}}
        client.chat_postMessage(channel="C0GENERAL", text="mine", metadata=metadata)
        event = json.loads(socket.recv(timeout=PATIENCE))["payload"]["event"]
    assert (event["type"], event["user"], event["bot_id"]) == (
        "message",
        "U0FOOTNOTE",
        "B0FOOTNOTE",
    )
    assert event["metadata"] == {"event_type": "answer"}


def test_a_ticket_opens_one_connection(sandbox: Sandbox, dial: Callable[[], Any]) -> None:
    client = WebClient(base_url=sandbox.api_url)
    url = client.apps_connections_open(app_token="xapp-sandbox")["url"]
    with connect(url), pytest.raises(Exception, match="403"):
        connect(url)


@pytest.mark.parametrize(
    ("order", "effect"),
    [({}, {"asked": 1}), ({"drop": True}, {"dropped": 1})],
    ids=["refresh", "cut"],
)
def test_after_a_refresh_or_a_cut_the_bolt_app_comes_back(
    app: App, connected: SocketModeHandler, person: Person, order: Json, effect: Json
) -> None:
    seen: list[str] = []

    @app.event("message")
    def message(event: Json) -> None:
        seen.append(event["text"])

    person.say("before")
    wait_for(lambda: seen == ["before"])
    assert person.post("disconnect", order) == effect
    person.say("after")
    # What the app had not acknowledged before the cut is delivered again.
    wait_for(lambda: "after" in seen)


class Endpoint(BaseHTTPRequestHandler):
    """The events endpoint of a Bolt app."""

    app: App
    fails_at_first: bool = False
    """Every delivery but those that are made again."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if Endpoint.fails_at_first and "X-Slack-Retry-Num" not in self.headers:
            self.send_error(500)
            return
        headers: Json = {key: [value] for key, value in self.headers.items()}
        answer = self.app.dispatch(BoltRequest(body=raw, headers=headers))
        self.send_response(answer.status)
        self.end_headers()
        self.wfile.write(answer.body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def by_http() -> Iterator[tuple[App, Person]]:
    """A sandbox and a Bolt app that checks signatures, each knowing the other's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    sandbox = Sandbox(
        events_url=f"http://127.0.0.1:{server.server_port}/slack/events",
        manifest=Manifest(),
        rules=patient_rules(retry_delays=[0.0, 0.05, 0.05]),
    )
    sandbox.start()
    client = WebClient(token="xoxb-sandbox", base_url=sandbox.api_url)
    Endpoint.app = App(client=client, signing_secret="sandbox")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield Endpoint.app, Person(sandbox.url)
    server.shutdown()
    thread.join()
    server.server_close()
    sandbox.stop()


def test_events_commands_and_buttons_arrive_signed(by_http: tuple[App, Person]) -> None:
    app, person = by_http
    seen: list[Json] = []

    @app.event("app_mention")
    def mention(event: Json, client: WebClient, request: BoltRequest) -> None:
        seen.append(dict(request.headers))
        client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="yes")

    @app.event("message")
    def message() -> None:
        pass

    @app.command("/footnote")
    def command(ack: Any, command: Json) -> None:
        ack(command["text"].upper())

    Endpoint.fails_at_first = True
    said = person.say("@Footnote there?")
    place = f"messages?channel=C0GENERAL&thread_ts={said['ts']}"
    wait_for(lambda: len(person.get(place)["messages"]) == 2)
    Endpoint.fails_at_first = False
    assert seen[0]["x-slack-retry-num"] == ["1"]
    assert seen[0]["x-slack-retry-reason"] == ["http_error"]
    person.post("command", {"user": "U0ONCALL", "channel": "C0GENERAL", "text": "loud"})
    assert person.get("messages?channel=C0GENERAL")["messages"][-1]["text"] == "LOUD"


def test_a_wrong_signature_is_refused_by_the_app(by_http: tuple[App, Person]) -> None:
    app, _ = by_http
    headers: Json = {
        "x-slack-signature": "v0=0",
        "x-slack-request-timestamp": str(int(time.time())),
    }
    assert app.dispatch(BoltRequest(body="{}", headers=headers)).status == 401
