"""A whole system on loopback: sandbox, model, docs, and the bots that are started on it."""

import json
import shutil
import sqlite3
import sys
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.error import URLError

from ingest.runs.record import IngestRuns
from tests.bot.stage import Slack
from tests.chaos.bad_model import BadModel
from tests.chaos.bad_slack import BadSlack
from tests.chaos.pages import PAGES, write_pages
from tests.chaos.processes import Child, Forked, Process, Zygote, plain_environment, until
from tests.waiting import free_port

START_SECONDS = 120.0
"""Seconds that a process gets to start."""
CONNECTED = "Connected to Slack"


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int | None
    """None if it did not end in time."""
    out: str
    said: str
    """Its stderr."""

    @property
    def json(self) -> dict[str, Any]:
        """Return what it printed with ``--json``; empty if it failed."""
        value: dict[str, Any] = json.loads(self.out) if self.code == 0 and self.out else {}
        return value


class System:
    """Everything that one trial needs; all of it ends with the context."""

    def __init__(
        self,
        zygote: Zygote,
        folder: Path,
        *,
        line: bool = False,
        events_url: str = "",
        rules: dict[str, Any] | None = None,
        pages: int = PAGES,
    ) -> None:
        self.folder = folder
        self._zygote = zygote
        self.processes: list[Process] = []
        self.docs = write_pages(folder / "docs", pages)
        port = free_port()
        events = ["--events", events_url] if events_url else []
        command = ["sandbox", "--port", str(port), *events]
        self.slack = Slack(f"http://127.0.0.1:{port}")
        self.model = BadModel()
        self.line = BadSlack(port) if line else None
        self.sandbox = self.start("sandbox", command, plain_environment())
        if not until(self._is_up, START_SECONDS):
            raise RuntimeError(f"the sandbox does not start: {self.sandbox.text()[-800:]}")
        if rules:
            self.slack.post("rules", **rules)

    def _is_up(self) -> bool:
        try:
            return bool(self.slack.state())
        except (URLError, ConnectionError, TimeoutError):
            return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in reversed(self.processes):
            process.kill()
        self.model.close()
        if self.line:
            self.line.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def reset(self) -> None:
        """End the bots, and let model and line be well."""
        for process in self.processes:
            if process is not self.sandbox:
                process.kill()
        self.processes = [self.sandbox]
        self.model.behave()
        if self.line:
            self.line.troubles = ()

    @property
    def bad_line(self) -> BadSlack:
        assert self.line, "this system has no bad line"
        return self.line

    def data(self, name: str = "data") -> Path:
        return self.folder / name

    def env(self, data: str = "data", **settings: object) -> dict[str, str]:
        """Return the environment of a bot; None as a value takes a setting away."""
        values: dict[str, object] = {
            "SLACK_API_URL": self.line.api_url if self.line else self.slack.url("/api/"),
            "SLACK_BOT_TOKEN": "xoxb-sandbox",
            "SLACK_APP_TOKEN": "xapp-sandbox",
            "SLACK_SIGNING_SECRET": "sandbox",
            "FOOTNOTE_DOCS_REPO": self.docs,
            "FOOTNOTE_DATA_DIR": self.data(data),
            "FOOTNOTE_EMBEDDER_INT8": "false",
            "FOOTNOTE_USER_PER_MINUTE": "0",
            "ANTHROPIC_API_KEY": "sk-ant-sandbox",
            "ANTHROPIC_BASE_URL": self.model.url,
            **settings,
        }
        strings = {name: str(value) for name, value in values.items() if value is not None}
        return plain_environment() | strings

    def start(
        self,
        name: str,
        arguments: list[str],
        env: dict[str, str],
        *,
        fork: bool = True,
        out: Path | None = None,
    ) -> Process:
        """Start a command of Footnote; without ``fork`` as a program of its own."""
        log = self.folder / f"{name}.log"
        process: Process
        if fork:
            place = {"cwd": str(self.folder), "log": str(log), "out": str(out or log)}
            process = Forked(name, self._zygote, log, {"arguments": arguments, "env": env, **place})
        else:
            command = [sys.executable, "-m", "bot", *arguments]
            process = Child(name, command, env, self.folder, log, out)
        self.processes.append(process)
        return process

    def add(self, process: Process) -> Process:
        """End this process with the others."""
        self.processes.append(process)
        return process

    def run(
        self,
        data: str = "data",
        *,
        name: str = "run",
        arguments: tuple[str, ...] = (),
        wait: bool = True,
        fork: bool = True,
        **settings: object,
    ) -> Process:
        """Start a bot, and wait until it says that it is connected, or until it ends."""
        log = self.folder / f"{name}.log"
        before = log.stat().st_size if log.exists() else 0
        env = self.env(data, **settings)
        bot = self.start(name, ["run", *arguments], env, fork=fork)
        if wait:
            until(lambda: CONNECTED in bot.text(before) or not bot.alive, START_SECONDS, 0.03)
        return bot

    def command(
        self, *arguments: str, data: str = "data", seconds: float = 300, **settings: object
    ) -> Done:
        """Run a command to its end."""
        out = self.folder / f"out-{free_port()}"
        process = self.start(out.name, list(arguments), self.env(data, **settings), out=out)
        until(lambda: not process.alive, seconds, 0.03)
        code = process.code
        process.kill()
        self.processes.remove(process)
        done = Done(code, out.read_text(errors="replace"), process.text())
        out.unlink()
        process.log.unlink()
        return done

    def last_run(self, data: str = "data") -> dict[str, Any] | None:
        """Return the newest ingest that is over."""
        file = self.data(data) / "runs.sqlite"
        if not file.exists():
            return None
        with suppress(sqlite3.Error), closing(sqlite3.connect(file, timeout=5)) as rows:
            rows.row_factory = sqlite3.Row
            over = "state NOT IN ('requested', 'running')"
            newest = rows.execute(f"SELECT * FROM runs WHERE {over} ORDER BY id DESC").fetchone()
            return dict(newest) if newest else None
        return None

    def indexed(self, data: str = "data", after: int = 0) -> dict[str, Any]:
        """Wait for an ingest later than run ``after`` to be over."""

        def newer() -> dict[str, Any] | None:
            run = self.last_run(data)
            return run if run and run["id"] > after else None

        return until(newer, START_SECONDS, 0.1) or {}

    def ingest(self, data: str = "data") -> dict[str, Any]:
        """Let the running bot ingest, and return its run."""
        before = (self.last_run(data) or {"id": 0})["id"]
        IngestRuns(self.data(data)).request({})
        return self.indexed(data, before)
