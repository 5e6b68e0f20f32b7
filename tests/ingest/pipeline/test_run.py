"""Ingest as reconciliation: what is indexed is what the docs hold, at the least possible cost."""

import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ingest.documents import IngestReport, SearchResult
from ingest.errors import (
    DataFolderError,
    DocsRepoError,
    IndexDamaged,
    IndexMissing,
    IngestError,
    LargeDeletion,
)
from ingest.index import Index, open_index
from ingest.index import folders as index_folders
from ingest.pipeline.run import Progress, run_ingest
from ingest.pipeline.target import _discard
from ingest.settings import IndexSettings
from ingest.store.pages import Pages
from ingest.store.vectors import open_store
from tests.conftest import ROOT
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.waiting import PATIENCE

PAY = "# Pay\n\nRestart the payout worker first.\n"
LEDGER = "# Ledger\n\nThe ledger is append only.\n"
ONCALL = "# Readme\n\nPage the secondary after 15 minutes.\n"


class Docs:
    """A folder of docs and the index made of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "docs"
        self.folder.mkdir(exist_ok=True)
        self.settings = IndexSettings(docs_repo=str(self.folder), data_dir=folder / "data")
        self.embedder = HashingEmbedder()
        self.index = open_index(self.settings, self.embedder)

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def delete(self, path: str) -> None:
        (self.folder / path).unlink()

    def ingest(
        self,
        progress: Callable[[Progress], None] | None = None,
        confirm_large_deletion: bool = False,
    ) -> IngestReport:
        self.embedder.texts.clear()
        return run_ingest(
            self.settings,
            self.index,
            self.embedder,
            progress=progress,
            confirm_large_deletion=confirm_large_deletion,
        )

    def search(self, query: str) -> SearchResult:
        return self.index.search(query)

    def ids(self) -> set[str]:
        """Ids of both stores, which have to be the same."""
        folder = index_folders.live(self.settings.data_dir)
        assert folder is not None
        rows = Pages(folder.pages)
        with open_store(folder.chroma, self.settings, "footnote") as store:
            vectors = store.hashes()
        assert vectors == {id_: hash_ for id_, (_path, hash_) in rows.hashes().items()}
        rows.close()
        return set(vectors)

    def texts(self) -> str:
        return "\n".join(
            passage.text
            for info in self.index.documents()
            if (page := self.index.page(info.path))
            for passage in page.passages
        )


@pytest.fixture
def docs(tmp_path: Path) -> Iterator[Docs]:
    docs = Docs(tmp_path)
    docs.write("pay.md", PAY)
    docs.write("ledger.md", LEDGER)
    docs.write("oncall/README.md", ONCALL)
    yield docs
    docs.index.close()


def test_a_first_ingest_indexes_every_page_under_readable_ids(docs: Docs) -> None:
    report = docs.ingest()
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}
    assert (report.documents, report.chunks, report.added, report.embedded) == (3, 3, 3, 3)
    assert docs.search("payout worker").passages[0].id == "pay-0"


def test_a_second_ingest_does_nothing(docs: Docs) -> None:
    docs.ingest()
    report = docs.ingest()
    assert docs.embedder.texts == []
    assert (report.added, report.updated, report.deleted, report.embedded) == (0, 0, 0, 0)
    assert report.unchanged == 3


def test_only_the_changed_chunk_is_embedded(docs: Docs) -> None:
    docs.ingest()
    docs.write("ledger.md", "# Ledger\n\nThe ledger may be compacted now.\n")
    report = docs.ingest()
    assert len(docs.embedder.texts) == 1
    assert (report.updated, report.unchanged) == (1, 2)
    assert "append only" not in docs.texts()
    assert docs.search("compacted ledger").passages[0].id == "ledger-0"


def test_what_is_deleted_is_found_no_more(docs: Docs) -> None:
    docs.ingest()
    docs.search("ledger")
    docs.delete("ledger.md")
    assert docs.ingest().deleted == 1
    assert docs.ids() == {"pay-0", "oncall/README-0"}
    assert "ledger-0" not in {passage.id for passage in docs.search("ledger append").passages}


def test_a_renamed_page_has_new_ids_and_its_old_vectors(docs: Docs) -> None:
    docs.ingest()
    docs.delete("ledger.md")
    docs.write("core/ledger.md", LEDGER)
    report = docs.ingest()
    assert docs.embedder.texts == []
    assert (report.added, report.deleted) == (1, 1)
    assert docs.ids() == {"pay-0", "core/ledger-0", "oncall/README-0"}
    assert docs.search("ledger append only").passages[0].id == "core/ledger-0"


def test_pages_that_swap_their_names_swap_their_texts_without_embedding(docs: Docs) -> None:
    docs.ingest()
    docs.search("warm")
    docs.write("pay.md", LEDGER)
    docs.write("ledger.md", PAY)
    docs.ingest()
    assert docs.embedder.texts == []
    best = docs.search("restart the payout worker").passages[0]
    assert (best.id, best.text.splitlines()[-1]) == ("ledger-0", "Restart the payout worker first.")
    assert best.distance < docs.search("nothing alike").passages[0].distance


def test_of_two_pages_with_one_text_each_lives_its_own_life(docs: Docs) -> None:
    docs.write("x/copy.md", "# Copy\n\nIdentical sentence.\n")
    docs.write("y/copy.md", "# Copy\n\nIdentical sentence.\n")
    docs.ingest()
    assert len(docs.embedder.texts) == 4
    docs.delete("x/copy.md")
    docs.ingest()
    assert docs.ids() >= {"y/copy-0"}
    assert docs.texts().count("Identical sentence.") == 1


def test_a_text_that_moves_down_keeps_its_vector_and_gets_its_new_lines(docs: Docs) -> None:
    sections = "".join(f"## Part {n}\n\n{f'sentence of part {n}. ' * 30}\n\n" for n in range(4))
    intro = f"# Long\n\n{'introduction to it all. ' * 30}\n\n"
    docs.write("long.md", intro + sections)
    docs.ingest()
    docs.write("long.md", f"{intro}## New\n\n{'brand new words here. ' * 30}\n\n{sections}")
    docs.ingest()
    assert len(docs.embedder.texts) == 1
    lines = (docs.folder / "long.md").read_text(encoding="utf-8").splitlines()
    page = docs.index.page("long.md")
    assert page
    for passage in page.passages:
        first, last = passage.lines
        assert passage.text.strip() in "\n".join(lines[first - 1 : last])
    assert docs.ids() >= {f"long-{n}" for n in range(6)}


def test_a_page_without_text_is_skipped_with_its_reason_and_its_old_text_goes(docs: Docs) -> None:
    docs.ingest()
    docs.write("ledger.md", "")
    report = docs.ingest()
    assert [(s.path, s.reason.split(":")[0]) for s in report.skipped] == [("ledger.md", "empty")]
    assert docs.ids() == {"pay-0", "oncall/README-0"}


def test_a_page_that_a_part_trips_over_costs_itself_only(
    docs: Docs, caplog: pytest.LogCaptureFixture
) -> None:
    class Tripping(HashingEmbedder):
        def fits(self, text: str) -> bool:
            if "sesame" in text:
                raise OverflowError(text)
            return super().fits(text)

    docs.embedder = Tripping()
    docs.write("ledger.md", "# Ledger\n\nThe word is sesame.\n")
    report = docs.ingest()
    assert (report.documents, len(report.skipped)) == (2, 1)
    [skipped] = report.skipped
    assert (skipped.path, skipped.reason) == ("ledger.md", "malformed: OverflowError while reading")
    assert "ledger.md is skipped: OverflowError in " in caplog.text
    assert "sesame" not in caplog.text


def test_a_suffix_that_would_make_two_ids_meet_is_kept(docs: Docs) -> None:
    docs.write("limits.txt", "Hard limit: 400 requests.\n")
    docs.write("limits.txt.md", "Soft limit: 300 requests.\n")
    docs.ingest()
    assert docs.ids() >= {"limits.txt-0", "limits.txt.md-0"}
    docs.delete("limits.txt")
    docs.ingest()
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0", "limits.txt-0"}
    assert "Soft limit" in docs.index.passages(["limits.txt-0"])[0].text


def test_a_page_that_cannot_be_embedded_is_listed_and_tried_again(docs: Docs) -> None:
    docs.ingest()
    docs.write("ledger.md", "# Ledger\n\nNew ledger text REFUSED.\n")
    docs.write("good.md", "# Good\n\nGood page sentence.\n")
    docs.embedder.refuses = "REFUSED"
    report = docs.ingest()
    assert [failed.path for failed in report.failed] == ["ledger.md"]
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0", "good-0"}
    assert "append only" in docs.texts()
    docs.embedder.refuses = None
    assert docs.ingest().failed == ()
    assert "New ledger text" in docs.texts()


def test_a_text_that_stands_on_two_pages_is_embedded_once(docs: Docs) -> None:
    docs.write("copy.md", PAY)
    report = docs.ingest()
    assert (report.added, report.embedded, len(docs.embedder.texts)) == (4, 3, 3)


def test_losing_most_pages_at_once_is_asked_about_first(docs: Docs) -> None:
    for number in range(20):
        docs.write(f"page-{number}.md", f"# Page {number}\n\nSentence {number}.\n")
    docs.ingest()
    before = docs.ids()
    for number in range(18):
        docs.delete(f"page-{number}.md")
    with pytest.raises(LargeDeletion, match=r"18 of 23 pages.*nothing was changed") as caught:
        docs.ingest()
    assert (caught.value.deleted, caught.value.stored) == (18, 23)
    assert docs.ids() == before
    assert docs.ingest(confirm_large_deletion=True).deleted == 18


def test_losing_all_pages_is_asked_about_however_few_they_are(docs: Docs) -> None:
    docs.ingest()
    for path in ("pay.md", "ledger.md", "oncall/README.md"):
        docs.delete(path)
    with pytest.raises(LargeDeletion):
        docs.ingest()


def test_one_of_two_pages_may_go_without_asking(docs: Docs) -> None:
    docs.delete("pay.md")
    docs.ingest()
    docs.delete("ledger.md")
    assert docs.ingest().deleted == 1


def test_moving_every_page_is_no_deletion(docs: Docs) -> None:
    for number in range(20):
        docs.write(f"page-{number}.md", f"# Page {number}\n\nSentence {number}.\n")
    docs.ingest()
    shutil.move(docs.folder, docs.folder.with_name("moved"))
    docs.folder.mkdir()
    shutil.move(docs.folder.with_name("moved"), docs.folder / "new")
    report = docs.ingest()
    assert (report.documents, report.embedded) == (23, 0)


def test_docs_without_a_page_are_said_out_loud(tmp_path: Path) -> None:
    empty = Docs(tmp_path)
    report = empty.ingest()
    empty.index.close()
    assert report.documents == 0
    assert report.warnings[0].startswith("0 documents")


def test_a_repo_that_cannot_be_read_leaves_the_index_as_it_was(docs: Docs) -> None:
    docs.ingest()
    before = docs.ids()
    docs.folder.rename(docs.folder.with_name("away"))
    with pytest.raises(DocsRepoError):
        docs.ingest()
    assert docs.ids() == before
    assert docs.search("payout worker").passages[0].id == "pay-0"


def test_vectors_that_no_row_speaks_of_are_deleted(docs: Docs) -> None:
    docs.ingest()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    with open_store(folder.chroma, docs.settings, "footnote") as store:
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
    with open_store(folder.chroma, docs.settings, "footnote") as store:
        store.delete(["ledger-0"])
    docs.ingest()
    assert len(docs.embedder.texts) == 1
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}
    assert docs.search("ledger append only").passages[0].distance < 0.9


KILLED = """
import os, sys
from pathlib import Path
from ingest.store import pages
from ingest.pipeline import run as pipeline
from ingest.store import vectors as store
from ingest.pipeline import target
from tests.ingest.pipeline.test_run import Docs

owner, method = sys.argv[2].split(".")
setattr({**vars(pages), **vars(store), **vars(target)}[owner], method, lambda *_: os._exit(9))
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
    ["Store.write", "Pages.write", "Pages.delete", "Store.delete", "Target.complete"],
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


def test_a_first_run_that_is_killed_is_no_index_and_is_continued(docs: Docs) -> None:
    ingest_killed_at(docs, "Target.complete")
    assert docs.index.status().revision is None
    with pytest.raises(IndexMissing):
        docs.search("payout")
    docs.ingest()
    assert docs.embedder.texts == []
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}


def test_another_embedder_means_a_new_index_beside_the_old_one(docs: Docs) -> None:
    docs.ingest()
    first = docs.search("payout worker").passages[0]
    docs.embedder = HashingEmbedder("2")
    answers: list[str] = []

    def search_meanwhile(progress: Progress) -> None:
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

    def stop(progress: Progress) -> None:
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
    folder.pages.write_bytes(b"no database" * 1_000)
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
    folder.pages.unlink()
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
    with pytest.raises(IndexDamaged, match="footnote ingest"):
        docs.search("payout")
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
    _discard(folder, at_server)
    assert "Collection footnote may be left on the Chroma server: No Chroma server" in caplog.text
    assert not folder.path.exists()


def test_an_index_of_an_older_version_is_rebuilt_from_its_vectors(docs: Docs) -> None:
    docs.ingest()
    docs.index.close()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder
    with sqlite3.connect(folder.pages) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
    db.close()
    report = docs.ingest()
    assert "the index was rebuilt" in report.warnings[0]
    assert report.embedded == 0


def test_progress_runs_through_every_stage(docs: Docs) -> None:
    heard: list[Progress] = []
    docs.ingest(progress=heard.append)
    assert list(dict.fromkeys(progress.stage for progress in heard)) == [
        "fetch",
        "read",
        "embed",
        "write",
    ]
    assert heard[-1] == Progress("write", 3, 3)


def test_a_data_folder_that_cannot_be_written_is_named(docs: Docs) -> None:
    docs.settings.data_dir.write_text("a file", encoding="utf-8")
    with pytest.raises(IngestError, match="FOOTNOTE_DATA_DIR"):
        docs.ingest()


def test_an_index_equals_one_made_afresh_whatever_its_history(docs: Docs, tmp_path: Path) -> None:
    docs.ingest()
    docs.write("ledger.md", PAY)
    docs.delete("pay.md")
    docs.write("deep/er/page.md", "# Deep\n\n" + "A sentence that goes on. " * 80)
    docs.ingest()
    docs.write("pay.md", LEDGER)
    docs.ingest()
    (tmp_path / "fresh").mkdir()
    fresh = Docs(tmp_path / "fresh")
    fresh.folder.rmdir()
    shutil.copytree(docs.folder, fresh.folder)
    fresh.ingest()
    assert contents(docs.index) == contents(fresh.index)
    assert docs.ids() == fresh.ids()
    fresh.index.close()


def contents(index: Index) -> list[tuple[str, str, tuple[int, int]]]:
    return [
        (passage.id, passage.hash, passage.lines)
        for info in index.documents()
        if (page := index.page(info.path))
        for passage in page.passages
    ]
