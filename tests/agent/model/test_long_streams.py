"""A stream that is cut off, or far too long: bounded memory, and a true reason."""

import json
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from anthropic.types import TextBlock

from agent.errors import ModelUnavailable
from agent.loop import build_agent
from agent.model.client import ClaudeModel, Request
from agent.model.deadline import Deadline
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import Ask, thread
from tests.agent.model.test_gateways import stream, text
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Broken, Turn
from tests.waiting import PATIENCE, wait_for


class Endless:
    """A gateway that sends one event's data over and over, after the beginning of a stream."""

    def __init__(self, again: bytes, *, is_compressed: bool) -> None:
        endless = self
        self.hung_up = threading.Event()

        class Gateway(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None: ...

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                if is_compressed:
                    self.send_header("content-encoding", "gzip")
                self.end_headers()
                begin, _, _ = stream(text("x")).partition("event: content_block_delta")
                gzip = zlib.compressobj(wbits=31)
                with suppress(ConnectionError):
                    data = begin.encode()
                    while True:
                        if is_compressed:
                            data = gzip.compress(data) + gzip.flush(zlib.Z_SYNC_FLUSH)
                        self.wfile.write(data)
                        data = again
                endless.hung_up.set()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def event(**delta: str) -> bytes:
    data = {"type": "content_block_delta", "index": 0, "delta": delta}
    return f"event: content_block_delta\ndata: {json.dumps(data)}\n\n".encode()


ENDLESS = {
    "lines of text": event(type="text_delta", text="a line\n" * 500),
    "one line of text": event(type="text_delta", text="words " * 500),
    "one event": b"x" * 65_536,
    "one event, compressed": b"x" * 65_536,
    "pings": b'event: ping\ndata: {"type": "ping"}\n\n' * 1_000,
}


@pytest.fixture(params=list(ENDLESS))
def endless(request: pytest.FixtureRequest) -> Iterator[Endless]:
    gateway = Endless(ENDLESS[request.param], is_compressed="compressed" in request.param)
    yield gateway
    gateway.close()


def test_a_stream_without_an_end_is_given_up_and_said_to_be_too_long(
    endless: Endless, index: Index
) -> None:
    settings = AgentSettings(api_key="k", base_url=endless.url, max_tokens=256)

    answer = build_agent(index, settings).answer(thread("PAY-4031?"))

    assert answer.verdict == "retrieval_only"
    assert answer.reason == "The model's answer was far too long."
    assert endless.hung_up.wait(PATIENCE)


@pytest.mark.parametrize("how", ["reset", "eof"])
def test_a_stream_that_is_cut_off_is_said_to_have_broken_off(ask: Ask, how: str) -> None:
    answer = ask([Broken(how=how)] * 3).answer  # type: ignore[arg-type]  # one of the ways

    assert answer.reason == "The model's answer broke off."


class Slow:
    """A listener that reads on when the whole stream has arrived."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def sending(self) -> None: ...

    def began(self) -> None: ...

    def retried(self, error: ModelUnavailable, wait: float) -> None: ...

    def wrote(self, content: Sequence[TextBlock]) -> None:
        self.read.append(content[0].text)
        wait_for(lambda: not any(t.name == "model-call" for t in threading.enumerate()))


def test_of_a_text_that_grows_while_nobody_reads_it_only_the_latest_state_is_kept() -> None:
    lines = "".join(f"Line {number}.\n" for number in range(500))
    with MessagesServer([Turn(text=lines)]) as server:
        model = ClaudeModel("claude-opus-5-5", AgentSettings(api_key="k", base_url=server.url))
        listener = Slow()
        messages = [{"role": "user", "content": "Count."}]
        model.respond(Request("", [], messages, 8_000), Deadline(PATIENCE), listener)

    assert len(listener.read) <= 2
    assert listener.read[-1].startswith("Line 0.")
