"""``footnote ask`` and ``footnote chat`` as commands: input and output."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agent.cli import app
from ingest.errors import SettingsError
from ingest.index import Index
from tests.agent.test_loop import said, search
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Step, Turn

Run = Callable[..., Result]


@pytest.fixture
def run(index: Index, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(index._live._data_dir))

    def run(*args: str, typed: str = "", script: list[Step] | None = None) -> Result:
        if script is None:
            return CliRunner().invoke(app, args, input=typed)
        with MessagesServer(script) as server:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
            result = CliRunner().invoke(app, args, input=typed)
        assert not server.refused
        return result

    return run


def test_ask_json_prints_one_object_with_the_agreed_fields(run: Run, pay_4031: str) -> None:
    result = run("ask", "--json", "What does PAY-4031 mean?", script=[search(), said(pay_4031)])

    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert {
        "id", "question", "verdict", "text", "citations", "removed", "unsupported",
        "searches", "steps", "model", "usage", "cost_usd", "seconds",
    } <= answer.keys()  # fmt: skip
    assert answer["verdict"] == "answered"
    assert answer["citations"][0].keys() >= {"id", "path", "lines", "url"}
    assert answer["searches"][0].keys() >= {"query", "ids", "distances"}
    assert "trace" not in answer


def test_ask_without_a_key_quotes_passages_and_is_not_an_error(run: Run, pay_4031: str) -> None:
    result = run("ask", "--json", "What does error PAY-4031 mean?")

    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert answer["verdict"] == "retrieval_only"
    assert answer["citations"][0]["id"] == pay_4031


def test_ask_prints_the_answer_its_sources_and_with_v_every_step(run: Run, pay_4031: str) -> None:
    result = run("ask", "-v", "What does PAY-4031 mean?", script=[search(), said(pay_4031)])

    out = result.stdout
    assert f"[{pay_4031}] payments-runbook.md, lines" in out
    assert "answered · " in out
    for kind in ("request", "response", "tool_call", "tool_result", "verify"):
        assert f"s  {kind}" in out


def test_ask_reads_earlier_turns_from_a_file(run: Run, pay_4031: str, tmp_path: Path) -> None:
    turns = [
        {"user": "bob", "text": "PAY-4031?"},
        {"user": "footnote", "text": f"A bad signature [{pay_4031}]."},
    ]
    file = tmp_path / "thread.json"
    file.write_text(json.dumps(turns), encoding="utf-8")

    result = run(
        "ask", "--json", "Where do I look?", "--thread", str(file),
        script=[Turn(text=f"Look at `key_version` in the request log [{pay_4031}].")],
    )  # fmt: skip

    answer = json.loads(result.stdout)
    assert answer["verdict"] == "answered"
    assert answer["searches"] == []


@pytest.mark.parametrize("content", [None, "{", '[{"user": "bob"}]', '{"user": "bob"}'])
def test_a_thread_file_that_cannot_be_read_is_one_line(
    run: Run, tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "thread.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")

    result = run("ask", "x", "--thread", str(file))

    assert isinstance(result.exception, SettingsError)
    assert "\n" not in str(result.exception)
    assert "thread.json" in str(result.exception)


def test_ask_fails_with_exit_code_1_when_nothing_is_indexed(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "none"))

    result = run("ask", "--json", "x")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["verdict"] == "failed"


def test_chat_remembers_what_was_said_and_cited(run: Run, pay_4031: str) -> None:
    look = Turn(text=f"Look at `key_version` in the request log [{pay_4031}].")

    result = run(
        "chat",
        typed="What does PAY-4031 mean?\nWhere do I look?\n\n",
        script=[search(), said(pay_4031), look],
    )

    assert result.exit_code == 0
    assert result.stdout.count("answered · ") == 2


def test_what_a_terminal_takes_for_commands_is_not_printed(run: Run) -> None:
    hostile = Turn(text="Hello\x1b]0;owned\x07 and \x9b31mred\x1b[2J.\r\x08")

    result = run("ask", "-v", "hi", script=[hostile])

    assert "Hello]0;owned and 31mred[2J." in result.stdout
    assert not set("\x1b\x07\x9b\r\x08") & set(result.stdout)


def test_bytes_that_are_no_text_in_a_question_are_replaced(run: Run) -> None:
    result = run("ask", "--json", "Why \udcff?", script=[Turn(text="Hello.")])

    assert json.loads(result.stdout)["question"] == "Why \ufffd?"
