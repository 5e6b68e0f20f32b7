"""Queries that ask what has changed, or when."""

from pathlib import Path

import pytest

from ingest.embedding.embedder import Embedder, open_embedder
from ingest.index.changes_asked import asks_for_changes, closeness_to_changes
from ingest.settings import IndexSettings


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    folder: Path = tmp_path_factory.mktemp("model")
    return open_embedder(IndexSettings(data_dir=folder).embedder_source)


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("when was --retry-limit introduced", True),
        ("which release renamed `--retries`?", True),
        ("what is new in shipctl?", True),
        ("since when is the default of --tls another one", True),
        ("what does 4.2.0 say about retries", True),
        ("retries in release 4", True),
        ("default of --retry-limit for shipctl push", False),
        ("when do I restart the broker?", False),
        ("can a host such as 10.0.0.12 be drained", False),
        ("how many retries does a push make", False),
    ],
)
def test_a_question_about_changes_is_told_from_others(
    query: str, asks: bool, embedder: Embedder
) -> None:
    assert asks_for_changes(query, lambda: closeness_to_changes(query, embedder)) is asks
