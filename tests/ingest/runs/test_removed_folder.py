"""A data folder that is removed under a running process: made again, filled, and owned by one."""

import shutil
from pathlib import Path

import pytest

from ingest.data_folder import own_again, own_data_folder, owner_of
from ingest.errors import DataFolderBusy
from ingest.runs.record import IngestRuns
from ingest.runs.state import read_state
from ingest.settings import IndexSettings
from tests.ingest.runs.test_record import another_owner
from tests.ingest.runs.test_schedule import over, scheduled
from tests.waiting import wait_for


def test_a_removed_folder_is_made_again_and_filled_and_stays_owned(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pay.md").write_text("# Pay\n\nRestart the payout worker first.\n")
    settings = IndexSettings(data_dir=tmp_path / "data")
    with scheduled(tmp_path, tmp_path / "docs") as (schedule, runs):
        wait_for(runs.last)
        before = read_state(settings)
        (tmp_path / "data").rename(tmp_path / "removed")  # at once, whatever is written meanwhile
        wait_for(runs.last)
        wait_for(lambda: runs.published("next_run_at"))
        state = read_state(settings)
        assert state["documents"] == 1
        for fact in ("owner", "next_run_at", "running"):
            assert state[fact] == before[fact]
        assert runs.published("listener") == str(state["owner"]["pid"])
        with pytest.raises(DataFolderBusy), own_data_folder(tmp_path / "data"):
            pass
        assert schedule.next_run_at
    assert caplog.text.count("was removed: it is made again") == 1


def test_a_removed_folder_that_another_process_made_again_is_that_ones(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with own_data_folder(folder):
        shutil.rmtree(folder)
        with another_owner(folder) as other:
            for _ in range(2):
                with pytest.raises(DataFolderBusy, match=f"process {other.pid} "):
                    own_again(folder)
            owner = owner_of(folder)
            assert owner
            assert owner.pid == other.pid
    assert owner_of(folder) is None


def test_a_record_that_cannot_be_opened_is_one_line_and_the_next_run_comes_when_it_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pay.md").write_text("# Pay\n\nRestart the payout worker first.\n")
    record = tmp_path / "data" / "runs.sqlite"
    with scheduled(tmp_path, tmp_path / "docs") as (_, runs):
        wait_for(runs.last)
        wait_for(lambda: runs.published("next_run_at"))
        record.unlink()
        record.mkdir()
        looks: list[IngestRuns] = []
        look = IngestRuns.next_request

        def seen(self: IngestRuns) -> object:
            looks.append(self)
            return look(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(IngestRuns, "next_request", seen)
            wait_for(lambda: len(looks) > 3)
        record.rmdir()
        request = runs.request({})
        assert wait_for(over(runs, request)).state == "done"
    assert caplog.text.count("unable to open database file") == 1
