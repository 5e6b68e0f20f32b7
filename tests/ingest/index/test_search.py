"""What a query is compared with, and what late interaction makes of it."""

from pathlib import Path

import numpy as np
import pytest

from ingest.embedding.embedder import open_embedder
from ingest.index import open_index
from ingest.index.search import MAX_SENTENCES, query_vector
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.ingest.embedding.hashing import HashingEmbedder

LONG_STORY = (
    "The deployment crashed again after the upgrade of the cluster last night, the pods of the"
    " payout worker did not start, and the dashboard of the cluster shows no traffic at all."
)


def test_a_query_of_one_sentence_is_looked_for_where_it_lies() -> None:
    embedder = HashingEmbedder()
    vector = query_vector("How do I roll back?", embedder)
    assert vector.aim is vector.whole
    assert embedder.texts == ["How do I roll back?"]


def test_each_sentence_of_a_longer_query_draws_the_aim_to_itself() -> None:
    embedder = HashingEmbedder()
    question = "How do I roll back a migration?"
    vector = query_vector(f"{LONG_STORY} {question} Any ideas?", embedder)
    alone = embedder.embed([question])[0]
    assert embedder.texts[1:3] == [LONG_STORY, question]  # what is too short says nothing alone
    assert vector.aim @ alone / np.linalg.norm(vector.aim) > vector.whole @ alone
    assert np.linalg.norm(vector.whole) == pytest.approx(1.0, abs=1e-5)


def test_a_pasted_log_is_embedded_once() -> None:
    embedder = HashingEmbedder()
    query_vector("\n".join(f"line {n} of a log that says little" for n in range(99)), embedder)
    assert len(embedder.texts) == 1
    assert MAX_SENTENCES < 99


@pytest.fixture
def docs(tmp_path: Path) -> IndexSettings:
    (tmp_path / "docs").mkdir()
    for name, text in {
        "pay.md": "# Pay\n\nRestart the payout worker.\n\n## Keys\n\nRotate the signing key.\n",
        "ledger.md": "# Ledger\n\nThe ledger is append only.\n",
    }.items():
        (tmp_path / "docs" / name).write_text(text)
    return IndexSettings(
        docs_repo=str(tmp_path / "docs"), data_dir=tmp_path / "data", embedder_int8=False
    )


def test_late_interaction_reorders_and_neither_adds_nor_loses_passages(
    docs: IndexSettings,
) -> None:
    embedder = open_embedder(docs.embedder_source)
    found = {}
    for late in (False, True):
        settings = docs.model_copy(update={"late_interaction": late})
        index = open_index(settings, embedder)
        try:
            run_ingest(settings, index, embedder)
            found[late] = index.search("Who rotates the signing key?").passages
        finally:
            index.close()
    assert {p.id for p in found[True]} == {p.id for p in found[False]}
    assert found[True][0].id == found[False][0].id
    assert found[True][0].score > found[False][0].score
    assert [p.distance for p in sorted(found[True], key=lambda p: p.id)] == pytest.approx(
        [p.distance for p in sorted(found[False], key=lambda p: p.id)]
    )


def test_the_tokens_of_a_query_come_with_its_vector_unless_they_are_not_wanted(
    docs: IndexSettings,
) -> None:
    embedder = open_embedder(docs.embedder_source)
    vector = query_vector("Who rotates the signing key?", embedder)
    assert vector.tokens is not None
    assert vector.tokens.shape == (4, 384)  # rotate, ##s, signing, key
    plain = query_vector("Who rotates the signing key?", embedder, with_tokens=False)
    assert plain.tokens is None
    assert plain.whole == pytest.approx(vector.whole)
    assert query_vector("Who rotates it?", HashingEmbedder()).tokens is None
