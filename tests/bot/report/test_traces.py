"""``footnote trace`` and ``footnote replay``: what is kept of an answer, and asking it again."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agent.answer import Answer
from bot.cli import app
from bot.journal.claims import open_journal
from bot.question.event import Question
from bot.sandbox.server import Sandbox
from ingest.errors import FootnoteError
from tests.bot.stage import RUNBOOK, Slack
from tests.fakes.messages_server import MessagesServer, Rule
from tests.fakes.rule_followers import search_then_answer

PAGE = """# Payments runbook

## Error PAY-4031

PAY-4031 means that the signing key was rotated. Both versions are valid for 24 hours.
"""
ASKED = "What does error PAY-4031 mean?"
ID = "payments-runbook-0"

Footnote = Callable[..., Result]


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one page and its index."""
    folder = tmp_path_factory.mktemp("traces")
    (folder / "docs").mkdir()
    (folder / "docs" / "payments-runbook.md").write_text(PAGE)
    where = ["--data-dir", str(folder / ".footnote")]
    assert CliRunner().invoke(app, ["ingest", str(folder / "docs"), *where]).exit_code == 0
    return folder


@pytest.fixture
def footnote(ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Footnote:
    """The command, in a folder of its own, with a model that searches and quotes what it finds."""
    shutil.copytree(ingested, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")

    def run(*args: str, rule: Rule = search_then_answer, typed: str = "", **env: str) -> Result:
        with MessagesServer(rule) as server:
            return CliRunner().invoke(
                app, args, input=typed, env={"ANTHROPIC_BASE_URL": server.url, **env}
            )

    return run


def ask(footnote: Footnote, **env: str) -> dict[str, Any]:
    return told(footnote("ask", "--json", ASKED, **env))


def told(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_an_answer_of_the_terminal_is_found_again_with_every_step_and_no_word(
    footnote: Footnote, tmp_path: Path
) -> None:
    answer = ask(footnote)

    trace = told(footnote("trace", answer["id"], "--json"))

    assert (trace["verdict"], trace["where"]) == ("answered", "terminal")
    assert [c["id"] for c in trace["citations"]] == [ID]
    [search] = trace["searches"]
    assert search["ids"] == [ID]
    assert len(search["distances"]) == 1
    assert trace["usage"] == answer["usage"]
    assert trace["cost_usd"] == pytest.approx(answer["cost_usd"])
    kinds = [event["kind"] for event in trace["trace"]]
    assert [k for k in kinds if k in ("request", "response")] == ["request", "response"] * 2
    [first, second] = [e for e in trace["trace"] if e["kind"] == "request"]
    assert 0 < first["characters"] < second["characters"]
    assert (trace["question"], trace["text"]) == (None, None)
    journal = (tmp_path / ".footnote" / "journal.sqlite").read_bytes()
    assert b"signing key was rotated" not in journal


def test_a_search_made_with_the_question_is_traced_without_its_words(footnote: Footnote) -> None:
    answer = ask(footnote, FOOTNOTE_ROUTE="single")

    trace = footnote("trace", answer["id"], "--json")

    [search] = told(trace)["searches"]
    assert (search["query"], search["ids"]) == (None, [ID])
    assert "PAY-4031" not in trace.stdout


def test_the_trace_reads_well_and_lists_the_newest(footnote: Footnote) -> None:
    answer = ask(footnote)

    listed = footnote("trace").stdout
    shown = footnote("trace", answer["id"]).stdout

    assert answer["id"] in listed
    assert "answered" in listed
    assert f"{ID} 0." in shown, "an id stands with its distance"
    assert "tool_result" in shown
    assert "stop=end_turn" in shown
    assert f"cited  [{ID}] payments-runbook.md, lines" in shown


def test_words_are_kept_only_when_that_is_wanted(footnote: Footnote) -> None:
    answer = ask(footnote, FOOTNOTE_STORE_TEXT="true")

    trace = told(footnote("trace", answer["id"], "--json"))

    assert trace["question"] == ASKED
    assert trace["text"] == answer["text"]


@pytest.mark.parametrize("command", ["trace", "replay"])
def test_an_unknown_id_is_one_line_with_the_way_to_find_one(
    footnote: Footnote, command: str
) -> None:
    error = footnote(command, "0000").exception

    assert isinstance(error, FootnoteError)
    assert "footnote trace" in str(error)
    assert "\n" not in str(error)


def test_a_question_that_was_not_kept_is_not_replayed_and_the_cure_is_said(
    footnote: Footnote,
) -> None:
    error = footnote("replay", ask(footnote)["id"]).exception

    assert isinstance(error, FootnoteError)
    assert "FOOTNOTE_STORE_TEXT=true" in str(error)


def test_a_replay_shows_what_today_s_docs_change(footnote: Footnote, tmp_path: Path) -> None:
    keep = {"FOOTNOTE_STORE_TEXT": "true"}
    answer = ask(footnote, **keep)
    page = tmp_path / "docs" / "payments-runbook.md"
    page.write_text(PAGE.replace("24 hours", "48 hours"))
    assert footnote("ingest", str(tmp_path / "docs")).exit_code == 0

    difference = told(footnote("replay", answer["id"], "--json", **keep))
    shown = footnote("replay", answer["id"], **keep).stdout

    assert difference["citations"] == {"added": [], "gone": [], "changed": [ID], "same": []}
    assert difference["before"]["verdict"] == difference["after"]["verdict"] == "answered"
    assert difference["after"]["searches"] == [ASKED]
    assert f"changed: [{ID}]" in shown
    assert "seconds" in shown
    again = told(footnote("trace", difference["after"]["id"], "--json"))
    assert again["verdict"] == "answered"


def test_a_follow_up_of_a_chat_is_replayed_with_what_was_said_before(footnote: Footnote) -> None:
    keep = {"FOOTNOTE_STORE_TEXT": "true"}
    said = footnote("chat", typed=f"{ASKED}\nand how long?\n\n", **keep)
    assert said.exit_code == 0
    newest = told(footnote("trace", "--json"))["answers"][0]["id"]
    heard: list[str] = []

    def listening(request: Any) -> Any:
        heard.append(str(request.body["messages"]))
        return search_then_answer(request)

    footnote("replay", newest, rule=listening, **keep)

    assert ASKED in heard[0]
    assert "and how long?" in heard[0]


def test_a_question_of_slack_is_read_there_again(
    footnote: Footnote, slack: Slack, workspace: Sandbox, tmp_path: Path
) -> None:
    said = {"channel": "C0INCIDENT", "user": "U0ONCALL", "text": f"<@U0FOOTNOTE> {ASKED}"}
    ts = str(slack.post("say", **said)["ts"])
    question = Question("T0SANDBOX", "C0INCIDENT", ts, ts, "U0ONCALL", "", "channel", True)
    asked = Answer("asked", "", "answered", citations=(RUNBOOK,))
    gone = Answer("gone", "", "answered")
    journal = open_journal(None, tmp_path / ".footnote")
    journal.record(question, asked, None)
    journal.record(replace(question, ts="1.1"), gone, None)
    journal.close()
    tokens = {"SLACK_BOT_TOKEN": "xoxb-sandbox", "SLACK_API_URL": workspace.api_url}

    (tmp_path / "footnote.toml").write_text('[channels.C0INCIDENT]\nlanguage = "Danish"\n')
    heard: list[str] = []

    def listening(request: Any) -> Any:
        heard.append(request.raw.decode())
        return search_then_answer(request)

    difference = told(footnote("replay", asked.id, "--json", rule=listening, **tokens))

    assert "answer in Danish" in heard[0], "the channel's settings hold for a replay too"
    assert difference["after"]["verdict"] == "answered"
    assert difference["citations"]["changed"] == [ID]
    link = f"https://acme.slack.com/archives/C0INCIDENT/p{ts.replace('.', '')}?thread_ts=1.1"
    assert told(footnote("trace", link, "--json"))["id"] == "asked"
    assert "no longer in Slack" in str(footnote("replay", gone.id, **tokens).exception)
    assert "SLACK_BOT_TOKEN" in str(footnote("replay", asked.id).exception)


@pytest.mark.parametrize("limit", ["FOOTNOTE_DAILY_USD", "FOOTNOTE_DAILY_USD_PER_USER"])
def test_beyond_the_day_s_limit_answers_are_passages_and_say_so(
    footnote: Footnote, limit: str
) -> None:
    tight = {limit: "0.000001"}

    first, second = ask(footnote, **tight), ask(footnote, **tight)

    assert first["verdict"] == "retrieval_only", "the first request has used the limit up"
    assert first["cost_usd"] > 0
    assert second["verdict"] == "retrieval_only"
    assert "budget for the model is used up" in second["reason"]
    assert second["reason"] in second["text"]
    assert "00:00 UTC" in second["reason"]
    assert (second["cost_usd"], second["model"]) == (0.0, None)


def test_a_journal_that_cannot_be_used_costs_the_record_and_not_the_answer(
    footnote: Footnote, tmp_path: Path
) -> None:
    (tmp_path / ".footnote" / "journal.sqlite").write_bytes(b"no database" * 500)

    assert ask(footnote)["verdict"] == "answered"
    limited = ask(footnote, FOOTNOTE_DAILY_USD="5")
    assert limited["verdict"] == "retrieval_only"
    assert "cannot be recorded" in limited["reason"]
