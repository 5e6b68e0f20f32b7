"""A query -> whether it asks what has changed, or when: then change logs are reference, too."""

import re
from collections.abc import Callable
from weakref import WeakKeyDictionary

from ingest.embedding.embedder import Embedder
from ingest.store.vectors import Vectors

EXAMPLES = (
    "What changed in this release?",
    "Which version introduced this option?",
    "When was this added, renamed or removed?",
    "Release notes and breaking changes of the new version",
    "Since when does this have another default?",
)
NEAR = 0.5
"""Similarity to an example from which a query counts as one of them."""

_VERSION_OR_DATE = re.compile(
    r"\b(?:versions?|releases?|v)[ -]?\d|(?<![\w.])\d{1,4}\.\d{1,4}\.\d{1,4}(?![\w.]*\d)|\b(?:19|20)\d\d-\d\d\b", re.I
)
_examples: "WeakKeyDictionary[Embedder, Vectors]" = WeakKeyDictionary()


def closeness_to_changes(query: Vectors, embedder: Embedder) -> float:
    """Return the similarity of a query's vector to the nearest example."""
    if embedder not in _examples:
        _examples[embedder] = embedder.embed(list(EXAMPLES))
    return float((_examples[embedder] @ query).max())


def asks_for_changes(query: str, closeness: Callable[[], float] | None) -> bool:
    """Return True if a query names a version or a date, or is close to an example."""
    if _VERSION_OR_DATE.search(query):
        return True
    return closeness is not None and closeness() >= NEAR
