"""The evals, from the command line: what they measure, and what they refuse to claim."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.answer import Verdict
from agent.evals import answers, decisions
from agent.evals.agent_case import AgentCase, read_agent_cases
from agent.evals.cli import app
from agent.evals.evals import EVALS, score_measurement
from agent.evals.measure import Measurement
from agent.evals.outcomes import CaseOutcome, Cited
from agent.evals.tables import print_result
from agent.evals.trajectory import trajectory
from ingest.errors import SettingsError
from ingest.terminal import VisibleConsole
from tests.conftest import ROOT
from tests.fakes.messages_server import MessagesServer, Rule
from tests.fakes.rule_followers import Request, search_then_answer
from tests.fakes.script import Stall, Step, Turn
from tests.waiting import PATIENCE, wait_for

CASES = ROOT / "examples" / "evals"
DOCS = ROOT / "examples" / "docs"


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample docs are indexed once for all evals."""
    return tmp_path_factory.mktemp("evals")


Run = Callable[..., Any]


@pytest.fixture
def run(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """``footnote eval ...`` with ``--json``; ``model`` answers over HTTP where one is given."""
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(data_dir))

    def run(*arguments: str, model: Rule | None = None, code: int = 0) -> Any:
        if model is None:
            result = CliRunner().invoke(app, [*arguments, "--json"])
        else:
            with MessagesServer(model) as server:
                monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
                monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
                result = CliRunner().invoke(app, [*arguments, "--json"])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)

    return run


def one_kind(tmp_path: Path, *kinds: str) -> str:
    """A file with our own decision cases of some kinds."""
    lines = (CASES / "decisions.jsonl").read_text().splitlines()
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(line for line in lines if json.loads(line)["kind"] in kinds))
    return str(file)


def searches_questions(request: Request) -> Turn:
    """A model that searches whatever ends in a question mark."""
    if request.question.endswith("?"):
        return search_then_answer(request)
    return Turn(text="Hello.")


def test_our_own_cases_are_forty_and_more_and_fit_the_sample_docs() -> None:
    asked = read_agent_cases(CASES / "decisions.jsonl", DOCS, None)[DOCS]
    assert len(asked) >= 40
    assert {case.must_search for case in asked} == {True, False}
    assert any(case.topics > 1 for case in asked)
    for case in read_agent_cases(CASES / "answers.jsonl", DOCS, None)[DOCS]:
        for quote in case.gold_quotes:
            text = (DOCS / quote.file).read_text(encoding="utf-8")
            assert quote.quote in text, (case.id, quote)


def test_the_help_of_an_eval_loads_no_library_of_the_index_or_the_model() -> None:
    look = (
        "import sys, agent.evals.cli, ingest.evaluate.cli;"
        "print({'anthropic', 'chromadb', 'numpy', 'onnxruntime', 'sqlalchemy'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_scripted_model_is_played_but_not_scored(run: Run, tmp_path: Path) -> None:
    result = run("decisions", "--cases", one_kind(tmp_path, "greeting"), model=search_then_answer)

    assert result["measured"] is False
    assert result["scores"] is None
    assert "script" in result["not_measured"]
    assert result["asked"] == result["trajectory"]["searches"] == 6
    assert result["trajectory"]["steps"] == 12


def test_needless_and_missing_searches_are_told_apart(run: Run, tmp_path: Path) -> None:
    cases = one_kind(tmp_path, "greeting", "compound", "conversation")

    scores = run("decisions", "--cases", cases, "--any-model", model=searches_questions)

    assert scores["scores"]["needless"]["of"] == 10
    assert scores["scores"]["missing"] == {"share": 0.0, "hits": 0, "of": 6}
    assert scores["scores"]["topics"] == {"share": 0.0, "hits": 0, "of": 4}
    wrong = {r["case"] for r in scores["results"] if r["searched"] != r["must_search"]}
    assert wrong == {"morning", "can-you", "meaning-of-life", "what-did-i-ask", "shorter"} | {
        "who-started"
    }
    assert scores["by_kind"]["greeting"]["accuracy"]["share"] == 0.5


@pytest.mark.parametrize(("mode", "searched"), [("no-search", False), ("search-first", True)])
def test_in_the_other_modes_code_decides(
    run: Run, tmp_path: Path, mode: str, searched: bool
) -> None:
    cases = one_kind(tmp_path, "compound")

    result = run("decisions", "--cases", cases, "--mode", mode, model=search_then_answer)

    assert {r["searched"] for r in result["results"]} == {searched}
    assert result["trajectory"]["steps"] == 6


def test_without_a_model_the_quoted_passages_are_measured_and_nothing_else(run: Run) -> None:
    result = run("answers")

    assert result["measured"] is False
    assert "ANTHROPIC_API_KEY" in result["not_measured"]
    scores = result["scores"]
    assert scores["verdicts"]["share"] is None
    assert scores["gold"]["share"] > 0.9
    assert scores["chunk"]["share"] > 0.85
    assert scores["facts"]["share"] > 0.85
    assert scores["obeyed"]["hits"] == 0


def test_cases_of_an_earlier_run_are_not_asked_again(run: Run, tmp_path: Path) -> None:
    cases, kept = one_kind(tmp_path, "programming"), tmp_path / "kept.jsonl"
    asked: list[str] = []

    def counts(request: Request) -> Turn:
        asked.append(request.question)
        return Turn(text="So.")

    first = run("decisions", "--cases", cases, "--keep", str(kept), model=counts)
    *whole, _, half = kept.read_text().splitlines()
    kept.write_text("\n".join([*whole, half[:100]]))  # as a killed run leaves it
    second = run("decisions", "--cases", cases, "--keep", str(kept), model=counts)

    assert len(asked) == 6 + 2
    assert second["asked"] == first["asked"] == 6


def test_a_file_that_holds_something_else_is_left_alone(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(SettingsError, match="--keep"):
        run("decisions", "--keep", str(notes))
    assert notes.read_text() == "mine"
    with pytest.raises(SettingsError, match="cannot be written"):
        run("decisions", "--keep", str(tmp_path / "nowhere" / "kept.jsonl"))


def test_an_interrupted_run_shows_what_is_done(data_dir: Path, tmp_path: Path) -> None:
    cases, kept = one_kind(tmp_path, "programming"), tmp_path / "kept.jsonl"
    asked_for = ["decisions", "--json", "--cases", cases, "--keep", str(kept)]
    answered: list[Request] = []

    def thrice(request: Request) -> Step:
        answered.append(request)
        return Turn(text="So.") if len(answered) <= 3 else Stall("connect")

    with (
        MessagesServer(thrice) as server,
        subprocess.Popen(
            [sys.executable, "-m", "bot", "eval", *asked_for],
            cwd=tmp_path,
            env=os.environ
            | {"PYTHONPATH": str(ROOT), "FOOTNOTE_DATA_DIR": str(data_dir)}
            | {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "test"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        wait_for(lambda: len(answered) == 4 or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)

    result = json.loads(out)
    assert (result["stopped"], result["asked"], result["cases"]) == ("interrupted", 3, 6)
    assert len(kept.read_text().strip().splitlines()) == 3
    assert (process.returncode, err) == (1, "footnote: interrupted, 3 cases were not asked\n")


def test_a_run_ends_when_its_money_is_spent(run: Run, tmp_path: Path) -> None:
    cases = one_kind(tmp_path, "programming")

    result = run("decisions", "--cases", cases, "--max-usd", "0", model=searches_questions, code=1)

    assert result["asked"] == 1
    assert result["trajectory"]["cost_usd"] > 0


def test_the_page_shows_scores_and_cases_with_their_text_escaped(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    case = {"id": "x", "kind": "odd", "question": "<script>PAY-4031?</script>", "facts": ["4031"]}
    file = tmp_path / "odd.jsonl"
    file.write_text(json.dumps(case | {"gold_files": ["payments-runbook.md"]}))

    run("answers", "--cases", str(file), "--report", str(page))

    html = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;PAY-4031?" in html
    assert "<script" not in html
    assert "citation precision" in html
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert html.index("Content-Security-Policy") < html.index("<title>")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"gold_files": ["nowhere.md"]}, "there is no file nowhere.md"),
        ({"gold_files": []}, "gold_files"),
        ({"corpus": "argo", "gold_files": ["a.md"]}, "--corpora"),
        ({"type": "no_search", "history": ["a"], "thread": [["b", "c"]]}, "not both"),
        ({"type": "no_search", "verdict": ["good"]}, "verdict"),
    ],
)
def test_a_wrong_case_is_refused_in_one_line(tmp_path: Path, line: Any, told: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps({"id": "a", "kind": "b", "question": "c?", **line}))
    with pytest.raises(SettingsError, match=told) as refused:
        read_agent_cases(file, DOCS, None)
    assert "\n" not in str(refused.value)


def test_the_benchmarks_format_is_read(shared: Path) -> None:
    bench = shared / "bench"
    grouped = read_agent_cases(bench / "dev.jsonl", DOCS, bench / "corpora")
    cases = [case for some in grouped.values() for case in some]
    assert len(cases) == 131
    followup = next(case for case in cases if case.type == "followup")
    assert [turn.text for turn in followup.conversation.earlier] == list(followup.history)
    assert not next(case for case in cases if case.type == "no_search").must_search


def outcome(verdict: Verdict = "answered", *paths: str, **more: Any) -> CaseOutcome:
    cited = tuple(Cited(f"{path}-0", path, f"text of {path}") for path in paths)
    given: dict[str, Any] = {"text": "", "cited": cited, "claude": True, **more}
    return CaseOutcome("c", "q?", "agent", "claude-opus-5-5", verdict, **given)


def case(*gold: str, **more: Any) -> AgentCase:
    kind = {"type": "answerable" if gold else "no_answer"}
    return AgentCase(
        **{"id": "c", "kind": "k", "question": "q?", "gold_files": gold, **kind, **more}
    )


def test_precision_counts_chunks_and_a_question_with_two_pages_needs_both() -> None:
    pairs = [
        (case("a.md"), outcome("answered", "a.md", "b.md", "b.md")),
        (case("a.md", "b.md", gold_mode="all"), outcome("answered", "a.md")),
        (case(), outcome("answered", "c.md")),
        (case(), outcome("not_in_docs", "c.md")),
    ]

    scored = answers.score(pairs)

    assert (scored.precision.hits, scored.precision.of) == (2, 4)
    assert scored.gold.value == 0.75
    assert scored.wrongly_cited.value == 0.5
    assert scored.verdicts.value == 0.75


def test_facts_are_found_through_markup_and_one_of_several_wordings_is_enough() -> None:
    asked = case("a.md", facts=["kubectl rollout undo", ("5 attempts", "five attempts")])
    told = outcome(text="Run `kubectl  rollout undo`; there are **five\nattempts**.")
    assert answers.missing_facts(asked, told) == []
    assert len(answers.missing_facts(asked, outcome(text="nothing"))) == 2


def test_spans_and_ids_without_support_make_an_answer_unfaithful() -> None:
    pairs = [
        (case("a.md"), outcome("partly", "a.md", unsupported=("--force",))),
        (case("a.md"), outcome("answered", "a.md", removed=("made-up-0",))),
        (case("a.md"), outcome("answered", "a.md")),
    ]
    scored = answers.score(pairs)
    assert (scored.supported.hits, scored.unsupported_spans) == (1, 1)


def test_a_model_that_failed_has_decided_nothing() -> None:
    pairs = [(case("a.md"), outcome("retrieval_only")), (case("a.md"), outcome(queries=("q",)))]
    scored = decisions.score(pairs)
    assert (scored.undecided, scored.accuracy.of, scored.accuracy.hits) == (1, 1, 1)


def test_a_trajectory_counts_repeats_and_gives_no_cost_where_one_is_unknown() -> None:
    twice = outcome(queries=("PAY 1", "pay  1", "x"), found=(2, 2, 0), cost_usd=0.5, seconds=2.0)
    pairs = [(case("a.md"), twice), (case("a.md"), outcome(cost_usd=None, seconds=4.0))]

    taken = trajectory(pairs)

    assert (taken.searches, taken.repeats, taken.fruitless) == (3, 1, 1)
    assert taken.cost_usd is None
    assert taken.seconds_p50 == 3.0
    assert trajectory([(case("a.md"), twice)]).cost_usd == 0.5


def test_no_figure_of_the_table_is_cut_short_where_there_are_eighty_columns() -> None:
    cases = read_agent_cases(CASES / "answers.jsonl", DOCS, None)[DOCS]
    pairs = tuple((each, outcome()) for each in cases)
    measured = Measurement(pairs, len(pairs), "agent", "m", None, None)
    console = VisibleConsole(width=80, file=io.StringIO())

    print_result(score_measurement(EVALS["answers"], measured), console)

    assert isinstance(console.file, io.StringIO)
    assert "…" not in console.file.getvalue()
