"""``footnote eval retrieval`` and ``calibrate``, from the outside."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ingest.embedding.embedder import open_embedder
from ingest.errors import SettingsError
from ingest.evaluate.calibrate import FOLDS, Calibration, calibrate, choose
from ingest.evaluate.cases import Case
from ingest.evaluate.cli import app
from ingest.evaluate.result_tables import print_table
from ingest.evaluate.scoring import METRICS
from ingest.index import open_index
from ingest.index.calibration import THRESHOLD
from ingest.index.folders import live
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from ingest.store.document_tables import DocumentTables
from ingest.terminal import VisibleConsole

PAGES = {
    "shop/pay.md": "# Pay\n\nError PAY-4031: the signature is wrong. Rotate the key.\n",
    "shop/ledger.md": "# Ledger\n\nThe ledger is append only. Balances are derived.\n",
    "shop/SOURCE.md": "# Source\n\nError PAY-4031 is explained here, too.\n",
    "team/oncall.md": "# On call\n\nPage the secondary after 15 minutes.\n",
}
ASKED = [
    ("q1", "shop", "What does PAY-4031 mean?", "pay.md", "Error PAY-4031"),
    ("q2", "shop", "Can a ledger entry be changed?", "ledger.md", "append only"),
    ("q3", "team", "When do I page the secondary?", "oncall.md", "after 15 minutes"),
]
KEYS = {*METRICS, "p50_ms", "p95_ms"}


@pytest.fixture(autouse=True)
def _plain_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the few seconds that the int8 graph takes."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    for path, text in PAGES.items():
        page = tmp_path / "corpora" / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
    lines: list[dict[str, Any]] = [
        {
            "id": id_,
            "corpus": corpus,
            "kind": "how-to",
            "question": question,
            "gold_files": [file],
            "gold_quotes": [{"file": file, "quote": quote}],
        }
        for id_, corpus, question, file, quote in ASKED
    ]
    lines += [
        {"id": "n1", "corpus": "team", "kind": "no-answer", "type": "no_answer",
         "question": "Zanzibar xylophone quota?"},
        {"id": "n2", "kind": "no-search", "type": "no_search", "question": "thanks"},
    ]  # fmt: skip
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return ["--questions", str(tmp_path / "q.jsonl"), "--corpora", str(tmp_path / "corpora")]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, SettingsError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_kind_of_a_case_file_is_not_read_as_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(VisibleConsole(), ("kind", "n"), [("[/how-to]", "1"), ("[red]", "2")])
    assert capsys.readouterr().out.split() == ["kind", "n", "[/how-to]", "1", "[red]", "2"]


def test_marks_are_given_overall_by_kind_and_by_question(arguments: list[str]) -> None:
    output = run("retrieval", *arguments, "--json")
    assert output.count("\n") == 1
    result = json.loads(output)
    assert result.keys() == {"overall", "by_kind", "weak", "questions"}
    assert result["overall"].keys() == KEYS
    assert result["by_kind"].keys() == {"how-to"}
    assert result["by_kind"]["how-to"].keys() == KEYS
    assert result["overall"]["mrr"] == 1.0
    assert result["weak"].keys() == {"answerable", "no_answer"}
    assert result["weak"]["no_answer"] == 1.0
    assert [q["id"] for q in result["questions"]] == ["q1", "q2", "q3"]
    assert result["questions"][0].keys() == {"id", "kind", "file_rank", "quote_char"}


def test_each_corpus_is_kept_in_the_data_folder_without_its_source_note(
    arguments: list[str],
) -> None:
    run("retrieval", *arguments)
    folder = live(Path(".footnote/eval/shop"))
    assert folder is not None
    assert sorted(DocumentTables(folder.database).documents()) == ["ledger.md", "pay.md"]


def test_two_settings_are_compared_question_by_question(arguments: list[str]) -> None:
    shown = run("retrieval", *arguments, "--compare", "FOOTNOTE_LATE_INTERACTION=false")
    assert "with FOOTNOTE_LATE_INTERACTION=false, question by question" in shown
    result = json.loads(run("retrieval", *arguments, "--compare", "late_interaction=0", "--json"))
    assert result["compared"]["differences"]["mrr"] == {
        "better": 0, "worse": 0, "mean": 0.0, "interval": [0.0, 0.0]
    }  # fmt: skip
    for setting in ("speed=high", "data_dir=x", "late_interaction"):
        with pytest.raises(SettingsError, match="give SETTING=VALUE, with one of embedder, "):
            run("retrieval", *arguments, "--compare", setting)
    with pytest.raises(SettingsError, match=r"^--compare late_interaction=maybe: Input should"):
        run("retrieval", *arguments, "--compare", "late_interaction=maybe")


def test_calibrating_stores_the_threshold_with_the_index_and_draws_it(
    arguments: list[str], tmp_path: Path
) -> None:
    lines = (tmp_path / "q.jsonl").read_text().splitlines()
    asked = [json.loads(line) for line in lines[:4]]
    more = [{**one, "id": f"{one['id']}-{n}"} for n in range(5) for one in asked]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, more)))

    result = json.loads(
        run("calibrate", *arguments, "--plot", str(tmp_path / "plot.png"), "--json")
    )

    assert result["answerable_called_weak"] <= 0.05
    assert result["no_answer_called_weak"] == 1.0
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    for corpus in ("shop", "team"):
        folder = live(Path(".footnote/eval") / corpus)
        assert folder is not None
        stored = float(DocumentTables(folder.database).meta()[THRESHOLD])
        assert stored == pytest.approx(result["threshold"], abs=1e-4)


def test_the_live_index_is_not_calibrated_by_questions_about_other_docs(
    arguments: list[str], tmp_path: Path
) -> None:
    settings = IndexSettings(docs_repo=str(tmp_path / "corpora" / "team"))
    index, embedder = open_index(settings, collections={}), open_embedder(settings.embedder_source)
    settings.data_dir.mkdir()
    run_ingest(settings, index, embedder)
    index.close()
    with pytest.raises(SettingsError, match=r"case q1: pay\.md is not in the index"):
        run("calibrate", *arguments[:2])


def test_too_few_questions_are_not_calibrated_on(arguments: list[str]) -> None:
    with pytest.raises(SettingsError, match="3 questions with an answer and 1 without are too few"):
        run("calibrate", *arguments)


def test_at_most_one_in_twenty_answerable_questions_is_called_weak() -> None:
    sure = [number / 100 for number in range(100)]
    assert choose(sure) == 0.05
    got = Calibration(tuple(sure), tuple(value / 4 for value in sure[:FOLDS]), choose(sure))
    assert got.rates() == (0.05, 1.0)
    wrong, right = got.unseen_rates()
    assert 0.0 < wrong < 0.12
    assert right == 1.0
    with pytest.raises(SettingsError):
        calibrate([(Case(id="q", kind="x", type="no_answer", question="?"), 0.1)])
