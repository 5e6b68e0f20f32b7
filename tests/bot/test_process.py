"""``footnote run`` as a process of its own, killed and ended in the middle of an answer."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.reply.wording import LOOKING_UP, LOST
from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from tests.bot.stage import Json, Slack, patient_rules
from tests.conftest import ROOT
from tests.fakes.messages_server import MessagesServer
from tests.fakes.rule_followers import Request, search_then_answer
from tests.fakes.script import Fault, Stall, Step
from tests.waiting import PATIENCE, wait_for

Process = subprocess.Popen[str]


class Model:
    """Says nothing for as long as it is told to."""

    def __init__(self) -> None:
        self.silent = True

    def __call__(self, request: Request) -> Step:
        return Stall("connect") if self.silent else search_then_answer(request)


@pytest.fixture
def slack() -> Iterator[Slack]:
    sandbox = Sandbox(manifest=Manifest(), rules=patient_rules())
    sandbox.start()
    yield Slack(sandbox.url)
    sandbox.stop()


@pytest.fixture
def run(slack: Slack, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "keys.md"
    page.write_text("# Keys\n\nPAY-4031 means that the key was rotated.\n")
    started: list[Process] = []

    def run(model: MessagesServer, *, connects: bool = True, **settings: str) -> Process:
        environment = {
            "PATH": os.environ["PATH"],
            "SLACK_API_URL": slack.url("/api/"),
            "SLACK_BOT_TOKEN": "xoxb-sandbox",
            "SLACK_APP_TOKEN": "xapp-sandbox",
            "ANTHROPIC_API_KEY": "test",
            "ANTHROPIC_BASE_URL": model.url,
            "FOOTNOTE_DOCS_REPO": str(tmp_path / "docs"),
            "FOOTNOTE_DATA_DIR": str(tmp_path / "data"),
            "FOOTNOTE_EMBEDDER_INT8": "false",
            "PYTHONPATH": str(ROOT),
            **settings,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "bot", "run"],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        started.append(process)
        if connects:
            wait_for(lambda: slack.state()["connections"] or process.poll() is not None)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def replies(slack: Slack, ts: str) -> list[Json]:
    return [m for m in slack.messages("C0INCIDENT", ts) if m.get("metadata")]


def ask(slack: Slack, text: str = "what is PAY-4031?") -> str:
    body = {"channel": "C0INCIDENT", "user": "U0ONCALL", "text": f"@Footnote {text}"}
    return str(slack.post("say", **body)["ts"])


def whispers(slack: Slack) -> list[str]:
    return [m["text"] for m in slack.messages("C0INCIDENT") if "_viewer" in m]


def sessions(slack: Slack) -> list[str]:
    return [call["args"]["status"] for call in slack.calls("agents.sessions.setStatus")]


def test_killed_in_the_middle_of_answers_it_answers_or_apologises_after_the_next_start(
    slack: Slack, run: Callable[..., Process]
) -> None:
    rule = Model()
    with MessagesServer(rule) as model:
        first = run(model)
        ts = ask(slack)
        slack.post("command", channel="C0INCIDENT", user="U0ONCALL", text="what is PAY-4031?")
        wait_for(lambda: len(model.requests) > 1 and sessions(slack))
        first.kill()
        first.communicate()
        assert not replies(slack, ts)
        assert whispers(slack) == [LOOKING_UP]
        rule.silent = False
        second = run(model)
        wait_for(lambda: replies(slack, ts) and LOST in whispers(slack))
        assert len(replies(slack, ts)) == 1
        wait_for(lambda: sessions(slack)[-1] == "active")
        assert whispers(slack) == [LOOKING_UP, LOST]
        second.send_signal(signal.SIGTERM)
        _, said = second.communicate(timeout=PATIENCE)
        assert second.returncode == 0
        assert "xoxb" not in said
        assert "Traceback" not in said, said


def test_the_log_holds_no_secret_and_no_words_of_people_pages_or_the_model(
    slack: Slack, run: Callable[..., Process]
) -> None:
    secrets = {"ANTHROPIC_API_KEY": "sk-ant-7Qm2", "SLACK_SIGNING_SECRET": "8f742231"}
    more = {"FOOTNOTE_DOCS_TOKEN": "tok-55Wd", "CHROMA_API_KEY": "chr-31Xz"}
    refused = Fault(status=400, message="key sk-ant-7Qm2 may not do that")

    def rule(request: Request) -> Step:
        return refused if "refuse" in request.question else search_then_answer(request)

    with MessagesServer(rule) as model:
        process = run(model, FOOTNOTE_LOG_LEVEL="DEBUG", **secrets, **more)
        for text in ("what is PAY-4031, rosebud?", "refuse: what is PAY-4031, rosebud?"):
            ts = ask(slack, text)
            wait_for(lambda: replies(slack, ts))  # noqa: B023  # called here only
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
    assert "DEBUG" in said
    assert "key *** may not do that" in said
    held = (*secrets.values(), *more.values(), "xoxb-sandbox", "xapp-sandbox")
    assert [word for word in (*held, "rosebud", "rotated") if word in said] == []


def test_sigterm_lets_an_answer_under_way_be_finished(
    slack: Slack, run: Callable[..., Process]
) -> None:
    rule = Model()
    rule.silent = False
    stalled: list[Request] = []

    def slow(request: Request) -> Step:
        stalled.append(request)
        if len(stalled) > 1:
            return rule(request)
        return Stall("connect", turn=search_then_answer(request), seconds=3)

    with MessagesServer(slow) as model:
        process = run(model)
        ts = ask(slack)
        wait_for(lambda: stalled)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        line = r"^\d{4}-\d\d-\d\d [\d:,]+ INFO bot\.app: Stopping: answers under way have 20 s\.$"
        assert re.search(line, said, re.MULTILINE), said
        [reply] = replies(slack, ts)
        assert reply["metadata"]["event_payload"]["verdict"] == "answered"


def other_threads(process: Process) -> list[int]:
    """The threads that the system may hand a signal to, but for the main one."""
    tasks = Path(f"/proc/{process.pid}/task")
    return [int(task.name) for task in tasks.iterdir() if int(task.name) != process.pid]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs the threads in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_another_thread_takes_ends_it_as_well(
    number: signal.Signals, slack: Slack, run: Callable[..., Process]
) -> None:
    rule = Model()
    rule.silent = False
    with MessagesServer(rule) as model:
        process = run(model)
        ts = ask(slack)
        wait_for(lambda: replies(slack, ts))  # the main thread has nothing to do any more
        # To the group of threads, but the system offers it to the one that is named.
        os.kill(other_threads(process)[0], number)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_the_start_ends_it_there(
    number: signal.Signals, run: Callable[..., Process]
) -> None:
    with MessagesServer(Model()) as model, socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/api/"
        process = run(model, connects=False, SLACK_API_URL=url)
        waiting, _ = silent.accept()
        with waiting:
            process.send_signal(number)
            _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    assert "Stopped before the start was complete." in said
    assert "Traceback" not in said


def test_a_second_signal_does_not_wait_for_answers(
    slack: Slack, run: Callable[..., Process]
) -> None:
    with MessagesServer(Model()) as model:
        process = run(model, FOOTNOTE_DRAIN_SECONDS="3600")
        ask(slack)
        wait_for(lambda: model.requests)
        process.send_signal(signal.SIGTERM)
        assert process.stderr
        while "Stopping" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 128 + signal.SIGTERM
