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
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.fakes.messages_http import Handler, Listener
from tests.fakes.model_rules import MODELS, ModelRules
from tests.fakes.prompt_cache import PromptCache
from tests.fakes.rule_followers import Request, search_then_answer
from tests.fakes.script import Broken, Fault, ScriptError, Stall, Step, Turn
from tests.fakes.thinking_ledger import ThinkingLedger

Rule = Callable[[Request], Step]


@dataclass
class Refusal:
    """A request that the server answered with 400, and the reason."""

    request: Request
    reason: str


@dataclass
class MessagesServer:
    """The server; a context manager."""

    script: Rule | Sequence[Step | Rule]
    api_key: str | None = None
    """If set, the server answers 401 to any other key."""
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
        self._http = Listener(("127.0.0.1", self.port), Handler)
        self._http.fake = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def left(self) -> int:
        """Steps of the script that no request has used yet."""
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

    def refuse(self, request: Request, reason: str) -> None:
        self.refused.append(Refusal(request, reason))

    def next_step(self, request: Request) -> Step:
        with self.lock:
            number = self._steps
            if not callable(self.script) and number >= len(self.script):
                raise ScriptError(f"the script is over after {number} steps")
            self._steps += 1
        step = self.script if callable(self.script) else self.script[number]
        return step(request) if callable(step) else step


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
