"""How likely the passages found answer the query: signals -> one number between 0 and 1.

The nearest vector alone does not tell: some page is always near. What does is whether meaning and
words point at the same passages, and whether the query's rare words occur in them at all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.keywords import Keywords
from ingest.terms import QueryTerms

DEFAULT_THRESHOLD = 0.35
"""Below it a result is called weak, until the threshold is calibrated on the corpus."""
LEADING = 4
"""So many first passages are looked at."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What a search knows about its own result; each from 0 to 1."""

    similarity: float
    """Cosine similarity of the nearest passage."""
    agreement: float
    """Share of the leading passages that both retrievers found."""
    coverage: float
    """Share of the query's words, rare ones weighing more, that the leading passages hold."""
    best_coverage: float
    """The same for the one leading passage that holds most."""
    named: float
    """Share of the query's identifiers that the leading passages hold; 1 when it has none."""


def confidence(signals: Signals) -> float:
    """The probability, roughly, that the answer is among the passages."""
    evidence = (
        -5.0
        + 3.0 * signals.similarity
        + 1.0 * signals.agreement
        + 2.0 * signals.coverage
        + 2.0 * signals.best_coverage
        + 0.5 * signals.named
    )
    return 1.0 / (1.0 + math.exp(-evidence))


def read_signals(
    terms: QueryTerms,
    leading: Sequence[int],
    *,
    similarity: float,
    agreement: float,
    keywords: Keywords,
    chunks: int,
) -> Signals:
    """Look the query's words up in the leading rows."""
    words = {word: rarity(keywords.frequency(word), chunks) for word in terms.words}
    held = {word: keywords.holding(word, leading) for word in words}
    names = {name: keywords.holding(name, leading) for name in terms.identifiers}
    return Signals(
        similarity=max(0.0, similarity),
        agreement=agreement,
        coverage=_share([(weight, bool(held[word])) for word, weight in words.items()]),
        best_coverage=max(
            (
                _share([(weight, row in held[word]) for word, weight in words.items()])
                for row in leading
            ),
            default=0.0,
        ),
        named=_share([(1.0, bool(rows)) for rows in names.values()]),
    )


def rarity(frequency: int, chunks: int) -> float:
    """Weight of a word that occurs in so many of the chunks."""
    return math.log(1.0 + (chunks - frequency + 0.5) / (frequency + 0.5))


def _share(parts: Sequence[tuple[float, bool]]) -> float:
    total = sum(weight for weight, _held in parts)
    return sum(weight for weight, held in parts if held) / total if total else 1.0
