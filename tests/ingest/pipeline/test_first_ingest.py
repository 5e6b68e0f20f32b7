"""The first ingest of a big docs repo: words are searched before there are vectors."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ingest.chunks.chunker import CHUNKER_VERSION
from ingest.documents import SearchResult
from ingest.errors import IndexMissing
from ingest.index import folders as index_folders
from ingest.index.metadata import IndexIdentity
from ingest.pipeline import run
from ingest.pipeline.run import IngestProgress
from ingest.pipeline.target import open_target
from ingest.store.document_tables import SCHEMA_VERSION
from ingest.store.vectors import open_store
from tests.ingest.pipeline.docs import Docs

PAGES = 16


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Docs]:
    """Pages whose vectors are made one by one."""
    monkeypatch.setattr(run, "BATCH", 1)
    docs = Docs(tmp_path)
    for number in range(PAGES):
        docs.write(f"page-{number:02}.md", f"# Page {number:02}\n\nThe limit of zq{number:02}.\n")
    yield docs
    docs.index.close()


class Stop(Exception):
    """Ends a run in the middle, as a full disk or a kill does."""


def stop() -> None:
    raise Stop


def at(stage: str, done: int, act: Callable[[], object]) -> Callable[[IngestProgress], None]:
    """Return a listener that acts once, when a run has come that far."""
    acted: list[bool] = []

    def listen(progress: IngestProgress) -> None:
        if (progress.stage, progress.done) == (stage, done) and not acted:
            acted.append(True)
            act()

    return listen


def test_words_of_what_was_read_are_searched_while_the_docs_are_read(many: Docs) -> None:
    found: list[SearchResult] = []
    with pytest.raises(IndexMissing):
        many.search("zq03")
    many.ingest(at("read", 10, lambda: found.append(many.search("the limit of zq03"))))
    [result] = found
    assert result.passages[0].id == "page-03-0"
    assert not result.weak
    assert result.note == "The docs are still being read: 10 of 16 pages so far."


def test_words_of_all_pages_are_searched_before_the_first_vector_is_made(many: Docs) -> None:
    found: list[SearchResult] = []

    def search() -> None:
        found.append(many.search("zq15"))
        found.append(many.search("quarterly xylophone"))

    many.ingest(at("embed", 1, search))
    assert found[0].passages[0].id == "page-15-0"
    assert found[0].note == (
        "The docs are still being indexed: all words can be searched, 0% of the text by meaning,"
        " too."
    )
    assert found[1].weak
    result = many.search("zq15")
    assert (result.passages[0].id, result.note) == ("page-15-0", None)
    assert result.passages[0].distance < found[0].passages[0].distance == 1.0


def test_the_state_of_a_first_ingest_is_no_other_revision(many: Docs) -> None:
    seen = []
    many.ingest(at("write", 6, lambda: seen.append(many.index.status())))
    [status] = seen
    assert (status.revision, status.documents, status.differing) == (None, PAGES, 0)
    assert status.growth is not None
    assert (status.growth.chunks, status.growth.embedded) == (PAGES, 6)
    status = many.index.status()
    assert (status.growth, "growth" in status.to_json()) == (None, False)


def test_what_somebody_searches_for_gets_its_vectors_first(many: Docs) -> None:
    many.ingest(at("embed", 3, lambda: many.index.search("zq13", k=1)))
    texts = [text[5:7] for text in many.embedder.texts if text.startswith("Page ")]
    assert texts[:3] == ["00", "01", "02"]
    assert texts[3] == "13"
    assert sorted(texts) == [f"{number:02}" for number in range(PAGES)]


def test_a_page_that_changes_before_its_vectors_are_made_is_indexed_as_it_was_read(
    many: Docs,
) -> None:
    report = many.ingest(at("embed", 1, lambda: many.write("page-14.md", "# Page\n\nOther.\n")))
    assert (report.failed, report.documents) == ((), PAGES)
    assert "zq14" in many.index.passages(["page-14-0"])[0].text
    many.ingest()
    assert many.index.passages(["page-14-0"])[0].text == "# Page\n\nOther."


def test_a_page_that_changes_while_a_run_continues_another_waits_for_the_next(many: Docs) -> None:
    with pytest.raises(Stop):
        many.ingest(at("write", 6, stop))
    report = many.ingest(at("embed", 1, lambda: many.write("page-14.md", "# Page\n\nOther.\n")))
    [failed] = report.failed
    assert (failed.path, failed.reason) == ("page-14.md", "it changed while it was read")
    many.ingest()
    assert len(many.ids()) == PAGES
    assert many.index.passages(["page-14-0"])[0].text == "# Page\n\nOther."


def test_a_new_page_that_cannot_be_embedded_is_not_left_with_its_words_alone(many: Docs) -> None:
    many.embedder.refuses = "zq07"
    report = many.ingest()
    assert [failed.path for failed in report.failed] == ["page-07.md"]
    assert (report.documents, report.added, len(many.ids())) == (PAGES - 1,) * 3


def test_an_interrupted_first_run_makes_each_vector_once(many: Docs) -> None:
    with pytest.raises(Stop):
        many.ingest(at("write", 6, stop))
    assert len(many.embedder.texts) == 6
    assert many.ingest().embedded == PAGES - 6
    assert len(many.ids()) == PAGES


def test_new_pages_of_a_sound_index_are_searched_by_words_at_once(many: Docs) -> None:
    many.ingest()
    for number in range(4):
        many.write(f"new-{number}.md", f"# New\n\nThe limit of xj{number}.\n")
    found: list[SearchResult] = []
    many.ingest(at("embed", 1, lambda: found.append(many.search("xj3"))))
    assert found[0].passages[0].id == "new-3-0"
    assert found[0].note is not None


def is_checked(docs: Docs) -> bool:
    """Return True if the next run reads every vector once, since something was written."""
    identity = IndexIdentity(docs.embedder.fingerprint, CHUNKER_VERSION, SCHEMA_VERSION)
    with closing(open_target(docs.settings.data_dir, None, identity)) as target:
        return target.was_suspect


def test_vectors_are_checked_only_where_something_was_written_since_the_last_run(
    many: Docs,
) -> None:
    many.ingest()
    folder = index_folders.live(many.settings.data_dir)
    assert folder
    many.search("zq01")
    many.index.close()
    assert not is_checked(many)
    many.ingest()
    assert not is_checked(many)
    with closing(sqlite3.connect(folder.database)) as db, db:
        db.execute("DELETE FROM embedded WHERE row = 1")
    assert is_checked(many)
    assert many.ingest().embedded == 0  # the vector was there, and is noted again
    assert not is_checked(many)
    with open_store(folder.chroma, None, "footnote") as store:
        store.delete(["page-01-0"])
        store._collection.add(ids=["ghost"], embeddings=np.ones((1, 384), dtype=np.float32))
    assert is_checked(many)
    assert many.ingest().embedded == 1
    assert len(many.ids()) == PAGES
