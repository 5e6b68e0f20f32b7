"""One real answer of Claude's, recorded, and what its streams have that the stand-in's do not.

Never part of a plain run: ``ANTHROPIC_API_KEY=... make test ARGS="-m live tests/agent/messages"``.
It costs about a cent. ``FOOTNOTE_RECORD`` names a folder in which the streams are kept.
"""

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx2
import pytest
from anthropic import Anthropic
from pydantic import SecretStr

from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import thread
from tests.agent.messages.recordings import Recording, kind, stand_ins_events

pytestmark = pytest.mark.live

# Read before the fixtures take the developer's settings away.
KEY = os.environ.get("ANTHROPIC_API_KEY")
URL = os.environ.get("ANTHROPIC_BASE_URL")
MODEL = os.environ.get("FOOTNOTE_MODEL", "claude-haiku-4-5")
FOLDER = os.environ.get("FOOTNOTE_RECORD")


class _Relay(BaseHTTPRequestHandler):
    """Passes requests on to the real API, and keeps what it answers."""

    bodies: ClassVar[list[str]] = []

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        passed = {k: v for k, v in self.headers.items() if k.lower() not in _OF_THE_LINE}
        url = str(Anthropic(api_key=KEY, base_url=URL).base_url).rstrip("/") + self.path
        answer = httpx2.post(url, content=body, headers=passed, timeout=120)
        self.bodies.append(answer.text)
        self.send_response(answer.status_code)
        self.send_header("content-type", answer.headers["content-type"])
        self.send_header("content-length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)


_OF_THE_LINE = ("host", "connection", "content-length", "accept-encoding")


def test_a_real_answer_cites_the_page_and_its_streams_hold_no_unknown_event(
    index: Index, pay_4031: str
) -> None:
    if not KEY:
        pytest.skip("ANTHROPIC_API_KEY is not set")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Relay)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = AgentSettings(
        api_key=SecretStr(KEY),
        base_url=f"http://127.0.0.1:{server.server_address[1]}",
        model=MODEL,
        citations="native",
        deadline=90,
    )
    try:
        answer = build_agent(index, settings).answer(thread("What does error PAY-4031 mean?"))
    finally:
        server.shutdown()
        server.server_close()
    streams = [Recording(f"live-{n}", body) for n, body in enumerate(_Relay.bodies)]
    if FOLDER:
        for stream in streams:
            (Path(FOLDER) / f"{stream.name}.sse").write_text(stream.body, encoding="utf-8")

    assert answer.verdict in ("answered", "partly"), answer.reason
    assert pay_4031 in [passage.id for passage in answer.citations]
    recorded = {kind(event) for stream in streams for event in stream.events}
    assert recorded
    assert recorded <= {kind(event) for event in stand_ins_events()}
