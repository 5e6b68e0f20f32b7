"""Slack's end of Socket Mode, where the test decides what each connection receives."""

import contextlib
import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

Json = dict[str, Any]
Script = Callable[[int, ServerConnection], None]


class Switchboard:
    """``script`` gets the connection's number and the connection, which closes when the script
    returns."""

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None) -> None:
        self._script = script
        self.opened = 0
        self.asked = 0
        self.refusals: list[tuple[int, bytes]] = []
        """Status and body for the next requests for a socket, instead of its address."""
        self._sockets = serve(
            self._serve, "127.0.0.1", 0, ssl=tls, ping_interval=None, compression=None
        )
        self.socket_port = int(self._sockets.socket.getsockname()[1])
        scheme = "wss" if tls else "ws"
        self.socket_url = f"{scheme}://127.0.0.1:{self.socket_port}/link/?ticket=1"
        board = self

        class Api(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                answer: Json = {
                    "ok": True,
                    "user_id": "U0FOOTNOTE",
                    "bot_id": "B0",
                    "team_id": "T0",
                }
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status = 200
                if self.path.endswith("apps.connections.open"):
                    board.asked += 1
                    answer = {"ok": True, "url": board.socket_url}
                body = json.dumps(answer).encode()
                if "url" in answer and board.refusals:
                    status, body = board.refusals.pop(0)
                self.send_response(status)
                if status == 429:
                    self.send_header("retry-after", "1")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # whoever asked has gone
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._api = ThreadingHTTPServer(("127.0.0.1", 0), Api)
        self.api_url = f"http://127.0.0.1:{self._api.server_address[1]}/api/"
        for serving in (self._sockets, self._api):
            threading.Thread(target=serving.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sockets.shutdown()
        self._api.shutdown()
        self._api.server_close()

    def _serve(self, connection: ServerConnection) -> None:
        self.opened += 1
        try:
            self._script(self.opened, connection)
        except ConnectionClosed:
            return


def say(connection: ServerConnection, **message: Any) -> None:
    connection.send(json.dumps(message))


def greet(connection: ServerConnection) -> None:
    say(connection, type="hello", num_connections=1)


def envelope(connection: ServerConnection, number: object) -> None:
    """A mention, as Slack wraps it."""
    event = {
        "type": "app_mention", "channel": "C0", "user": "U0", "ts": f"{number}.1", "text": "?",
    }  # fmt: skip
    payload = {"type": "event_callback", "team_id": "T0", "event_id": f"Ev{number}", "event": event}
    say(connection, type="events_api", envelope_id=str(number), payload=payload)


def acknowledged(connection: ServerConnection) -> str:
    """Id of the next envelope that the bot acknowledges on this connection."""
    return str(json.loads(connection.recv())["envelope_id"])
