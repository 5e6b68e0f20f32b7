"""HTTP side of the Messages stand-in: it admits a request and plays its step."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from tests.fakes.model_rules import ModelRules
from tests.fakes.model_sheet import model_sheet
from tests.fakes.request_rules import problems, search_results
from tests.fakes.rule_followers import Request
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

if TYPE_CHECKING:
    from tests.fakes.messages_server import MessagesServer

VERSIONS = ("2026-10-21", "2023-06-01")


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    fake: "MessagesServer"

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
        """Close kept-alive connections, whose handlers would otherwise wait for another request."""
        for connection in list(self.open):
            with suppress(OSError):
                connection.shutdown(2)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that went away, as many tests do; report anything else."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Refuse(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # else each small event waits 40 ms for an acknowledgement
    protocol_version = "HTTP/1.1"
    server: Listener

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: ``MessagesServer.requests`` has all requests."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        models = self.server.fake.models
        if self._key_is_wrong():
            self._error(401, "invalid x-api-key")
        elif path == "/v1/models":
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
            fake.refuse(request, str(refusal))
            self._error(refusal.status, str(refusal))
        except ScriptError as error:
            fake.refuse(request, str(error))
            self._error(400, f"script: {error}")
        else:
            self._play(step, message, bool(body.get("stream")))

    def _key_is_wrong(self) -> bool:
        expected = self.server.fake.api_key
        bearer = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        key = self.headers.get("x-api-key") or bearer
        return not key or (expected is not None and key != expected)

    def _admit(self, request: Request) -> ModelRules:
        headers = self.headers
        fake = self.server.fake
        if self._key_is_wrong():
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
        """The complete message of a step."""
        fake = self.server.fake
        turn = step if isinstance(step, Turn) else getattr(step, "turn", Turn(text="-"))
        body = request.body
        signature = fake.ledger.signature(body, number, turn.thinking)
        content = content_blocks(turn, number, signature, list(enumerate(search_results(body))))
        if not isinstance(step, Fault):
            fake.ledger.note(content)
        written = max(1, len(json.dumps(content)) // 4)
        usage = {
            **fake.cache.usage(body, rules.cache_minimum),
            "output_tokens": written,
            "service_tier": "standard",
        }
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
        """Send the events; False if the connection has to drop without an end."""
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
