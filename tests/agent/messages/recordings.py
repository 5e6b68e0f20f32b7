"""Recorded responses of the real API, read out of source archives of other projects.

They are fetched by ``make peers``, checked by hash, and read in place: nothing of them is copied
into this repository. ``FOOTNOTE_RECORDINGS`` names the folder they lie in.
"""

import functools
import gzip
import hashlib
import json
import os
import tarfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from tests.fakes.script import Json, Text, Turn, content_blocks, stream_events

ARCHIVES = {
    "langchain_anthropic-1.7.10.tar.gz": (
        "72869686960b3d6665f99e7c91c9f6dd4a1d9ccf73d23edd8702eb603cc2e498"
    ),
    "anthropic-2.14.0.tar.gz": "afb02f4df8efba429ff769bbfd71340d8b244b41ba42c073a45cc307702549fe",
}
FOLDER = os.environ.get("FOOTNOTE_RECORDINGS")


@dataclass(frozen=True)
class Recording:
    """One response, with its request if that was recorded."""

    name: str
    body: str
    request: Json | None = None
    beta: bool = False
    """Asked for with features that are not part of the Messages API yet."""

    @property
    def is_stream(self) -> bool:
        return self.body.startswith("event:")

    @property
    def events(self) -> list[Json]:
        """The stream's events, read without the SDK."""
        lines = self.body.splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


@functools.cache
def recordings() -> list[Recording]:
    """All recordings of the archives; none without a folder."""
    if FOLDER is None:
        return []
    found = []
    for name, digest in ARCHIVES.items():
        path = Path(FOLDER) / name
        if path.exists():
            data = path.read_bytes()
            assert hashlib.sha256(data).hexdigest() == digest, f"{path} is another file"
            with tarfile.open(path) as archive:
                found += list(_members(archive))
    return found


def _members(archive: tarfile.TarFile) -> Iterator[Recording]:
    for member in archive:
        stem = Path(member.name).name.partition(".")[0]
        if not member.isfile() or not member.name.endswith((".yaml.gz", ".sse", "_response.txt")):
            continue
        file = archive.extractfile(member)
        assert file is not None
        if member.name.endswith(".gz"):
            cassette = yaml.safe_load(gzip.decompress(file.read()))
            for number, request in enumerate(cassette["requests"]):
                body = cassette["responses"][number]["body"]["string"]
                asked = json.loads(request["body"])
                beta = "beta" in request["uri"] or "REDACTED" in request["uri"]
                yield Recording(f"{stem}-{number}", _text(body), asked, beta)
        else:
            yield Recording(stem, file.read().decode())


def _text(body: str | bytes) -> str:
    return body.decode() if isinstance(body, bytes) else body


@contextmanager
def playing(bodies: Sequence[str]) -> Iterator[tuple[str, list[Json]]]:
    """A server that answers with the bodies in order, the last one again and again.

    Its URL, and the requests it gets.
    """
    left = list(bodies)
    requests: list[Json] = []
    lock = threading.Lock()

    class Player(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                requests.append(request)
                body = (left.pop(0) if len(left) > 1 else left[0]).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Player)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def kind(event: Json) -> str:
    """An event's type, with the type of the block or delta in it."""
    inner = event.get("content_block") or event.get("delta") or {}
    return "/".join(filter(None, (event["type"], inner.get("type"))))


def stand_ins_events() -> list[Json]:
    """A stream of the stand-in with every kind of event that recordings of plain answers have."""
    found = {
        "type": "search_result",
        "source": "payments-runbook-0",
        "title": "Payments runbook",
        "content": [{"type": "text", "text": "Signature verification failed."}],
    }
    turn = Turn(
        text=[Text("It failed.", cites=["payments-runbook-0"]), "So it is."],
        tools=[("search_docs", {"query": "PAY-4031"})],
        thinking="hm",
    )
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": content_blocks(turn, 1, "sig", [(0, found)]),
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "stop_details": None,
        "usage": {
            "input_tokens": 1,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "service_tier": "standard",
            "output_tokens": 1,
        },
    }
    return list(stream_events(turn, message))
