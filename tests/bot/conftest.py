"""A sandbox for a test file, reset for each test, and the bot connected to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.manifest import Manifest
from bot.sandbox.rules import Rules
from bot.sandbox.server import Sandbox
from tests.bot.stage import Running, Script, Slack

Start = Callable[..., Running]


@pytest.fixture(scope="module")
def workspace() -> Iterator[Sandbox]:
    """Everything granted and subscribed; short pages, so that paging is part of every test."""
    running = Sandbox(manifest=Manifest(), rules=Rules(page_size=100, retry_delays=[0.0, 0.1, 0.1]))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def slack(workspace: Sandbox) -> Slack:
    slack = Slack(workspace.url)
    slack.post("reset")
    return slack


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def start(
    slack: Slack, workspace: Sandbox, script: Script, tmp_path: Path
) -> Iterator[Callable[..., Running]]:
    """Starts a process's worth of bot; all are stopped at the end."""
    started: list[Running] = []

    def start(**settings: Any) -> Running:
        started.append(Running(workspace, tmp_path, script, **settings))
        return started[-1]

    yield start
    script.gate.set()
    for running in started:
        running.stop()
