"""Signals of a search -> the probability, from 0 to 1, that its passages answer the query.

The nearest vector alone is not enough, since some document is always near. A query without an
answer usually names something that the docs do not: a word that occurs nowhere in them, or an
identifier that the best passages lack. The weights were fitted on questions to five public docs
repos, some of them without an answer there, and rounded.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingest.store.keywords import Keywords
from ingest.store.terms import QueryTerms

LEADING = 4
"""Number of first passages that are checked for identifiers."""

UNKNOWN_SIMILARITY = 0.5
"""Similarity that is assumed of the nearest passage while vectors are missing."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Measures of one search result, each from 0 to 1."""

    similarity: float
    """Cosine similarity of the nearest passage."""
    in_docs: float
    """Share of the query's words that occur anywhere in the docs; rare words weigh more."""
    named: float
    """Share of the query's identifiers that occur in the leading passages; 1 without any."""


def confidence(signals: Signals) -> float:
    """Return the rough probability that the answer is among the passages."""
    evidence = 10 * signals.similarity + 5 * signals.in_docs + 2 * signals.named - 10.8
    return 1.0 / (1.0 + math.exp(-evidence))


def read_signals(
    terms: QueryTerms,
    leading: Sequence[int],
    similarity: float,
    frequency: Callable[[str], int],
    keywords: Keywords,
    chunks: int,
    *,
    has_vectors: bool = True,
) -> Signals:
    """Look up the query's words in all docs, and its identifiers in the leading rows.

    Where vectors are missing, the nearest passage may lack its own: then the words decide.
    """
    counts = [frequency(f'"{word}"') for word in terms.words]
    total = sum(_rarity(count, chunks) for count in counts)
    covered = sum(_rarity(count, chunks) for count in counts if count)
    names = [bool(keywords.holding(name, leading)) for name in terms.identifiers]
    return Signals(
        similarity=max(0.0 if has_vectors else UNKNOWN_SIMILARITY, similarity),
        in_docs=covered / total if total else 0.0,
        named=sum(names) / len(names) if names else 1.0,
    )


def _rarity(frequency: int, chunks: int) -> float:
    """Weight of a word that occurs in ``frequency`` of the chunks."""
    return math.log(1.0 + (chunks - frequency + 0.5) / (frequency + 0.5))
