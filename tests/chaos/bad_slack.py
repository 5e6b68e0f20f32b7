"""Slack's Web API and sockets behind a bad line: calls in, late, lost or refused responses out."""

import fnmatch
import http.client
import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

from tests.fakes.bad_line import BadLine

FORWARDED = ("authorization", "content-type")


@dataclass(frozen=True)
class Trouble:
    """What happens to calls of a method, or of all that fit a pattern such as ``chat.*``.

    ``status``: the line answers in Slack's place; ``hang``: nothing for ``seconds``, then the
    connection ends; ``cut``: it ends at once; ``lost``: Slack carries the call out, but its
    response never comes; ``late``: it comes ``seconds`` later.
    """

    method: str = "*"
    how: Literal["status", "hang", "cut", "lost", "late"] = "status"
    status: int = 200
    error: str = "internal_error"
    retry_after: int | None = None
    page: str = ""
    """HTML page instead of Slack's JSON."""
    seconds: float = 30.0
    share: float = 1.0
    """Share of the calls."""
    channel: str = ""
    """Only calls whose body names this channel."""

    def concerns(self, method: str, body: str) -> bool:
        fits = fnmatch.fnmatchcase(method, self.method) and self.channel in body
        return fits and random.random() < self.share


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a bot that was killed during its call."""


class BadSlack:
    """Stands between a bot and the sandbox. Without troubles, everything passes."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.troubles: tuple[Trouble, ...] = ()
        self.sockets = BadLine(port)
        self.sockets_asked = 0
        """Number of requests for the address of a socket."""
        self.closing = threading.Event()
        line = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                line.serve(self, body)

            do_GET = do_POST

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

        self._http = _Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/api/"

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self.sockets.__exit__(None, None, None)

    @contextmanager
    def in_trouble(self, *troubles: Trouble) -> Iterator[None]:
        self.troubles = troubles
        try:
            yield
        finally:
            self.troubles = ()

    def serve(self, call: BaseHTTPRequestHandler, body: bytes) -> None:
        call.close_connection = True
        method = call.path.partition("?")[0].rsplit("/", 1)[-1]
        text = body.decode("latin-1")
        trouble = next((t for t in self.troubles if t.concerns(method, text)), None)
        how = trouble.how if trouble else ""
        if trouble and how == "status":
            self._refuse(call, trouble)
            return
        if trouble and how == "hang":
            self.closing.wait(trouble.seconds)
        if how in ("hang", "cut"):
            return
        status, kind, answer, retry_after = self._forward(call, body)
        if method == "apps.connections.open":
            # The WebSocket runs over a line that can be cut.
            self.sockets_asked += 1
            own = f":{self.sockets.port}/".encode()
            answer = answer.replace(f":{self.port}/".encode(), own)
        if how == "lost":
            return
        if trouble and how == "late":
            self.closing.wait(trouble.seconds)
        _send(call, status, kind, answer, retry_after)

    def _forward(
        self, call: BaseHTTPRequestHandler, body: bytes
    ) -> tuple[int, str, bytes, str | None]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            headers = {name: call.headers[name] for name in FORWARDED if name in call.headers}
            connection.request(call.command, call.path, body, headers)
            response = connection.getresponse()
            kind = response.getheader("content-type", "application/json")
            return response.status, kind, response.read(), response.getheader("retry-after")
        finally:
            connection.close()

    @staticmethod
    def _refuse(call: BaseHTTPRequestHandler, trouble: Trouble) -> None:
        retry_after = None if trouble.retry_after is None else str(trouble.retry_after)
        if trouble.page:
            _send(call, trouble.status, "text/html", trouble.page.encode(), retry_after)
            return
        answer = json.dumps({"ok": False, "error": trouble.error}).encode()
        _send(call, trouble.status, "application/json", answer, retry_after)


def _send(
    call: BaseHTTPRequestHandler, status: int, kind: str, body: bytes, retry_after: str | None
) -> None:
    with suppress(OSError):
        call.send_response(status)
        call.send_header("Content-Type", kind)
        if retry_after is not None:
            call.send_header("Retry-After", retry_after)
        call.send_header("Connection", "close")
        call.send_header("Content-Length", str(len(body)))
        call.end_headers()
        call.wfile.write(body)
