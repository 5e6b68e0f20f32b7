"""An index that cannot be read while it is in use: what is said, and what is done at once."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ingest.errors import DataFolderError, IndexDamaged, IndexLocked, IndexMissing
from ingest.index import Index, folders, open_index, snapshot
from ingest.index.folders import IndexFolder
from ingest.pipeline.target import LOCAL_COLLECTION
from ingest.settings import IndexSettings
from ingest.store import chroma, sqlite
from ingest.store.vectors import open_store
from tests.ingest.pipeline.docs import LEDGER, ONCALL, PAY, Docs


@pytest.fixture
def docs(tmp_path: Path) -> Iterator[Docs]:
    docs = Docs(tmp_path)
    for path, text in (("pay.md", PAY), ("ledger.md", LEDGER), ("oncall/README.md", ONCALL)):
        docs.write(path, text)
    docs.ingest()
    docs.search("payout worker")
    yield docs
    docs.index.close()


def live(docs: Docs) -> IndexFolder:
    folder = folders.live(docs.settings.data_dir)
    assert folder
    return folder


def no_words(folder: IndexFolder) -> None:
    """Damage the keyword index alone, which the check of the file does not notice."""
    with closing(sqlite3.connect(folder.database)) as db, db:
        db.execute("UPDATE keywords_data SET block = x'ff' WHERE id > 10")


def zeroed(folder: IndexFolder) -> None:
    with closing(sqlite3.connect(folder.database)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    folder.database.write_bytes(b"\0" * folder.database.stat().st_size)


DAMAGES: dict[str, Callable[[IndexFolder], object]] = {
    "zeroed database": zeroed,
    "missing database": lambda folder: folder.database.unlink(),
    "missing folder": lambda folder: shutil.rmtree(folder.path),
    "missing data folder": lambda folder: shutil.rmtree(folder.path.parent),
    "pointer": lambda folder: (folder.path.parent / "current").write_text("nonsense"),
    "keyword index": no_words,
}
WAYS: dict[str, Callable[[Index], object]] = {
    "search": lambda index: index.search("payout worker"),
    "document": lambda index: index.document("pay.md"),
    "passages": lambda index: index.passages(["pay-0"]),
    "documents": Index.documents,
    "status": Index.status,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_called_that_and_rebuilt_at_once_whoever_reads_it(
    docs: Docs, damage: str
) -> None:
    asked: list[bool] = []
    docs.index.rebuild_by(lambda: asked.append(True))
    ways = WAYS if damage != "keyword index" else {"search": WAYS["search"]}
    DAMAGES[damage](live(docs))
    for way in ways.values():
        with pytest.raises(IndexDamaged) as caught:
            way(docs.index)
        assert caught.value.spoken == ("The index of the docs cannot be read; it is being rebuilt.")
        assert str(caught.value).endswith(": it is being rebuilt.")
    assert asked == [True]
    docs.ingest()
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}
    for way in WAYS.values():
        assert way(docs.index)
    DAMAGES[damage](live(docs))
    with pytest.raises(IndexDamaged):
        docs.search("payout worker")
    assert asked == [True, True]


def test_without_its_vectors_an_index_is_searched_by_words_and_rebuilt_at_once(
    docs: Docs, caplog: pytest.LogCaptureFixture
) -> None:
    docs.index.close()
    with open_store(live(docs).chroma, None, LOCAL_COLLECTION) as store:
        store.drop()
    docs.index = open_index(docs.settings, docs.embedder)
    asked: list[bool] = []
    docs.index.rebuild_by(lambda: asked.append(True))
    for _ in range(2):
        assert docs.index.search("payout worker").passages[0].id == "pay-0"
    assert asked == [True]
    assert "has lost its vectors" in caplog.text
    report = docs.ingest()
    assert "has lost its vectors: the index was rebuilt" in report.warnings[0]
    assert min(p.distance for p in docs.index.search("payout worker").passages) < 1.0


def test_a_command_that_reads_a_damaged_index_names_the_command_that_rebuilds_it(
    docs: Docs,
) -> None:
    zeroed(live(docs))
    with pytest.raises(IndexDamaged, match="run `footnote ingest` to rebuild it") as caught:
        docs.search("payout worker")
    assert caught.value.spoken == "The index of the docs cannot be read."


def test_an_index_that_never_was_is_not_damaged(tmp_path: Path) -> None:
    index = open_index(IndexSettings(data_dir=tmp_path / "none"))
    index.rebuild_by(lambda: pytest.fail("nothing to rebuild"))
    with pytest.raises(IndexMissing):
        index.search("anything")


LOCK = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Let another process hold a database, as a backup does."""
    with subprocess.Popen(
        [sys.executable, "-c", LOCK, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        holder.stdout.readline()
        yield
        assert holder.stdin
        holder.stdin.close()


@pytest.mark.parametrize("name", ["chroma/chroma.sqlite3", "pages.sqlite"])
def test_a_lock_of_another_program_is_not_damage(
    docs: Docs, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(chroma, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(snapshot, "RETRY_SECONDS", 0.0)
    docs.index.rebuild_by(lambda: pytest.fail("nothing to rebuild"))
    docs.index.close()
    docs.write("pay.md", "# Pay\n\nThe payout worker restarts by itself now.\n")
    folder = live(docs)
    with held(folder.path / name):
        assert docs.search("payout worker").passages[0].text == PAY.strip()
        with pytest.raises(IndexLocked, match=r"Another program.*holds .*: close it") as caught:
            docs.ingest()
        assert "\n" not in str(caught.value)
        assert "another program holds it" in caught.value.spoken
        assert docs.search("payout worker").passages[0].text == PAY.strip()
    report = docs.ingest()
    assert (report.warnings, report.embedded, live(docs).name) == ((), 1, folder.name)
    assert docs.search("payout worker").passages[0].distance < 0.9


def test_a_rebuild_that_cannot_be_asked_for_is_not_promised(docs: Docs) -> None:
    def refuse() -> None:
        raise DataFolderError(docs.settings.data_dir, "no room")

    docs.index.rebuild_by(refuse)
    zeroed(live(docs))
    for _ in range(2):
        with pytest.raises(IndexDamaged, match="run `footnote ingest` to rebuild it"):
            docs.search("payout worker")
