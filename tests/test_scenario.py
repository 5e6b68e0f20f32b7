"""The product from the outside: the commands of the README, as processes, on the sample docs."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.bot.stage import Json, Slack
from tests.conftest import ROOT
from tests.fakes.messages_server import MessagesServer
from tests.fakes.rule_followers import Request, search_then_answer
from tests.fakes.script import Step, Turn
from tests.trial import ask, trial
from tests.waiting import PATIENCE

SAMPLES = ROOT / "examples" / "docs"
COMMAND = [sys.executable, "-m", "bot"]

Done = subprocess.CompletedProcess[str]
Footnote = Callable[..., Done]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One data folder for all scenarios, as on a developer's machine."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path_factory.mktemp("home")),
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "FOOTNOTE_DOCS_REPO": str(SAMPLES),
    }


@pytest.fixture
def footnote(environment: dict[str, str], tmp_path: Path) -> Footnote:
    def run(*arguments: str, given: str = "", **settings: str) -> Done:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment | settings,
            input=given,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    return run


@pytest.fixture
def ingested(footnote: Footnote) -> Json:
    done = footnote("ingest", "--json")
    assert done.returncode == 0, done.stderr
    report: Json = json.loads(done.stdout)
    return report


@pytest.fixture
def slack(environment: dict[str, str], tmp_path: Path) -> Iterator[Slack]:
    """The workspace of ``footnote try``, until the test is over."""
    with trial(COMMAND, tmp_path, environment) as slack:
        yield slack


def test_a_mention_gets_a_cited_answer_in_its_thread_and_a_follow_up_needs_no_mention(
    slack: Slack,
) -> None:
    root, answer = ask(slack, "<@U0FOOTNOTE> what does error PAY-4031 mean?")
    link = re.search(r"<([^|\s]+)\|\[payments-runbook-0\]>", answer)
    assert link is not None, answer

    address, _, fragment = link[1].partition("#")
    with urlopen(address, timeout=30) as response:
        page = response.read().decode()
    first = re.fullmatch(r"L(\d+)-L(\d+)", fragment)
    assert first is not None
    for number in range(int(first[1]), int(first[2]) + 1):
        assert f'id="L{number}"' in page
    assert "PAY-4031 means that signature verification failed" in page

    _, second = ask(slack, "and how long are both versions valid?", root)
    assert "Both versions are valid for 24 hours" in second
    assert "PAY-4031 means that signature verification failed" not in second


def test_without_a_key_ask_quotes_the_docs_and_says_so(footnote: Footnote, ingested: Json) -> None:
    done = footnote("ask", "--json", "What does error PAY-4031 mean?")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "retrieval_only"
    assert answer["citations"][0]["id"].startswith("payments-runbook-")
    assert answer["reason"]
    assert answer["steps"] == 0


def test_with_a_model_ask_searches_answers_and_cites(footnote: Footnote, ingested: Json) -> None:
    with MessagesServer(search_then_answer) as model:
        done = footnote(
            "ask",
            "--json",
            "What does error PAY-4031 mean?",
            ANTHROPIC_BASE_URL=model.url,
            ANTHROPIC_API_KEY="test",
        )
        assert not model.refused
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "answered"
    assert [c["id"] for c in answer["citations"]] == ["payments-runbook-0"]
    assert "[payments-runbook-0]" in answer["text"]
    assert len(answer["searches"]) == 1
    assert answer["steps"] == 2


def test_a_forged_citation_is_removed_and_reported(footnote: Footnote, ingested: Json) -> None:
    def forger(request: Request) -> Step:
        if not request.results:
            return Turn(tools=[("search_docs", {"query": "PAY-4031"})])
        return Turn(
            text="Signature verification failed [payments-runbook-0]. "
            "Bring the old key back [payments-secrets-7]."
        )

    with MessagesServer(forger) as model:
        done = footnote(
            "ask",
            "--json",
            "What does error PAY-4031 mean?",
            ANTHROPIC_BASE_URL=model.url,
            ANTHROPIC_API_KEY="test",
        )
    answer = json.loads(done.stdout)
    assert "payments-secrets-7" not in answer["text"]
    assert answer["removed"] == ["payments-secrets-7"]


def test_ingesting_twice_does_nothing_the_second_time(footnote: Footnote, ingested: Json) -> None:
    again = json.loads(footnote("ingest", "--json").stdout)
    assert (again["added"], again["updated"], again["deleted"], again["embedded"]) == (0, 0, 0, 0)
    assert again["unchanged"] == ingested["chunks"]


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "said"),
    [
        (["ingest", "/no/such/folder"], {}, 1, "neither a folder nor a git address"),
        (["ingest", "ftp://docs.example/x"], {}, 1, "not an address footnote reads from"),
        (["search", "x", "--data-dir", "empty"], {}, 1, "run `footnote ingest`"),
        (["run"], {}, 2, "SLACK_APP_TOKEN"),
        (["run", "--http"], {}, 2, "SLACK_SIGNING_SECRET"),
        (["run"], {"SLACK_APP_TOKEN": "xapp-1", "SLACK_BOT_TOKEN": "no"}, 2, "SLACK_BOT_TOKEN"),
        (["status"], {"FOOTNOTE_GIT_TIMEOUT": "soon"}, 2, "FOOTNOTE_GIT_TIMEOUT"),
        (["ingest"], {"FOOTNOTE_DATA_DIR": "/proc/nowhere"}, 1, "/proc/nowhere"),
        (["try", "--docs", "nowhere"], {}, 1, "nowhere is not a folder"),
        (["debug", "ground"], {}, 2, "not JSON"),
        (["nonsense"], {}, 2, "No such command 'nonsense'. See `footnote --help`."),
        (["trance"], {}, 2, "Did you mean 'trace'?"),
        (["eval", "answer"], {}, 2, "Did you mean 'answers'? See `footnote eval --help`."),
        (["run", "--htp"], {}, 2, "--http"),
        (["search"], {}, 2, "Missing argument 'query'. See `footnote search --help`."),
        (["search", " "], {}, 2, "write some words"),
        (["try", "--port", "0"], {}, 2, "--port"),
        (["eval", "answers", "--mode", "x"], {}, 2, "'--mode': 'x' is not one of 'agent', "),
    ],
)
def test_bad_input_is_one_line_that_names_cause_and_cure(
    footnote: Footnote, arguments: list[str], settings: dict[str, str], code: int, said: str
) -> None:
    done = footnote(*arguments, **settings)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert re.fullmatch(r"footnote: .+\n", done.stderr)
    assert not done.stdout


@pytest.mark.parametrize(
    ("step", "given", "holds"),
    [
        ("message", {"text": "a &amp;&amp; b"}, {"text": "a && b"}),
        (
            "ground",
            {
                "question": "q",
                "passages": [{"id": "a-0", "text": "Run `make`."}],
                "answer": "Run `make` [a-0] [b-1].",
            },
            {"verdict": "answered", "citations": ["a-0"], "removed": ["b-1"]},
        ),
    ],
)
def test_one_step_of_the_pipeline_can_be_tried_on_json(
    footnote: Footnote, step: str, given: Json, holds: dict[str, Any]
) -> None:
    done = footnote("debug", step, given=json.dumps(given))
    found = json.loads(done.stdout)
    assert {name: found[name] for name in holds} == holds
