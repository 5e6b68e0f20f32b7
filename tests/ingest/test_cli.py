"""``footnote ingest``, ``search`` and ``status`` in a terminal and as JSON."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli import app
from ingest.data_folder import own_data_folder
from ingest.embedding.embedder import open_embedder
from ingest.errors import DataFolderBusy, DocsRepoError, FootnoteError, IndexMissing, LargeDeletion
from ingest.index import open_index
from ingest.runs.record import IngestRuns
from ingest.runs.schedule import Schedule
from ingest.runs.terminal_run import HandedOverError
from ingest.settings import IndexSettings
from tests.waiting import wait_for

PAGES = {
    "pay.md": "# Pay\n\nRestart the payout worker first.\n",
    "ledger.md": "# Ledger\n\nThe ledger is append only.\n",
    "oncall/README.md": "# Readme\n\nPage the secondary after 15 minutes.\n",
}


@pytest.fixture(autouse=True)
def _plain_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the few seconds that the int8 graph takes."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for path, text in PAGES.items():
        file = tmp_path / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "docs"


def run(*arguments: str) -> str:
    """Output of a command that succeeds; its error, where it ends with one of ours."""
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, FootnoteError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def errors(*arguments: str) -> str:
    return CliRunner().invoke(app, arguments).stderr


def run_json(*arguments: str) -> dict[str, Any]:
    output = run(*arguments, "--json")
    assert output.count("\n") == 1
    value = json.loads(output)
    assert isinstance(value, dict)
    return value


def test_ingest_reports_and_a_second_one_does_nothing(docs: Path) -> None:
    (docs / "logo.png").write_bytes(b"\x89PNG")
    first = run_json("ingest", str(docs))
    assert (first["documents"], first["added"], first["embedded"]) == (3, 3, 3)
    assert first["skipped"] == [{"path": "logo.png", "reason": "unsupported: no reader for .png"}]
    assert first["revision"] == "local folder"
    second = run_json("ingest", str(docs))
    assert (second["unchanged"], second["embedded"], second["added"]) == (3, 0, 0)
    shown = run("ingest", str(docs))
    assert shown.startswith("3 documents, 3 chunks at local folder: 0 added, 0 changed")
    assert "skipped  1: unsupported: no reader for .png\n         logo.png" in shown


def test_options_take_the_place_of_settings(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_DOCS_REPO", str(docs.parent))
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", "elsewhere")
    report = run_json(
        *("ingest", "--root", "docs", "--include", "*.md", "--exclude", "oncall/**"),
        *("--data-dir", "here"),
    )
    assert report["documents"] == 2
    assert Path("here/current").exists()
    assert not Path("elsewhere").exists()


def test_search_shows_passages_best_first(docs: Path) -> None:
    run("ingest", str(docs))
    found = run_json("search", "how do I restart the payout worker", "-k", "2")
    assert found["query"] == "how do I restart the payout worker"
    assert len(found["passages"]) == 2
    best = found["passages"][0]
    assert best["id"] == "pay-0"
    assert best["lines"] == [1, 3]
    assert {"path", "heading", "url", "text", "score", "distance"} <= best.keys()
    assert "[pay-0]" in run("search", "payout worker", "-k", "1")
    only = run_json("search", "payout worker", "--path", "oncall/")
    assert {passage["path"] for passage in only["passages"]} == {"oncall/README.md"}


def test_a_search_names_the_other_places_of_a_text(docs: Path) -> None:
    page = (docs / "pay.md").read_text(encoding="utf-8")
    (docs / "v1.1").mkdir()
    (docs / "v1.1" / "pay.md").write_text(page, encoding="utf-8")
    run("ingest", str(docs))
    assert "also in v1.1/pay.md lines 1-3, version 1.1" in run("search", "payout worker", "-k", "1")


def test_a_search_that_no_page_can_answer_says_why(docs: Path) -> None:
    run("ingest", str(docs))
    for given in (["--path", "nowhere"], ["--tag", "none"], ["--updated-after", "2020-01-01"]):
        assert errors("search", "payout", *given) == "No page passes these filters.\n"
    assert errors("search", "zanzibar quota") == "Nothing here is likely to answer that.\n"
    for command in (["search", " "], ["search", "payout", "--updated-after", "2020-13-01"]):
        assert CliRunner().invoke(app, command).exit_code == 2


def test_status_says_what_is_indexed(docs: Path) -> None:
    before = run_json("status")
    assert (before["documents"], before["revision"], before["last_run"]) == (0, None, None)
    assert before["stale"]
    assert "run `footnote ingest`" in run("status")
    assert not Path(".footnote").exists()
    run("ingest", str(docs))
    after = run_json("status")
    assert (after["documents"], after["chunks"], after["stale"]) == (3, 3, False)
    assert after["last_run"]["state"] == "done"
    assert (after["next_run_at"], after["owner"]) == (None, None)
    assert "3 documents, 3 chunks" in run("status")


def test_searching_before_the_first_ingest_says_so() -> None:
    with pytest.raises(IndexMissing, match="footnote ingest"):
        run("search", "anything")


def test_a_failed_run_stands_in_the_status(docs: Path) -> None:
    run("ingest", str(docs))
    with pytest.raises(DocsRepoError):
        run("ingest", "no-such-folder")
    state = run_json("status")
    assert state["documents"] == 3
    assert (state["last_run"]["state"], state["last_run"]["error_kind"]) == (
        "failed",
        "not_a_folder",
    )
    assert "failed" in run("status")
    runs = IngestRuns(Path(".footnote"))
    begun = runs.get(runs.begin("command"))  # by a process that was killed
    assert begun is not None
    state = run_json("status")
    assert (state["last_run"]["state"], state["running"]) == ("interrupted", None)
    cut_off = f"interrupted {begun.started_at}: the process that ran it ended"
    assert f"last run   {cut_off}" in run("status")


def test_a_large_deletion_needs_a_yes(docs: Path, tmp_path: Path) -> None:
    for number in range(10):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\nText {number}.\n")
    run("ingest", str(docs))
    for file in docs.glob("?.md"):
        file.unlink()
    with pytest.raises(LargeDeletion):
        run("ingest", str(docs))
    assert run_json("status")["documents"] == 13
    assert run_json("ingest", str(docs), "--yes")["deleted"] == 10


def test_every_command_explains_itself() -> None:
    for command in ("ingest", "search", "status"):
        assert "--json" in run(command, "--help")


@contextmanager
def a_bot(docs: Path) -> Iterator[IngestRuns]:
    """A process that owns the data folder and takes requests."""
    settings = IndexSettings(docs_repo=str(docs), embedder_int8=False)
    index = open_index(settings)
    with own_data_folder(settings.data_dir):
        schedule = Schedule(settings, index, embedder=open_embedder(settings.embedder_source))
        schedule.start()
        try:
            wait_for(IngestRuns(settings.data_dir).last)
            yield IngestRuns(settings.data_dir)
        finally:
            schedule.stop()
            index.close()


def test_beside_a_bot_the_bot_does_the_work_and_the_report_is_the_same(docs: Path) -> None:
    with a_bot(docs) as runs:
        (docs / "new.md").write_text("# New\n\nBrand new page.\n")
        report = run_json("ingest", str(docs))
        last = runs.last()
        assert last
        assert (last.reason, last.report) == ("command", report)
        assert (report["documents"], report["added"]) == (4, 1)
        state = run_json("status")
        assert state["owner"]
        assert state["next_run_at"]
        assert run_json("search", "brand new page")["passages"][0]["id"] == "new-0"
        with pytest.raises(HandedOverError, match="neither a folder nor a git address"):
            run("ingest", "no-such-folder")


HOLD = """
import sys
from pathlib import Path
from ingest.data_folder import own_data_folder
with own_data_folder(Path(".footnote")):
    print("owned", flush=True)
    sys.stdin.read()
"""


def test_beside_another_ingest_it_says_that_one_is_running(docs: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, "ingest"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(DataFolderBusy, match="running") as error:
            run("ingest", str(docs))
        assert error.value.pid == other.pid
        other.kill()
    assert run_json("ingest", str(docs))["documents"] == 3
