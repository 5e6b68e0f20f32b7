"""An index after a killed run, a damaged file or another version: the next run heals it."""

import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ingest.errors import (
    DataFolderError,
    IndexDamaged,
    IngestError,
)
from ingest.index import Index, open_index
from ingest.index import folders as index_folders
from ingest.pipeline.run import IngestProgress
from ingest.pipeline.target import _discard
from ingest.settings import IndexSettings
from ingest.store.vectors import open_store
from tests.conftest import ROOT
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.ingest.pipeline.docs import PAY, Docs
from tests.waiting import PATIENCE


def test_vectors_that_no_row_speaks_of_are_deleted(docs: Docs) -> None:
    docs.ingest()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    with open_store(folder.chroma, None, "footnote") as store:
        store._collection.add(
            ids=["ghost-0"],
            embeddings=np.ones((1, docs.embedder.dimensions), dtype=np.float32),
            metadatas=[{"hash": "ghost"}],
        )
    docs.ingest()
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}


def test_rows_whose_vectors_are_missing_get_them_back(docs: Docs) -> None:
    docs.ingest()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    with open_store(folder.chroma, None, "footnote") as store:
        store.delete(["ledger-0"])
    docs.ingest()
    assert len(docs.embedder.texts) == 1
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}
    assert docs.search("ledger append only").passages[0].distance < 0.9


KILLED = """
import os, sys
from pathlib import Path
from ingest.store import document_tables as tables
from ingest.pipeline import run as pipeline
from ingest.store import vectors as store
from ingest.pipeline import target
from tests.ingest.pipeline.test_run import Docs

owner, method = sys.argv[2].split(".")
setattr({**vars(tables), **vars(store), **vars(target)}[owner], method, lambda *_: os._exit(9))
Docs(Path(sys.argv[1])).ingest()
"""


def ingest_killed_at(docs: Docs, step: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(docs.folder.parent), step],
        cwd=ROOT,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 9


@pytest.mark.parametrize(
    "step",
    [
        "Store.write",
        "DocumentTables.write",
        "DocumentTables.delete",
        "Store.delete",
        "Target.complete",
    ],
)
def test_a_killed_run_is_healed_by_the_next(docs: Docs, tmp_path: Path, step: str) -> None:
    docs.ingest()
    docs.delete("ledger.md")
    docs.write("pay.md", "# Pay\n\nThe payout worker restarts by itself now.\n")
    docs.write("new.md", "# New\n\nBrand new page.\n")
    ingest_killed_at(docs, step)
    docs.search("payout worker")
    docs.ingest()
    assert docs.ids() == {"pay-0", "new-0", "oncall/README-0"}
    assert "ledger" not in docs.texts().lower()
    assert docs.search("the worker restarts by itself").passages[0].id == "pay-0"
    assert docs.ingest().embedded == 0


def test_a_first_run_that_is_killed_answers_from_what_it_read_and_is_continued(docs: Docs) -> None:
    ingest_killed_at(docs, "Target.complete")
    assert docs.index.status().revision is None
    assert docs.search("payout").passages[0].id == "pay-0"
    docs.ingest()
    assert docs.embedder.texts == []
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}


def test_another_embedder_means_a_new_index_beside_the_old_one(docs: Docs) -> None:
    docs.ingest()
    first = docs.search("payout worker").passages[0]
    docs.embedder = HashingEmbedder("2")
    answers: list[str] = []

    def search_meanwhile(progress: IngestProgress) -> None:
        answers.append(docs.search("payout worker").passages[0].id)

    report = docs.ingest(progress=search_meanwhile)
    assert report.embedded == 3
    assert "the index was rebuilt" in report.warnings[0]
    assert set(answers) == {"pay-0"}
    again = docs.search("payout worker").passages[0]
    assert (again.id, again.hash) == (first.id, first.hash)
    assert again.distance != first.distance
    folders = [path.name for path in docs.settings.data_dir.glob("index-*")]
    assert folders == ["index-2"]


def test_searches_go_on_while_pages_change(docs: Docs) -> None:
    docs.ingest()
    docs.write("pay.md", "# Pay\n\nThe payout worker restarts by itself now.\n")
    docs.delete("ledger.md")
    found: list[str] = []
    docs.ingest(progress=lambda _: found.append(docs.search("payout worker").passages[0].text))
    assert set(found) == {PAY.strip(), "# Pay\n\nThe payout worker restarts by itself now."}


def test_no_search_fails_while_the_index_is_replaced_again_and_again(docs: Docs) -> None:
    docs.ingest()
    elsewhere = open_index(docs.settings, HashingEmbedder())
    over = threading.Event()
    found: list[str] = []

    def search(index: Index) -> None:
        while not over.is_set():
            found.append(index.search("payout worker").passages[0].id)
            found.extend(passage.id for passage in index.passages(["pay-0"]))
            assert index.status().documents == 3

    with ThreadPoolExecutor(4) as threads:
        searching = [threads.submit(search, index) for index in (docs.index, elsewhere) * 2]
        try:
            for version in range(2, 8):
                docs.embedder = HashingEmbedder(str(version))
                assert docs.ingest().embedded == 3
        finally:
            over.set()
        for one in searching:
            one.result()
    elsewhere.close()
    assert set(found) == {"pay-0"}
    assert [path.name for path in docs.settings.data_dir.glob("index-*")] == ["index-7"]


def test_an_index_of_another_embedder_is_searched_by_words(docs: Docs) -> None:
    docs.ingest()
    other = open_index(docs.settings, HashingEmbedder("2"))
    assert other.search("payout worker").passages[0].id == "pay-0"
    other.close()


def test_a_rebuild_that_is_killed_leaves_the_old_index_answering(docs: Docs) -> None:
    docs.ingest()
    docs.embedder = HashingEmbedder("2")

    class Stop(Exception):
        pass

    def stop(progress: IngestProgress) -> None:
        if progress.stage == "embed":
            raise Stop

    with pytest.raises(Stop):
        docs.ingest(progress=stop)
    assert docs.search("payout worker").passages[0].id == "pay-0"
    assert docs.ingest().embedded == 3


def test_a_damaged_keyword_database_is_rebuilt_with_the_vectors_there_are(docs: Docs) -> None:
    docs.ingest()
    docs.index.close()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    folder.database.write_bytes(b"no database" * 1_000)
    with pytest.raises(IngestError, match="footnote ingest"):
        docs.search("payout")
    report = docs.ingest()
    assert "the index was rebuilt" in report.warnings[0]
    assert docs.embedder.texts == []
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}


def test_a_missing_keyword_database_is_rebuilt(docs: Docs) -> None:
    docs.ingest()
    docs.index.close()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    folder.database.unlink()
    assert "the index was rebuilt" in docs.ingest().warnings[0]
    assert docs.embedder.texts == []
    assert docs.search("payout worker").passages[0].id == "pay-0"


def test_lost_vectors_are_made_anew(docs: Docs) -> None:
    docs.ingest()
    docs.index.close()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    shutil.rmtree(folder.chroma)
    report = docs.ingest()
    assert report.embedded == 3
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}


@pytest.mark.parametrize("garbage", [b"no database" * 1_000, b""])
def test_a_vector_database_that_is_garbage_is_rebuilt(docs: Docs, garbage: bytes) -> None:
    docs.ingest()
    docs.index.close()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    (folder.chroma / "chroma.sqlite3").write_bytes(garbage)
    if garbage:
        with pytest.raises(IndexDamaged, match="footnote ingest"):
            docs.search("payout")
    else:  # an empty database is sound, without any vector
        assert docs.search("payout worker").passages[0].id == "pay-0"
    report = docs.ingest()
    assert report.embedded == 3
    (warning,) = report.warnings
    assert warning.endswith(": the index was rebuilt.")
    assert "\n" not in warning
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}
    assert docs.search("payout worker").passages[0].id == "pay-0"


@pytest.mark.parametrize("kind", ["folder", "garbage", "elsewhere"])
def test_a_damaged_pointer_is_named_and_mended_with_the_index_there_is(
    docs: Docs, kind: str
) -> None:
    docs.ingest()
    pointer = docs.settings.data_dir / "current"
    if kind == "folder":
        pointer.unlink()
        (pointer / "inside").mkdir(parents=True)
    else:
        pointer.write_text("index-99" if kind == "elsewhere" else "\0 nonsense", encoding="utf-8")
    with pytest.raises(IndexDamaged, match=r"current does not name an index.*footnote ingest"):
        docs.search("payout")
    report = docs.ingest()
    assert report.embedded == 0
    assert "the index was rebuilt" in report.warnings[0]
    assert docs.search("payout worker").passages[0].id == "pay-0"
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}


@pytest.mark.parametrize("place", ["file", "file/below", "/dev/null", "/proc/none"])
def test_a_place_that_can_hold_no_index_is_no_empty_index(docs: Docs, place: str) -> None:
    folder = docs.folder.parent / place
    (docs.folder.parent / "file").write_text("a file", encoding="utf-8")
    index = open_index(IndexSettings(data_dir=folder), docs.embedder)
    for read in (index.status, index.documents, lambda: index.search("payout")):
        with pytest.raises(DataFolderError, match="FOOTNOTE_DATA_DIR"):
            read()


def test_a_collection_that_may_be_left_on_a_server_is_named(
    docs: Docs, caplog: pytest.LogCaptureFixture
) -> None:
    docs.ingest()
    docs.index.close()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    at_server = docs.settings.model_copy(update={"chroma_host": "127.0.0.1", "chroma_port": 1})
    _discard(folder, at_server.chroma_server)
    assert "Collection footnote may be left on the Chroma server: No Chroma server" in caplog.text
    assert not folder.path.exists()


def test_an_index_of_an_older_schema_answers_until_the_new_one_is_complete(docs: Docs) -> None:
    docs.ingest()
    before = docs.search("payout worker").passages
    docs.index.close()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    with closing(sqlite3.connect(folder.database)) as db, db:
        db.execute("UPDATE meta SET value = '3' WHERE key = 'schema'")
        for column in ("content", "kin"):
            db.execute(f"DROP INDEX chunks_of_{column}")
            db.execute(f"ALTER TABLE chunks DROP COLUMN {column}")
        for table in ("embedded", "includes", "shown"):
            db.execute(f"DROP TABLE {table}")
    older = docs.search("payout worker").passages
    assert [passage.id for passage in older] == [passage.id for passage in before]
    assert [passage.distance for passage in older] == [passage.distance for passage in before]
    assert docs.ingest().embedded == 0
    assert docs.search("payout worker").passages == before


def test_an_index_of_an_older_version_is_rebuilt_from_its_vectors(docs: Docs) -> None:
    docs.ingest()
    docs.index.close()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    with sqlite3.connect(folder.database) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    db.close()
    report = docs.ingest()
    assert "the index was rebuilt" in report.warnings[0]
    assert report.embedded == 0
