"""Size of the index after many changes, and the compact copy that keeps it small."""

import subprocess
import sys
from pathlib import Path

import pytest

from ingest.errors import DataFolderError
from ingest.index import folders
from ingest.pipeline import compaction
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import Store
from tests.conftest import ROOT
from tests.ingest.pipeline.docs import Docs
from tests.waiting import PATIENCE


def size(data_dir: Path) -> int:
    return sum(file.stat().st_size for file in data_dir.glob("index-*/**/*") if file.is_file())


def write_all(docs: Docs, version: int) -> None:
    for page in range(12):
        steps = (f"## Step {n}\n\nDo {version} of {page} at {n}.\n\n" for n in range(30))
        docs.write(f"page-{page}.md", f"# Page {page}\n\n{''.join(steps)}")


def live_folder(docs: Docs) -> str:
    folder = folders.live(docs.settings.data_dir)
    assert folder
    return folder.name


def test_after_many_changes_the_index_is_about_as_small_as_one_made_afresh(
    docs: Docs, tmp_path: Path
) -> None:
    for version in range(8):
        write_all(docs, version)
        assert docs.ingest().embedded == 360 + (3 if version == 0 else 0)
        assert f"Do {version} of" in docs.search("do what at a step?").passages[0].text
    (tmp_path / "fresh").mkdir()
    fresh = Docs(tmp_path / "fresh")
    fresh.settings = docs.settings.model_copy(update={"data_dir": tmp_path / "fresh" / "data"})
    fresh.ingest()
    fresh.index.close()
    assert size(docs.settings.data_dir) <= 1.3 * size(fresh.settings.data_dir)
    assert docs.ids() == fresh.ids()


def test_a_compact_copy_takes_the_place_of_the_folder_while_searches_go_on(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs.ingest()
    answers: list[str] = []
    copy_to = Store.copy_to

    def search_meanwhile(store: Store, other: Store) -> None:
        answers.append(docs.search("payout worker").passages[0].id)
        copy_to(store, other)
        answers.append(docs.search("payout worker").passages[0].id)

    monkeypatch.setattr(compaction, "GROWTH", 0.0)
    monkeypatch.setattr(Store, "copy_to", search_meanwhile)
    before = docs.search("payout worker").passages[0]
    assert docs.ingest().embedded == 0
    assert answers == ["pay-0", "pay-0"]
    assert [path.name for path in docs.settings.data_dir.glob("index-*")] == ["index-2"]
    assert docs.search("payout worker").passages[0] == before
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}


KILLED = """
import os, sys
from pathlib import Path
from ingest.pipeline import compaction
from tests.ingest.pipeline.docs import Docs

compaction.GROWTH = 0.0
owner, method = sys.argv[2].split(".")
setattr(vars(compaction)[owner], method, lambda *_: os._exit(9))
Docs(Path(sys.argv[1])).ingest()
"""


@pytest.mark.parametrize("step", ["folders.make_live", "folders.remove"])
def test_a_copy_that_is_killed_leaves_one_whole_index(docs: Docs, step: str) -> None:
    docs.ingest()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(docs.folder.parent), step],
        cwd=ROOT,
        check=False,
        timeout=PATIENCE,
    )
    assert killed.returncode == 9
    assert docs.search("payout worker").passages[0].id == "pay-0"
    assert docs.ingest().embedded == 0
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}
    assert len(list(docs.settings.data_dir.glob("index-*"))) == 1


def test_a_copy_for_which_there_is_no_room_fails_no_ingest(
    docs: Docs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    docs.ingest()

    def full(_store: Store, other: Store) -> None:
        raise DataFolderError(docs.settings.data_dir, f"no room for {other}")

    monkeypatch.setattr(compaction, "GROWTH", 0.0)
    monkeypatch.setattr(Store, "copy_to", full)
    docs.write("new.md", "# New\n\nBrand new page.\n")
    assert docs.ingest().added == 1
    assert "The index was not compacted: The data folder cannot be used" in caplog.text
    assert live_folder(docs) == "index-1"
    assert docs.search("brand new").passages[0].id == "new-0"


def test_an_ingest_that_changes_nothing_deletes_token_vectors_without_a_chunk(docs: Docs) -> None:
    docs.ingest()
    folder = folders.live(docs.settings.data_dir)
    assert folder
    tables = DocumentTables(folder.database)
    tables.tokens.write({"stray": b"signs"})
    docs.ingest()
    assert tables.tokens.stored(["stray"]) == set()
    tables.close()
