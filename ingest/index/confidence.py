"""How likely the passages found answer the query: signals -> one number between 0 and 1.

The nearest vector alone does not tell: some page is always near. A query that is not covered
usually names something that the docs do not: a word that occurs nowhere in them, an identifier
that the best passages lack. The weights were fitted on questions to five public docs repos, of
which a part had no answer there, and rounded.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingest.store.keywords import Keywords
from ingest.store.terms import QueryTerms

LEADING = 4
"""So many first passages are looked at."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What a search knows about its own result; each from 0 to 1."""

    similarity: float
    """Cosine similarity of the nearest passage."""
    known: float
    """Share of the query's words, rare ones weighing more, that occur in the docs at all."""
    named: float
    """Share of the query's identifiers that occur in the leading passages; 1 when it has none."""


def confidence(signals: Signals) -> float:
    """The probability, roughly, that the answer is among the passages."""
    evidence = 10 * signals.similarity + 5 * signals.known + 2 * signals.named - 10.8
    return 1.0 / (1.0 + math.exp(-evidence))


def read_signals(
    terms: QueryTerms,
    leading: Sequence[int],
    similarity: float,
    frequency: Callable[[str], int],
    keywords: Keywords,
    chunks: int,
) -> Signals:
    """Look the query's words up: in all of the docs, and its identifiers in the leading rows."""
    counts = [frequency(f'"{word}"') for word in terms.words]
    total = sum(_rarity(count, chunks) for count in counts)
    known = sum(_rarity(count, chunks) for count in counts if count)
    names = [bool(keywords.holding(name, leading)) for name in terms.identifiers]
    return Signals(
        similarity=max(0.0, similarity),
        known=known / total if total else 0.0,
        named=sum(names) / len(names) if names else 1.0,
    )


def _rarity(frequency: int, chunks: int) -> float:
    """Weight of a word that occurs in so many of the chunks."""
    return math.log(1.0 + (chunks - frequency + 0.5) / (frequency + 0.5))
