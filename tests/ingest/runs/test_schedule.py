"""The docs are ingested at start, at their time, and when somebody asks; one run at a time."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.data_folder import own_data_folder
from ingest.index import open_index
from ingest.runs.outage import Outage
from ingest.runs.record import IngestRun, IngestRuns
from ingest.runs.schedule import Schedule
from ingest.runs.state import read_state
from ingest.settings import IndexSettings
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.waiting import PATIENCE, wait_for

LEAP_DAY = "0 3 29 2 *"
"""A time that does not come while a test runs."""


@contextmanager
def scheduled(
    tmp_path: Path, docs: Path | None, embedder: HashingEmbedder | None = None, at: str = LEAP_DAY
) -> Iterator[tuple[Schedule, IngestRuns]]:
    settings = IndexSettings(
        docs_repo=str(docs) if docs else None, data_dir=tmp_path / "data", ingest_at=at
    )
    embedder = embedder or HashingEmbedder()
    index = open_index(settings, embedder)
    with own_data_folder(settings.data_dir):
        schedule = Schedule(settings, index, embedder=embedder)
        schedule.start()
        try:
            yield schedule, IngestRuns(settings.data_dir)
        finally:
            schedule.stop()
            index.close()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "pay.md").write_text("# Pay\n\nRestart the payout worker first.\n")
    return folder


def over(runs: IngestRuns, run_id: int) -> Callable[[], IngestRun | None]:
    def look() -> IngestRun | None:
        run = runs.get(run_id)
        return run if run and run.is_over else None

    return look


def test_the_index_is_brought_up_to_date_at_start(tmp_path: Path, docs: Path) -> None:
    with scheduled(tmp_path, docs) as (schedule, runs):
        run = wait_for(runs.last)
        assert (run.reason, run.state) == ("start", "done")
        state = read_state(IndexSettings(data_dir=tmp_path / "data"))
        assert state["documents"] == 1
        assert schedule.next_run_at
        assert state["next_run_at"] == schedule.next_run_at.isoformat(timespec="seconds")
    assert read_state(IndexSettings(data_dir=tmp_path / "data"))["next_run_at"] is None


def test_a_process_that_starts_on_a_damaged_index_heals_it(tmp_path: Path, docs: Path) -> None:
    with scheduled(tmp_path, docs) as (_, runs):
        wait_for(runs.last)
    (tmp_path / "data/index-1/chroma/chroma.sqlite3").write_bytes(b"no database" * 1_000)
    with scheduled(tmp_path, docs) as (_, runs):
        run = wait_for(lambda: run if (run := runs.last()) and run.id > 1 else None)
        assert run.state == "done"
        assert run.report
        assert "the index was rebuilt" in run.report["warnings"][0]


def test_starting_does_not_wait_for_the_ingest(tmp_path: Path, docs: Path) -> None:
    go_on = threading.Event()

    class Slow(HashingEmbedder):
        def fits(self, text: str) -> bool:
            return go_on.wait(PATIENCE) and super().fits(text)

    with scheduled(tmp_path, docs, Slow()) as (schedule, runs):
        assert schedule.is_catching_up
        assert wait_for(runs.running)
        assert runs.last() is None
        assert schedule.is_catching_up
        go_on.set()
        wait_for(lambda: not schedule.is_catching_up)
        run = runs.last()
        assert run
        assert run.state == "done"


def test_a_request_is_carried_out_with_its_options(tmp_path: Path, docs: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "ledger.md").write_text("# Ledger\n\nThe ledger is append only.\n")
    with scheduled(tmp_path, docs) as (_, runs):
        wait_for(runs.last)
        request = runs.request({"docs_repo": str(other), "confirm_large_deletion": True})
        run = wait_for(over(runs, request))
        assert run.state == "done"
        assert run.report
        assert (run.report["added"], run.report["deleted"]) == (1, 1)


def test_a_failed_run_is_one_line_and_the_next_one_goes_on(
    tmp_path: Path, docs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with scheduled(tmp_path, tmp_path / "gone") as (schedule, runs):
        run = wait_for(runs.last)
        wait_for(lambda: not schedule.is_catching_up)
        assert (run.state, run.error_kind) == ("failed", "not_a_folder")
        request = runs.request({"docs_repo": str(docs)})
        assert wait_for(over(runs, request)).state == "done"
    lines = [r.getMessage() for r in caplog.records if r.name == "ingest.runs.schedule"]
    [line] = lines
    assert line.startswith(f"Ingest failed: {run.error} The next try is at ")


def test_a_run_that_breaks_is_noted_too(
    tmp_path: Path, docs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(HashingEmbedder):
        def fits(self, text: str) -> bool:
            raise ZeroDivisionError

    with scheduled(tmp_path, docs, Broken()) as (_, runs):
        run = wait_for(runs.last)
        assert (run.state, run.error) == ("failed", "unexpected ZeroDivisionError; see the log")
        assert wait_for(lambda: "ZeroDivisionError" in caplog.text)


def test_stopping_ends_the_run_under_way_and_the_next_goes_on(tmp_path: Path, docs: Path) -> None:
    for number in range(20):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\nText {number}.\n")
    begun, stopping = threading.Event(), threading.Event()

    class Slow(HashingEmbedder):
        def fits(self, text: str) -> bool:
            begun.set()
            stopping.wait(1)
            return super().fits(text)

    with scheduled(tmp_path, docs, Slow()) as (_, runs):
        assert begun.wait(PATIENCE)
    last = runs.last()
    assert last
    assert last.state == "interrupted"
    with scheduled(tmp_path, docs) as (_, runs):
        assert wait_for(lambda: (run := runs.last()) and run.state == "done")


def test_the_run_comes_at_its_time(tmp_path: Path, docs: Path) -> None:
    with scheduled(tmp_path, docs) as (schedule, runs):
        wait_for(runs.last)
        job = schedule._scheduler.get_job("nightly")
        job.modify(next_run_time=datetime.now(UTC))
        wait_for(lambda: (run := runs.last()) and (run.reason, run.state) == ("schedule", "done"))


def failed_runs(runs: IngestRuns, count: int) -> Callable[[], Outage | None]:
    def look() -> Outage | None:
        outage = runs.outage()
        return outage if outage and outage.attempts >= count and outage.next_try_at else None

    return look


def minutes_to(outage: Outage) -> float:
    last = datetime.fromisoformat(outage.next_try_at or "")
    return round((last - datetime.now(UTC)).total_seconds() / 60)


def try_now(schedule: Schedule) -> None:
    schedule._scheduler.get_job("next try").modify(next_run_time=datetime.now(UTC))


def test_a_failed_run_is_tried_again_with_growing_pauses_also_after_a_restart(
    tmp_path: Path, docs: Path
) -> None:
    with scheduled(tmp_path, docs) as (_, runs):
        wait_for(runs.last)
    away = docs.rename(tmp_path / "away")
    with scheduled(tmp_path, docs) as (schedule, runs):
        assert minutes_to(wait_for(failed_runs(runs, 1))) == 1
        try_now(schedule)
        assert minutes_to(wait_for(failed_runs(runs, 2))) == 5
    with scheduled(tmp_path, docs) as (schedule, runs):
        outage = wait_for(failed_runs(runs, 3))
        assert minutes_to(outage) == 15
        state = read_state(IndexSettings(data_dir=tmp_path / "data"))["outage"]
        assert (state["attempts"], state["next_try_at"]) == (3, outage.next_try_at)
        away.rename(docs)
        try_now(schedule)
        run = wait_for(lambda: run if (run := runs.last()) and run.state == "done" else None)
        assert run.reason == "retry"
        assert wait_for(lambda: schedule._scheduler.get_job("next try") is None)
        assert read_state(IndexSettings(data_dir=tmp_path / "data"))["outage"] is None


def test_a_run_that_waits_for_a_confirmation_is_not_tried_again(tmp_path: Path, docs: Path) -> None:
    with scheduled(tmp_path, docs) as (_, runs):
        wait_for(runs.last)
    (docs / "pay.md").unlink()
    with scheduled(tmp_path, docs) as (schedule, runs):
        outage = wait_for(runs.outage)
        wait_for(lambda: not schedule.is_catching_up)
        assert outage.kind == "LargeDeletion"
        assert schedule._scheduler.get_job("next try") is None
        assert read_state(IndexSettings(data_dir=tmp_path / "data"))["outage"]["attempts"] == 1
