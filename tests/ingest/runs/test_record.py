"""One process owns a data folder; runs are asked for, noted and reported through it."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ingest.runs.record
from ingest.cli import print_state
from ingest.data_folder import own_again, own_data_folder, owner_of
from ingest.documents import IngestReport, Skipped
from ingest.errors import DataFolderBusy, DataFolderError, DocsRepoError
from ingest.runs.record import IngestRuns
from ingest.runs.state import read_state
from ingest.settings import IndexSettings

REPORT = IngestReport("1a2b3c", 3, 5, 5, 0, 0, 0, 5, 0.25, (Skipped("a.png", "unsupported: x"),))

HOLD = """
import sys
from pathlib import Path
from ingest.data_folder import own_data_folder
with own_data_folder(Path(sys.argv[2])):
    print("owned", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_owner(data_dir: Path) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, "run", str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "owned\n"
        yield process
        process.kill()


def test_a_second_process_is_told_who_owns_the_folder(tmp_path: Path) -> None:
    with another_owner(tmp_path) as other:
        with (
            pytest.raises(DataFolderBusy, match=rf"`-c run` \(process {other.pid} on ") as error,
            own_data_folder(tmp_path),
        ):
            pass
        assert error.value.pid == other.pid
        assert "running" in str(error.value)
        owner = owner_of(tmp_path)
        assert owner
        assert owner.pid == other.pid


def test_a_lock_left_by_a_crash_is_no_obstacle(tmp_path: Path) -> None:
    with another_owner(tmp_path) as other:
        other.kill()
        other.wait()
        assert (tmp_path / "owner.json").exists()
        assert owner_of(tmp_path) is None
        with own_data_folder(tmp_path) as owner:
            assert owner.pid == os.getpid()
            assert json.loads((tmp_path / "owner.json").read_text())["pid"] == os.getpid()
    assert not (tmp_path / "owner.json").exists()


def test_one_process_does_not_own_a_folder_twice(tmp_path: Path) -> None:
    with (
        own_data_folder(tmp_path),
        pytest.raises(DataFolderBusy),
        own_data_folder(tmp_path),
    ):
        pass
    with own_data_folder(tmp_path):
        pass


def test_a_folder_in_which_no_owner_can_be_noted_is_named_and_let_go(tmp_path: Path) -> None:
    (tmp_path / "owner.json").mkdir()
    with pytest.raises(DataFolderError, match="FOOTNOTE_DATA_DIR"), own_data_folder(tmp_path):
        pass
    (tmp_path / "owner.json").rmdir()
    with own_data_folder(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "data"
    with pytest.raises(DataFolderError, match="FOOTNOTE_DATA_DIR"), own_data_folder(folder):
        pass
    with pytest.raises(DataFolderError, match=r"runs\.sqlite"):
        IngestRuns(folder).request({})


def test_looking_makes_nothing(tmp_path: Path) -> None:
    runs = IngestRuns(tmp_path / "none")
    assert runs.last() is None
    assert runs.next_request() is None
    assert runs.published("next_run_at") is None
    assert owner_of(tmp_path / "none") is None
    runs.take_over()
    assert list(tmp_path.iterdir()) == []


def test_a_request_is_taken_carried_out_and_reported(tmp_path: Path) -> None:
    asker, owner = IngestRuns(tmp_path), IngestRuns(tmp_path)
    first = asker.request({"docs_repo": "https://u:secret@h.example/a"})
    asker.request({})
    taken = owner.next_request()
    assert taken
    assert (taken.id, taken.options["docs_repo"]) == (first, "https://u:secret@h.example/a")
    owner.start(first)
    owner.progress(first, "embed", 3, 9)
    seen = asker.get(first)
    assert seen
    assert (seen.state, seen.stage, seen.done, seen.total) == ("running", "embed", 3, 9)
    owner.finish(first, REPORT)
    done = asker.get(first)
    assert done
    assert done.report == REPORT.to_json()
    assert (done.state, done.is_over, done.options) == ("done", True, {})
    assert b"secret" not in (tmp_path / "runs.sqlite").read_bytes()
    last = asker.last()
    assert last
    assert last.to_json()["report"]["skipped"] == 1


def test_a_request_that_nobody_began_with_can_be_withdrawn(tmp_path: Path) -> None:
    runs = IngestRuns(tmp_path)
    waiting, begun = runs.request({}), runs.request({})
    runs.start(begun)
    runs.withdraw(waiting)
    runs.withdraw(begun)
    assert runs.get(waiting) is None
    assert runs.get(begun)


def test_failures_and_runs_that_did_not_happen_are_kept(tmp_path: Path) -> None:
    runs = IngestRuns(tmp_path)
    run = runs.begin("schedule")
    runs.fail(run, DocsRepoError("no network", "fetch_failed"), "no network")
    failed = runs.last()
    assert failed
    assert (failed.state, failed.error, failed.error_kind) == (
        "failed",
        "no network",
        "fetch_failed",
    )
    runs.skip("schedule", "the run of 03:00 was missed")
    skipped = runs.last()
    assert skipped
    assert (skipped.state, skipped.error) == ("skipped", "the run of 03:00 was missed")


def test_a_new_owner_closes_what_an_earlier_one_left(tmp_path: Path) -> None:
    runs = IngestRuns(tmp_path)
    running, waiting = runs.begin("start"), runs.request({})
    runs.publish("listener", "1")
    runs.take_over()
    states = {run.id: run.state for i in (running, waiting) if (run := runs.get(i))}
    assert states == {running: "interrupted", waiting: "interrupted"}
    assert runs.published("listener") is None


@pytest.mark.parametrize("change", ["ADD COLUMN mood TEXT", "DROP COLUMN stage"])
def test_a_record_of_another_version_is_begun_anew(
    change: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs = IngestRuns(tmp_path)
    runs.finish(runs.begin("start"), REPORT)
    with sqlite3.connect(tmp_path / "runs.sqlite") as other:
        other.execute(f"ALTER TABLE runs {change}")
    other.close()
    assert runs.last() is None
    assert "of another version" in caplog.text
    runs.finish(runs.begin("start"), REPORT)
    assert runs.last()


def test_a_damaged_record_is_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "runs.sqlite").write_bytes(b"no database" * 1000)
    assert IngestRuns(tmp_path).last() is None
    assert "is damaged" in caplog.text


def test_old_runs_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest.runs.record, "KEEP", 3)
    runs = IngestRuns(tmp_path)
    for _ in range(5):
        runs.skip("schedule", "x")
    assert runs.get(2) is None
    assert runs.get(3)


def test_a_folder_that_is_removed_is_owned_again_and_by_nobody_else(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with own_data_folder(folder) as owner:
        assert not own_again(folder)
        shutil.rmtree(folder)
        assert own_again(folder)
        assert not own_again(folder)
        assert owner_of(folder) == owner
        with pytest.raises(DataFolderBusy), own_data_folder(folder):
            pass
        assert owner_of(folder) == owner
    assert owner_of(folder) is None


def test_the_time_to_go_of_a_run_is_read_by_others_and_forgotten_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = IndexSettings(data_dir=tmp_path)
    owner = IngestRuns(tmp_path)
    with another_owner(tmp_path):
        run = owner.begin("start")
        owner.progress(run, "embed", 400, 140_000)
        assert read_state(settings)["running"]["seconds_left"] is None
        owner.progress(run, "embed", 31_000, 140_000, 840.0)
        state = read_state(settings)
        assert 700 < state["running"]["seconds_left"] <= 840
        assert (state["running"]["done"], state["running"]["total"]) == (31_000, 140_000)
        print_state(state)
        assert "running    embedding 31,000 of 140,000, about 14 minutes to go (since " in (
            capsys.readouterr().out
        )
        owner.finish(run, REPORT)
        assert owner.seconds_left() is None
