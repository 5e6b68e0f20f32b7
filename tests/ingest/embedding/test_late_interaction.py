"""Texts compared word by word, and what is kept of them for that."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ingest.embedding.late_interaction import closeness, meaningful, packed
from ingest.index import open_index
from ingest.index.folders import live
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import Vectors
from tests.ingest.embedding.hashing import HashingEmbedder


class WordsApart(HashingEmbedder):
    """Every word is a token with a direction of its own."""

    def embed_tokens(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> tuple[Vectors, list[Vectors]]:
        return self.embed(texts, progress), [self.words(text) for text in texts]

    def words(self, text: str) -> Vectors:
        rows = [np.random.default_rng(sum(map(ord, word))) for word in text.lower().split()]
        drawn = np.array([row.standard_normal(self.dimensions) for row in rows], dtype=np.float32)
        if not len(drawn):
            return np.empty((0, self.dimensions), dtype=np.float32)
        unit: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return unit


WORDS = WordsApart()


def close(query: str, *texts: str) -> dict[int, float]:
    return closeness(WORDS.words(query), {n: packed(WORDS.words(t)) for n, t in enumerate(texts)})


def test_the_text_that_holds_every_word_of_the_query_is_the_nearest() -> None:
    found = close("payout worker restarted", "the worker lies", "restarted : payout worker", "none")
    assert found[1] == 1.0
    assert found[2] == 0.0
    assert found[0] == pytest.approx(1 / 3, abs=0.1)


def test_texts_that_are_equally_near_are_told_apart_by_nothing() -> None:
    assert close("payout", "payout", "payout") == {0: 0.0, 1: 0.0}


def test_what_has_no_tokens_is_not_compared() -> None:
    assert close("payout", "payout", "", "worker") == {0: 1.0, 2: 0.0}
    assert close("", "payout") == {}
    assert close("payout") == {}


def test_a_sign_takes_a_bit_a_dimension_whatever_their_number() -> None:
    vectors = np.array([[0.5, -0.1] * 5, [-1.0] * 10], dtype=np.float32)
    assert packed(vectors) == bytes([0b10101010, 0b10000000, 0, 0])
    asked = np.eye(10, dtype=np.float32)[[0]]
    assert closeness(asked, {1: packed(vectors[:1]), 2: packed(vectors[1:])}) == {1: 1.0, 2: 0.0}


def test_stop_words_and_punctuation_say_nothing_by_themselves() -> None:
    assert meaningful(["[CLS]", "how", "do", "i", "rotate", "##s", "?", "key"]) == [0, 4, 5, 7]


@pytest.fixture
def docs(tmp_path: Path) -> IndexSettings:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pay.md").write_text("# Pay\n\nRestart the payout worker.\n")
    (tmp_path / "docs" / "ledger.md").write_text("# Ledger\n\nThe ledger is append only.\n")
    return IndexSettings(docs_repo=str(tmp_path / "docs"), data_dir=tmp_path / "data")


def ingest(docs: IndexSettings, embedder: HashingEmbedder) -> int:
    with closing(open_index(docs, embedder)) as index:
        return run_ingest(docs, index, embedder, confirm_large_deletion=True).embedded


@pytest.fixture
def stored(docs: IndexSettings) -> Callable[[], dict[str, bytes]]:
    def read() -> dict[str, bytes]:
        folder = live(docs.data_dir)
        assert folder is not None
        with closing(DocumentTables(folder.database)) as pages:
            of_document = dict(pages.hashes().values())
            kept = pages.tokens.read(of_document.values())
        return {path: kept[hash_] for path, hash_ in of_document.items()}

    return read


def test_tokens_of_a_page_stay_with_its_text_wherever_it_moves(
    docs: IndexSettings, stored: Callable[[], dict[str, bytes]]
) -> None:
    embedder = WordsApart()
    assert ingest(docs, embedder) == 2
    before = stored()
    assert all(before.values())
    root = Path(docs.docs_repo or "")
    (root / "pay.md").rename(root / "money.md")
    assert ingest(docs, embedder) == 0
    assert stored() == {"ledger.md": before["ledger.md"], "money.md": before["pay.md"]}


def test_tokens_of_a_text_that_is_gone_are_forgotten(docs: IndexSettings) -> None:
    ingest(docs, WordsApart())
    folder = live(docs.data_dir)
    assert folder is not None
    with closing(DocumentTables(folder.database)) as pages:
        [hash_] = [hash_ for path, hash_ in pages.hashes().values() if path == "pay.md"]
        assert pages.tokens.stored([hash_]) == {hash_}
        (Path(docs.docs_repo or "") / "pay.md").unlink()
        ingest(docs, WordsApart())
        assert pages.tokens.stored([hash_]) == set()


def test_a_rebuilt_index_takes_tokens_over_with_the_vectors(
    docs: IndexSettings,
    stored: Callable[[], dict[str, bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ingest(docs, WordsApart())
    before, folder = stored(), live(docs.data_dir)
    monkeypatch.setattr("ingest.pipeline.run.CHUNKER_VERSION", 99)
    assert ingest(docs, WordsApart()) == 0
    assert live(docs.data_dir) != folder
    assert stored() == before


def test_where_tokens_are_lost_the_texts_are_read_again(
    docs: IndexSettings, stored: Callable[[], dict[str, bytes]]
) -> None:
    ingest(docs, WordsApart())
    before, folder = stored(), live(docs.data_dir)
    assert folder is not None
    for file in folder.database.parent.glob(f"{folder.database.name}*"):
        file.unlink()
    assert ingest(docs, WordsApart()) == 2
    assert stored() == before


def test_an_index_from_before_there_were_tokens_answers_until_it_is_rebuilt(
    docs: IndexSettings,
) -> None:
    embedder = WordsApart()
    ingest(docs, embedder)
    folder = live(docs.data_dir)
    assert folder is not None
    with closing(sqlite3.connect(folder.database)) as db:
        db.execute("DROP TABLE tokens")
        db.execute("UPDATE meta SET value = '2' WHERE key = 'schema'")
        db.commit()
    with closing(open_index(docs, embedder)) as index:
        assert index.search("payout worker").passages[0].path == "pay.md"
        assert run_ingest(docs, index, embedder).embedded == 2
        assert index.search("payout worker").passages[0].path == "pay.md"
