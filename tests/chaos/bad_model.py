"""The strict Messages server with a model that answers from the pages, and fails on command."""

import random
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tests.fakes.messages_server import MessagesServer
from tests.fakes.model_rules import MODELS
from tests.fakes.request_rules import blocks_of, problems
from tests.fakes.rule_followers import Found, Request
from tests.fakes.script import Broken, Fault, Json, Stall, Step, Text, Turn

KEPT_REQUESTS = 200
"""Requests whose bodies stay in memory."""
SMALLEST: Json = {
    "model": next(iter(MODELS)),
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "Hello"}],
}
NO_ANSWER = Turn(text="The docs do not answer this.")

Spoil = Callable[[Turn], Step]
"""A turn -> what is sent in its place."""


@dataclass(frozen=True)
class Behaviour:
    """How the model behaves: slowly, at its limit, or spoiling turns."""

    delay: float = 0.0
    """Seconds before each response."""
    jitter: float = 0.0
    """Seconds that are added by chance, at most."""
    at_once: int = 0
    """Number of responses that it works on at the same time; 0 for no limit."""
    spoil: tuple[Spoil, ...] = ()
    """One of these, by chance, spoils a turn."""
    share: float = 1.0
    """Share of the turns that are spoilt."""
    step: str = ""
    """``search`` or ``answer``: only these turns are spoilt."""


def _events(kind: str, key: str, pieces: int, piece: str) -> tuple[Json, ...]:
    delta = {"type": kind, key: piece}
    return ({"type": "content_block_delta", "index": 0, "delta": delta},) * pieces


def _huge(turn: Turn, piece: str) -> Turn:
    """Add 5 MB of text to the first block."""
    more = _events("text_delta", "text", 5_000_000 // len(piece), piece)
    return replace(turn, text=turn.text or "So.", tools=(), extra_events=more)


def _status(status: int, message: str = "chaos", retry_after: float | None = None) -> Spoil:
    return lambda _turn: Fault(status, message=message, retry_after=retry_after)


_TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
_LINES = "A line of a very long answer.\n" * 400
SPOILS: Mapping[str, Spoil] = {
    "401": _status(401),
    "402": _status(402),
    "403": _status(403),
    "404": _status(404),
    "400, prompt too long": _status(400, _TOO_LONG),
    "400": _status(400, "messages.1: something odd"),
    "413": _status(413),
    "429": _status(429),
    "429, retry-after 3": _status(429, retry_after=3),
    "429, retry-after 3600": _status(429, retry_after=3600),
    "529": _status(529),
    "500": _status(500),
    "503": _status(503),
    "HTML page": lambda _turn: Fault(200, body=b"<html><body>Welcome to the proxy</body></html>"),
    "silent after the connection": lambda turn: Stall("connect", turn),
    "silent after the headers": lambda turn: Stall("first_byte", turn),
    "silent in the middle": lambda turn: Stall("mid", turn),
    "only pings": lambda turn: Stall("pings", turn),
    "connection cut": lambda turn: Broken(turn, "reset"),
    "ends early": lambda turn: Broken(turn, "eof"),
    "half an event": lambda turn: Broken(turn, "garbage"),
    "error event": lambda turn: Broken(turn, "error"),
    "an event a second": lambda turn: replace(turn, delay=1.0),
    "5 MB of lines": lambda turn: _huge(turn, _LINES),
    "5 MB in one line": lambda turn: _huge(turn, "word " * 20_000),
    "tool input that is not JSON": lambda _turn: Turn(
        tools=[("search_docs", {"query": "limit"})],
        extra_events=_events("input_json_delta", "partial_json", 1, "[}{"),
    ),
    "a tool that does not exist": lambda _turn: Turn(tools=[("no_such_tool", {})]),
    "a query of 2 MB": lambda _turn: Turn(tools=[("search_docs", {"query": "x" * 2_000_000})]),
    "empty message": lambda _turn: Turn(),
}
WAYS = ("529", "500", "503", "429, retry-after 3", "connection cut", "ends early", "half an event")
HANGS = ("silent after the connection", "silent in the middle")


class BadModel:
    """The server. It searches with the question, then cites the passage that states the limit."""

    def __init__(self) -> None:
        self.behaviour = Behaviour()
        self._slots: dict[int, threading.Semaphore] = {}
        self.asked = 0
        """Number of requests so far."""
        self.refused: list[str] = []
        """Reasons of the requests that the real API would refuse."""
        # Pydantic builds its validators at first use, and not in several threads at once.
        deque(problems(SMALLEST, MODELS[SMALLEST["model"]]), maxlen=0)
        self._server = self._open(0)
        self._port = int(self._server.url.rsplit(":", 1)[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def max_running(self) -> int:
        return self._server.max_running

    def behave(self, **how: object) -> None:
        """Behave in this way from now on; well, without arguments."""
        self.behaviour = replace(Behaviour(), **how)  # type: ignore[arg-type]  # fields by name

    def close(self) -> None:
        """Refuse connections."""
        self.refused += [refusal.reason for refusal in self._server.refused]
        self._server.close()

    def open(self) -> None:
        """Accept connections again."""
        self._server = self._open(self._port)

    def _open(self, port: int) -> MessagesServer:
        server = MessagesServer(self._step, port=port)
        return server.__enter__()

    def _step(self, request: Request) -> Step:
        how = self.behaviour
        server = self._server
        with server.lock:
            self.asked += 1
            for old in server.requests[-KEPT_REQUESTS - 50 : -KEPT_REQUESTS]:
                old.raw, old.body = b"", {}
        self._think(how, server)
        turn = turn_for(request)
        step = "answer" if request.results else "search"
        if how.spoil and how.step in ("", step) and random.random() < how.share:
            return random.choice(how.spoil)(turn)
        return turn

    def _think(self, how: Behaviour, server: MessagesServer) -> None:
        seconds = how.delay + random.random() * how.jitter
        if not how.at_once:
            server.closing.wait(seconds)
            return
        with self._slots.setdefault(how.at_once, threading.Semaphore(how.at_once)):
            server.closing.wait(seconds)


def turn_for(request: Request) -> Turn:
    """Return the turn of a model that does its work."""
    topic = next(iter(re.findall(r"service-\d{3}", request.question)), "")
    if "search_docs" in request.tools and not request.results:
        query = f"limit of {topic}" if topic else request.question[-200:]
        return Turn(tools=[("search_docs", {"query": query})])
    passages = [*request.passages, *beside(request)]
    stated = re.compile(rf"The limit of {topic or 'service-'}\S* is \d+ requests a second\.")
    for passage in passages:
        if said := stated.search(passage.text):
            return _citing(passage, said[0])
    if not passages:
        return NO_ANSWER
    first = next((line for line in passages[0].text.splitlines() if line.strip()), "-")
    return _citing(passages[0], first[:200])


def _citing(passage: Found, sentence: str) -> Turn:
    if passage.native:
        return Turn(text=[Text(sentence, cites=[passage.id])])
    return Turn(text=f"{sentence.rstrip('.')} [{passage.id}].")


def beside(request: Request) -> list[Found]:
    """Return the passages that stand beside the question, since the thread has cited them."""
    for message in reversed(request.body.get("messages", [])):
        blocks = blocks_of(message)
        if message.get("role") == "user" and blocks and blocks[0].get("type") != "tool_result":
            result: Json = {"type": "tool_result", "content": blocks[1:]}
            return Request(b"", {"messages": [{"role": "user", "content": [result]}]}).passages
    return []
