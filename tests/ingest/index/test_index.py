"""The reading side: searching, filters, whole pages, status."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.config_file import DocsCollection
from ingest.documents import CollectionInfo, SearchResult
from ingest.errors import IndexMissing, UnknownCollection
from ingest.index import DEFAULT_BUDGET, Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.ingest.embedding.hashing import HashingEmbedder

PAGES = {
    "pay.md": "---\ntags: [payments, oncall]\n---\n# Pay\n\nError PAY-4031: wrong signature.\n",
    "oncall/README.md": "# On call\n\nPage the secondary after 15 minutes.\n",
    "oncall/alerts.md": "# Alerts\n\nKubePodCrashLooping means that a container restarts.\n",
    "limits.txt": "Hard limit: 400 requests per second.\n",
    "运维/重启.md": "# 重启\n\n先重启支付服务，然后通知值班人员。\n",
}
LONG = "\n\n".join(
    f"## Step {n}\n\n{f'Deploy step {n} of the long page. ' * 20}" for n in range(40)
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("index")
    for path, text in {**PAGES, "long.md": f"# Long\n\n{LONG}\n"}.items():
        (folder / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / path).write_text(text, encoding="utf-8")
    chosen = IndexSettings(docs_repo=str(folder / "docs"), data_dir=folder / "data")
    embedder = HashingEmbedder()
    collections = {
        "runbooks": DocsCollection(paths=("oncall/**",), description="What to do under an alert"),
        "reference": DocsCollection(paths=("*.txt",), description="Limits"),
    }
    index = open_index(chosen, embedder, collections)
    run_ingest(chosen, index, embedder)
    yield index
    index.close()


def ids(result: SearchResult) -> list[str]:
    return [passage.id for passage in result.passages]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("What does error PAY-4031 mean?", "pay-0"),
        ("pay4031", "pay-0"),
        ("crash looping", "oncall/alerts-0"),
        ("requests per second", "limits.txt-0"),
        ("重启支付", "运维/重启-0"),
    ],
)
def test_the_best_passage_comes_first(index: Index, query: str, best: str) -> None:
    assert ids(index.search(query))[0] == best


def test_a_passage_carries_what_a_citation_needs(index: Index) -> None:
    passage = index.search("PAY-4031").passages[0]
    assert passage.path == "pay.md"
    assert passage.title == "Pay"
    assert passage.heading == ("Pay",)
    assert passage.lines[1] == 6
    assert "PAY-4031" in passage.text
    assert passage.score > 0


def test_every_passage_has_its_exact_distance_also_one_found_by_words_alone(index: Index) -> None:
    result = index.search("secondary 4031 400 restarts", k=50)
    embedder = HashingEmbedder()
    query = embedder.embed(["secondary 4031 400 restarts"])[0]
    assert len(result.passages) > 5
    texts = {"limits.txt-0": "limits\nHard limit: 400 requests per second."}
    by_id = {passage.id: passage for passage in result.passages}
    for id_, text in texts.items():
        expected = 1 - float(embedder.embed([text])[0] @ query)
        assert by_id[id_].distance == pytest.approx(expected, abs=1e-5)


def test_a_search_fills_its_budget_of_characters(index: Index) -> None:
    lengths = [len(passage.text) for passage in index.search("deploy step").passages]
    assert sum(lengths) >= DEFAULT_BUDGET > sum(lengths[:-1])
    few = index.search("deploy step", budget=1_000).passages
    assert 1_000 <= sum(len(p.text) for p in few) < 2_000


def test_k_takes_so_many_passages(index: Index) -> None:
    assert len(index.search("deploy step", k=3).passages) == 3


def test_what_was_seen_is_not_found_again_and_the_next_best_are(index: Index) -> None:
    first = ids(index.search("deploy step", k=5))
    second = ids(index.search("deploy step", k=5, exclude=first))
    assert len(second) == 5
    assert not set(first) & set(second)


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        ({"path": "oncall/"}, {"oncall/README.md", "oncall/alerts.md"}),
        ({"path": "./oncall/alerts"}, {"oncall/alerts.md"}),
        ({"collection": "runbooks"}, {"oncall/README.md", "oncall/alerts.md"}),
        ({"collection": "reference"}, {"limits.txt"}),
        ({"tags": ["ONCALL"]}, {"pay.md"}),
        ({"tags": ["oncall", "unknown"]}, {"pay.md"}),
        ({"path": "nowhere/"}, set()),
        ({"updated_after": datetime(2999, 1, 1, tzinfo=UTC)}, set()),
    ],
)
def test_a_filter_leaves_only_pages_that_pass_it(
    index: Index, filters: dict[str, object], paths: set[str]
) -> None:
    result = index.search("page alert error limit", **filters)  # type: ignore[arg-type]  # any of them
    assert {passage.path for passage in result.passages} == paths
    assert result.weak or result.passages


def test_an_unknown_collection_is_named_with_those_there_are(index: Index) -> None:
    with pytest.raises(UnknownCollection, match=r"'handbook'.*runbooks, reference"):
        index.search("alert", collection="handbook")


def test_collections_are_listed_with_what_they_hold(index: Index) -> None:
    assert index.collections() == (
        CollectionInfo("runbooks", "What to do under an alert", 2),
        CollectionInfo("reference", "Limits", 1),
    )


def test_within_collections_nothing_else_is_there_by_whatever_way_it_is_asked_for(
    index: Index,
) -> None:
    part = index.within(["runbooks"])
    assert [c.name for c in part.collections()] == ["runbooks"]
    assert {p.path for p in part.search("error limit page", k=50).passages} == {
        "oncall/README.md",
        "oncall/alerts.md",
    }
    assert {d.path for d in part.documents()} == {"oncall/README.md", "oncall/alerts.md"}
    assert part.document("pay") is None
    assert [p.id for p in part.passages(["pay-0", "oncall/alerts-0"])] == ["oncall/alerts-0"]
    with pytest.raises(UnknownCollection, match=r"'reference'; configured: runbooks\."):
        part.search("limit", collection="reference")
    assert {p.path for p in index.search("limit", k=50).passages} > {"limits.txt"}


def test_a_question_that_the_docs_do_not_cover_is_weak_and_one_they_do_is_not(
    index: Index,
) -> None:
    assert index.search("best recipe for sourdough bread crust").weak
    assert not index.search("What does error PAY-4031 mean?").weak


@pytest.mark.parametrize("path", ["long.md", "long", "./long.md", "long-7"])
def test_a_page_is_opened_by_path_or_by_the_id_of_a_chunk(index: Index, path: str) -> None:
    page = index.document(path)
    assert page
    assert page.info.path == "long.md"
    assert [passage.id for passage in page.passages[:3]] == ["long-0", "long-1", "long-2"]
    assert [p.lines[0] for p in page.passages] == sorted(p.lines[0] for p in page.passages)


@pytest.mark.parametrize("path", ["", "nothing.md", "nothing-0", "on", "-", "long-x"])
def test_a_page_that_is_not_there_is_none(index: Index, path: str) -> None:
    assert index.document(path) is None


def test_passages_are_fetched_by_id_in_the_order_asked_for(index: Index) -> None:
    found = index.passages(["pay-0", "unknown-3", "limits.txt-0"])
    assert [passage.id for passage in found] == ["pay-0", "limits.txt-0"]


def test_documents_are_listed_under_a_prefix(index: Index) -> None:
    assert [info.path for info in index.documents("oncall/")] == [
        "oncall/README.md",
        "oncall/alerts.md",
    ]


def test_the_status_tells_what_is_indexed(index: Index) -> None:
    status = index.status().to_json()
    assert status["documents"] == 6
    assert status["chunks"] > 20
    assert status["revision"] == "local folder"
    assert status["embedder"] == "hashing"
    assert status["ingested_at"].startswith("20")


def test_without_an_index_the_status_says_so_and_a_search_names_the_cure(tmp_path: Path) -> None:
    index = open_index(IndexSettings(data_dir=tmp_path / "none"), HashingEmbedder())
    assert index.status().to_json() == {
        "revision": None,
        "ingested_at": None,
        "documents": 0,
        "chunks": 0,
        "documents_of_another_revision": 0,
        "collection": None,
        "embedder": None,
    }
    with pytest.raises(IndexMissing, match="footnote ingest"):
        index.search("anything")
    assert not (tmp_path / "none").exists()


def test_threads_search_side_by_side(index: Index) -> None:
    results: list[list[str]] = []

    def search() -> None:
        results.append([ids(index.search("What does error PAY-4031 mean?"))[0] for _ in range(5)])

    threads = [threading.Thread(target=search) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [["pay-0"] * 5] * 6


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=200))
def test_any_query_is_answered(index: Index, query: str) -> None:
    result = index.search(query, k=5)
    assert len(result.passages) == 5
    assert all(np.isfinite([p.score, p.distance]).all() for p in result.passages)
