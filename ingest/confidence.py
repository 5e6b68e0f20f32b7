"""How likely the passages found answer the query: signals -> one number between 0 and 1.

The nearest vector alone does not tell: some page is always near. What does is whether meaning and
words point at the same passages, and whether the query's rare words occur in them at all.
"""

import math
from collections.abc import Callable, Sequence
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
    known: float
    """Share of the query's words, rare ones weighing more, that occur in the docs at all."""
    held: float
    """The same of those that occur in the leading passages."""
    held_by_page: float
    """The same of those that occur anywhere in the first passage's page."""
    named: float
    """Share of the query's identifiers that occur in the leading passages; 1 when it has none."""


def confidence(signals: Signals) -> float:
    """The probability, roughly, that the answer is among the passages."""
    evidence = (
        -5.0
        + 3.0 * signals.similarity
        + 1.0 * signals.agreement
        + 2.0 * signals.known
        + 1.0 * signals.held
        + 1.0 * signals.held_by_page
        + 0.5 * signals.named
    )
    return 1.0 / (1.0 + math.exp(-evidence))


def read_signals(
    terms: QueryTerms,
    leading: Sequence[int],
    page: Sequence[int],
    *,
    similarity: float,
    agreement: float,
    keywords: Keywords,
    chunks: int,
) -> Signals:
    """Look the query's words up in the leading rows, and in all rows of the first one's page."""
    frequencies = {word: keywords.frequency(word) for word in terms.words}
    weights = {word: _rarity(count, chunks) for word, count in frequencies.items()}
    names = [bool(keywords.holding(name, leading)) for name in terms.identifiers]

    def share(holds: Callable[[str], bool]) -> float:
        total = sum(weights.values())
        return sum(w for word, w in weights.items() if holds(word)) / total if total else 0.0

    return Signals(
        similarity=max(0.0, similarity),
        agreement=agreement,
        known=share(lambda word: frequencies[word] > 0),
        held=share(lambda word: bool(keywords.holding(word, leading))),
        held_by_page=share(lambda word: bool(keywords.holding(word, page))),
        named=sum(names) / len(names) if names else 1.0,
    )


def _rarity(frequency: int, chunks: int) -> float:
    """Weight of a word that occurs in so many of the chunks."""
    return math.log(1.0 + (chunks - frequency + 0.5) / (frequency + 0.5))
