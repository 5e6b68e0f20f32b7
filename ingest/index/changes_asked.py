"""A query -> whether it asks what has changed, or when: then change logs are reference, too."""

import re
from collections.abc import Callable
from weakref import WeakKeyDictionary

from ingest.editions.text_words import without_code
from ingest.embedding.embedder import Embedder
from ingest.store.vectors import Vectors

EXAMPLES = (
    "What has changed in this release?",
    "What is new in the latest version?",
    "When was the option introduced?",
    "When did the default change?",
    "Which release removed or renamed it?",
    "Since which version is it there?",
    "Was this changed recently?",
    "Which version fixed the bug?",
    "Show me the change log.",
)
NEAR = 0.45
"""Similarity to an example from which a query counts as one of them.

Of 281 questions to five public docs repos, the nearest has 0.44.
"""

_NAMED = re.compile(
    r"\b(?:versions?|releases?|v)[ -]?\d|\b(?:19|20)\d\d-\d\d\b"
    r"|(?<![\w.])\d{1,4}\.\d{1,4}\.\d{1,4}(?!\w|\.\d)",
    re.I,
)
_examples: WeakKeyDictionary[Embedder, Vectors] = WeakKeyDictionary()


def closeness_to_changes(query: str, embedder: Embedder) -> float:
    """Return the similarity to the nearest example; identifiers, which outweigh, are left out."""
    if embedder not in _examples:
        _examples[embedder] = embedder.embed(list(EXAMPLES))
    [vector] = embedder.embed([without_code(query) or query])
    return float((_examples[embedder] @ vector).max())


def asks_for_changes(query: str, closeness: Callable[[], float] | None) -> bool:
    """Return True if a query names a version or a date, or is close to an example."""
    if _NAMED.search(query):
        return True
    return closeness is not None and closeness() >= NEAR
