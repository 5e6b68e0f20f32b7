"""A strict stand-in for the Messages API: real HTTP on loopback, server-sent events, a script.

In a test::

    from anthropic import Anthropic
    from tests.fakes.messages_server import MessagesServer
    from tests.fakes.script import Broken, Fault, Stall, Text, Turn

    with MessagesServer([
        Turn(tools=[("search_docs", {"query": "PAY-4031"})], thinking=""),
        Turn(text="It means a low balance [payments-runbook-0]."),
    ]) as server:
        client = Anthropic(base_url=server.url, api_key="test", max_retries=0)
        ...
    server.requests[0].body["messages"]     # parsed;  .raw are the bytes as sent
    server.refused                          # what the server answered 400 to, with the reason

Each request takes the next step of the script. A step is

* ``Turn(text=, tools=, thinking=, stop=, ...)``: an assistant message, streamed or not as asked.
  ``Text("...", cites=["payments-runbook-0"])`` inside ``text`` gives native citations of a
  search_result of the request. ``stop=`` takes any stop reason, also one nobody knows;
  ``cut_tool=True`` breaks off inside the JSON of the last tool call with ``max_tokens``.
* ``Fault(status=429, retry_after=30)``: an HTTP error.
* ``Broken(turn, how="error"|"eof"|"reset"|"garbage", after=4)``: a stream that breaks.
* ``Stall(where="connect"|"first_byte"|"mid"|"pings", seconds=None)``: silence.
* a callable ``(Request) -> step``: a model that follows a rule. A callable instead of the list
  answers every request: ``MessagesServer(search_then_answer)``.

A request that the real API would refuse gets its 400 (and does not use up a step): see
``request_rules.py``. A thinking block must come back unmodified, and on the newest models with
the exact prefix it was made for. ``models.retrieve``, ``models.list`` and ``count_tokens`` answer
too. ``server.max_running`` tells how many requests were open at once.

By hand, for the bot or ``footnote ask``::

    python -m tests.fakes.messages_server --port 8766 [--script FILE.json]
    ANTHROPIC_BASE_URL=http://127.0.0.1:8766 ANTHROPIC_API_KEY=test footnote ask "..."

The file is a JSON list of steps: ``{"text": ..., "tools": [["search_docs", {...}]]}``,
``{"status": 529}``, ``{"stall": "mid"}``, ``{"broken": "eof"}``. Without one the model searches
with the question and answers with the first passage, cited.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from tests.fakes.model_rules import MODELS, ModelRules
from tests.fakes.model_sheet import model_sheet
from tests.fakes.prompt_cache import PromptCache
from tests.fakes.request_rules import problems, search_results
from tests.fakes.rule_followers import Request, search_then_answer
from tests.fakes.script import (
    Broken,
    Fault,
    Json,
    ScriptError,
    Stall,
    Step,
    Turn,
    content_blocks,
    error_type,
    stream_events,
)
from tests.fakes.thinking_ledger import ThinkingLedger

Rule = Callable[[Request], Step]
VERSIONS = ("2026-10-21", "2023-06-01")


@dataclass
class Refusal:
    """A request that was answered with 400, and why."""

    request: Request
    reason: str


@dataclass
class MessagesServer:
    """The server; a context manager."""

    script: Rule | Sequence[Step | Rule]
    api_key: str | None = None
    """When set, any other key is answered with 401."""
    port: int = 0
    models: dict[str, ModelRules] = field(default_factory=lambda: dict(MODELS))
    requests: list[Request] = field(default_factory=list)
    """Every request to /v1/messages, in order of arrival, refused ones included."""
    refused: list[Refusal] = field(default_factory=list)
    max_running: int = 0

    def __post_init__(self) -> None:
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.ledger = ThinkingLedger()
        self.cache = PromptCache()
        self.running = 0
        self._steps = 0
        self._http = _Http(("127.0.0.1", self.port), _Handler)
        self._http.fake = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def left(self) -> int:
        """Steps of the script that nobody asked for yet."""
        return 0 if callable(self.script) else len(self.script) - self._steps

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join()

    def next_step(self, request: Request) -> Step:
        with self.lock:
            number = self._steps
            if not callable(self.script) and number >= len(self.script):
                raise ScriptError(f"the script is over after {number} steps")
            self._steps += 1
        step = self.script if callable(self.script) else self.script[number]
        return step(request) if callable(step) else step


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    fake: MessagesServer

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.open: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End kept-alive connections, whose handlers would wait for another request."""
        for connection in list(self.open):
            with suppress(OSError):
                connection.shutdown(2)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is part of many tests; anything else is a bug to be seen."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Refuse(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: object) -> None:
        """Silence: the journal is ``MessagesServer.requests``."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        models = self.server.fake.models
        if path == "/v1/models":
            sheets = [model_sheet(rules) for rules in models.values()]
            self._json(200, {"data": sheets, "has_more": False, "first_id": None, "last_id": None})
        elif path.startswith("/v1/models/") and path.rsplit("/", 1)[1] in models:
            self._json(200, model_sheet(models[path.rsplit("/", 1)[1]]))
        else:
            self._error(404, path.rsplit("/", 1)[1])

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        fake = self.server.fake
        with fake.lock:
            fake.running += 1
            fake.max_running = max(fake.max_running, fake.running)
        try:
            self._post(raw)
        finally:
            with fake.lock:
                fake.running -= 1

    def _post(self, raw: bytes) -> None:
        fake = self.server.fake
        path = urlsplit(self.path).path
        try:
            body = json.loads(raw)
        except ValueError:
            self._error(400, "the request body is not valid JSON")
            return
        request = Request(raw=raw, body=body, headers=dict(self.headers.items()))
        if path == "/v1/messages/count_tokens":
            self._json(200, {"input_tokens": len(raw) // 4})
            return
        if path != "/v1/messages":
            self._error(404, "Not Found")
            return
        with fake.lock:
            fake.requests.append(request)
            number = len(fake.requests)
        try:
            rules = self._admit(request)
            step = fake.next_step(request)
            message = self._message(request, step, number, rules)
        except _Refuse as refusal:
            fake.refused.append(Refusal(request, str(refusal)))
            self._error(refusal.status, str(refusal))
        except ScriptError as error:
            fake.refused.append(Refusal(request, str(error)))
            self._error(400, f"script: {error}")
        else:
            self._play(step, message, bool(body.get("stream")))

    def _admit(self, request: Request) -> ModelRules:
        headers = self.headers
        fake = self.server.fake
        key = headers.get("x-api-key") or (headers.get("authorization") or "").removeprefix(
            "Bearer "
        )
        if not key or (fake.api_key is not None and key != fake.api_key):
            raise _Refuse(401, "invalid x-api-key")
        if headers.get("anthropic-version") not in VERSIONS:
            raise _Refuse(400, f"anthropic-version: must be one of {', '.join(VERSIONS)}")
        body = request.body
        if not isinstance(body, dict):
            raise _Refuse(400, "the request body must be an object")
        rules = fake.models.get(str(body.get("model")))
        if rules is None:
            raise _Refuse(404, f"model: {body.get('model')}")
        for reason in (*problems(body, rules), *fake.ledger.problems(body, rules)):
            raise _Refuse(400, reason)
        return rules

    def _message(self, request: Request, step: Step, number: int, rules: ModelRules) -> Json:
        """The complete message of a step; what a Fault would have said is never sent."""
        fake = self.server.fake
        turn = step if isinstance(step, Turn) else getattr(step, "turn", Turn(text="-"))
        body = request.body
        signature = fake.ledger.signature(body, number, turn.thinking)
        content = content_blocks(turn, number, signature, list(enumerate(search_results(body))))
        if not isinstance(step, Fault):
            fake.ledger.note(content)
        written = max(1, len(json.dumps(content)) // 4)
        usage = {**fake.cache.usage(body, rules.cache_minimum), "output_tokens": written}
        message: Json = {
            "id": f"msg_{number:04d}",
            "type": "message",
            "role": "assistant",
            "model": rules.name,
            "content": content,
            "stop_reason": turn.stop_reason,
            "stop_sequence": turn.stop_sequence,
            "stop_details": turn.details,
            "usage": {**usage, **turn.usage},
        }
        if body.get("diagnostics") is not None:
            message["diagnostics"] = fake.cache.diagnose(body, message["id"])
        return message

    def _play(self, step: Step, message: Json, stream: bool) -> None:
        if isinstance(step, Fault):
            self._fault(step)
            return
        turn = step if isinstance(step, Turn) else step.turn
        if isinstance(step, Stall) and step.where == "connect":
            self._silence(step)
        if not stream:
            time.sleep(turn.delay)
            self._json(200, message)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("request-id", f"req_{message['id']}")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if self._stream(step, turn, stream_events(turn, message)):
            self._chunk(b"")

    def _stream(self, step: Step, turn: Turn, events: Iterator[Json]) -> bool:
        """Send the events; False where the connection is to drop without an end."""
        silent_at = {"first_byte": 0, "mid": 4, "pings": 2}
        for number, event in enumerate(events):
            if isinstance(step, Broken) and number == step.after:
                return self._break(step)
            if isinstance(step, Stall) and silent_at.get(step.where) == number:
                self._silence(step)
            if turn.delay and self.server.fake.closing.wait(turn.delay):
                return False
            self._event(event)
        return True

    def _break(self, broken: Broken) -> bool:
        if broken.how == "error":
            error = {"type": broken.type, "message": "Overloaded"}
            self._event({"type": "error", "error": error})
        elif broken.how == "garbage":
            self._chunk(b"event: content_block_delta\ndata: {half\n\n")
        self.close_connection = broken.how == "reset"
        return not self.close_connection

    def _silence(self, stall: Stall) -> None:
        closing = self.server.fake.closing
        if stall.where != "pings":
            over = closing.wait(stall.seconds)
        else:
            end = time.monotonic() + (stall.seconds or 3_600)
            while not (over := closing.wait(0.05)) and time.monotonic() < end:
                self._event({"type": "ping"})
        if over:
            raise ConnectionAbortedError

    def _fault(self, fault: Fault) -> None:
        headers = {}
        if fault.retry_after is not None:
            headers["retry-after"] = f"{fault.retry_after:g}"
        if fault.body is not None:
            self._send(fault.status, fault.body, {**headers, "content-type": "text/html"})
        else:
            self._error(fault.status, fault.message, fault.type, headers)

    def _error(
        self,
        status: int,
        message: str,
        kind: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        error = {"type": kind or error_type(status), "message": message}
        body = {"type": "error", "error": error, "request_id": "req_error"}
        self._json(status, body, headers)

    def _json(self, status: int, value: Json, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        self._send(status, body, {"content-type": "application/json", **(headers or {})})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"request-id": "req_fake", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _event(self, event: Json) -> None:
        data = json.dumps(event, ensure_ascii=False)
        self._chunk(f"event: {event['type']}\ndata: {data}\n\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


def read_script(path: Path) -> list[Step]:
    """Steps from a JSON file."""
    steps: list[Step] = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        if "status" in entry:
            steps.append(Fault(**entry))
        elif "stall" in entry:
            steps.append(Stall(where=entry["stall"], seconds=entry.get("seconds")))
        elif "broken" in entry:
            steps.append(Broken(how=entry["broken"]))
        else:
            steps.append(Turn(**entry))
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description="A strict stand-in for the Messages API.")
    parser.add_argument("--port", type=int, default=8766)
    parser.add_argument("--script", type=Path, help="JSON list of steps")
    options = parser.parse_args()
    script = read_script(options.script) if options.script else search_then_answer
    with MessagesServer(script, port=options.port) as server, suppress(KeyboardInterrupt):
        print(f"Messages API stand-in on {server.url}", flush=True)  # noqa: T201  # a command
        while not server.closing.wait(1):
            pass


if __name__ == "__main__":
    main()
