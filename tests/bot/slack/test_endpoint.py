"""Whoever may reach the events endpoint is heard only with Slack's signature, and costs little."""

import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
from slack_bolt import App
from slack_sdk import WebClient

from bot.answering.in_turn import InTurn
from bot.listeners.bolt import BoltListener, build_app
from bot.sandbox.server import Sandbox
from bot.slack.endpoint import listen
from tests.bot.stage import Json, Running, Script
from tests.waiting import PATIENCE, free_port, wait_for

CHALLENGE = '{"type": "url_verification", "challenge": "abc"}'


@pytest.fixture
def port(workspace: Sandbox, tmp_path: Path, script: Script) -> Iterator[int]:
    running = Running(workspace, tmp_path, script, signing_secret="sesame")
    port = free_port()
    close = listen(running.app, port)
    yield port
    close()
    running.stop()


def post(
    port: int, body: str | bytes, *, age: float = 0, kind: str = "application/json", **headers: str
) -> tuple[int, bytes]:
    """Status and answer; signed, as of ``age`` seconds ago, unless other headers are given."""
    data = body.encode() if isinstance(body, str) else body
    sent_at = str(int(time.time() - age))
    signed = hmac.new(b"sesame", f"v0:{sent_at}:".encode() + data, hashlib.sha256).hexdigest()
    signature = {"X-Slack-Request-Timestamp": sent_at, "X-Slack-Signature": f"v0={signed}"}
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(
            "POST", "/slack/events", data, {"Content-Type": kind, **signature, **given}
        )
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_many_events_of_one_channel_do_not_delay_one_of_another(workspace: Sandbox) -> None:
    listeners, gate, order = InTurn(1), threading.Event(), list[str]()

    def handle(event: Json) -> None:
        order.append(event["channel"])

    app = build_app(
        WebClient("xoxb-sandbox", workspace.api_url),
        lambda next: next(),
        [BoltListener("event", "message", handle)],
        signing_secret="sesame",
        executor=listeners,
    )
    port = free_port()
    close = listen(app, port)
    held = listeners.submit(gate.wait, PATIENCE)
    for channel in ("C1", "C1", "C1", "C2"):
        event = {"type": "message", "channel": channel, "user": "U1", "ts": "1.1", "text": "hi"}
        body = {"type": "event_callback", "team_id": "T0SANDBOX", "event": event}
        assert post(port, json.dumps(body))[0] == 200
    gate.set()
    assert held.result(PATIENCE)
    wait_for(lambda: len(order) == 4)
    close()
    listeners.shutdown()
    assert order == ["C1", "C2", "C1", "C1"]


def test_only_what_slack_signed_lately_is_heard(port: int) -> None:
    assert post(port, CHALLENGE) == (200, b'{"challenge": "abc"}')
    assert post(port, CHALLENGE, age=400)[0] == 401
    assert post(port, CHALLENGE, age=-400)[0] == 401
    assert post(port, CHALLENGE, X_Slack_Signature="v0=00")[0] == 401
    assert post(port, CHALLENGE, X_Slack_Signature="")[0] == 401


@pytest.mark.parametrize("sent_at", ["", " ", "soon", "1e9", "-5", "١٢٣", "9" * 5_000])
def test_a_time_that_is_none_is_turned_away(
    sent_at: str, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    sent_at = sent_at.encode().decode("latin-1")
    assert post(port, CHALLENGE, X_Slack_Request_Timestamp=sent_at)[0] == 401
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "signature", ["v0=é", "é" * 100, "v0=", "v1=" + "0" * 64, "v0=" + "G" * 64]
)
def test_a_signature_of_another_form_is_turned_away_without_a_word(
    signature: str, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert post(port, CHALLENGE, X_Slack_Signature=signature)[0] == 401
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "body", ["{{{", "[]", "1", "null", '"x"', "[" * 50_000, b"\xff\xfe", "", '{"event": []}']
)
@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
def test_what_cannot_be_read_is_turned_away_without_a_word(
    body: str | bytes, kind: str, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert 400 <= post(port, body, kind=kind, X_Slack_Signature="v0=00")[0] < 500
    form = b"payload=" + (body if isinstance(body, bytes) else body.encode())
    assert 400 <= post(port, form, kind=kind, X_Slack_Signature="v0=00")[0] < 500
    assert "Traceback" not in caplog.text


def test_a_request_that_is_too_large_is_refused(port: int) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": "400000000"}
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("POST", "/slack/events")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_when_it_is_closed_its_threads_end_and_its_port_is_free(workspace: Sandbox) -> None:
    client = WebClient(token="xoxb-sandbox", base_url=workspace.api_url)
    port, others = free_port(), threading.enumerate()
    close = listen(App(client=client, signing_secret="sesame"), port)
    own = [thread for thread in threading.enumerate() if thread not in others]
    assert post(port, CHALLENGE)[0] == 200
    close()
    wait_for(lambda: not any(thread.is_alive() for thread in own))
    with socket.create_server(("127.0.0.1", port)):
        pass


SLOW = {
    "idle": b"",
    "half a header": b"POST /slack/events HTTP/1.1\r\nHost: x\r\nX-A: ",
    "half a body": b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
    "asked once": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.fixture
def opened(port: int) -> Iterator[Callable[[bytes, int], list[socket.socket]]]:
    """Opens so many connections that send these bytes and no more."""
    sockets: list[socket.socket] = []

    def opened(data: bytes, count: int) -> list[socket.socket]:
        new = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
        sockets.extend(new)
        for each in new:
            with suppress(ConnectionError):
                each.sendall(data)
        return new

    yield opened
    for each in sockets:
        each.close()


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.01)
    try:
        while connection.recv(65_536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


@pytest.mark.parametrize("data", SLOW.values(), ids=SLOW)
def test_slack_is_heard_beside_more_slow_connections_than_the_server_keeps(
    data: bytes,
    port: int,
    opened: Callable[[bytes, int], list[socket.socket]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.slack.http_server.MOST_CONNECTIONS", 20)
    slow = opened(data, 60)
    for _ in range(3):
        assert post(port, CHALLENGE)[0] == 200
    wait_for(lambda: sum(map(is_closed, slow)) >= 40)
    assert not is_closed(slow[-1])


def test_a_request_that_grows_by_a_byte_now_and_then_is_cut_off(
    port: int,
    opened: Callable[[bytes, int], list[socket.socket]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.slack.http_server.WHOLE_WITHIN", 0.5)
    [idle] = opened(SLOW["asked once"], 1)
    [drip] = opened(SLOW["half a header"], 1)

    def is_cut_off() -> bool:
        with suppress(ConnectionError):
            drip.sendall(b"a")
        return is_closed(drip)

    wait_for(is_cut_off)
    assert not is_closed(idle)
