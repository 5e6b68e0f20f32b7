"""Passages, gold files and gold quotes -> marks, their averages, and their comparison.

A mark measures the text that a reader has to read until the answer is complete, so a longer passage
does not score by being long. A text counts for each page that it is named to stand on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ingest.documents import Passage
from ingest.evaluate.cases import Case

BUDGETS = {"quote@4.8k": 4_800, "quote@9.6k": 9_600}
RANKED = 20
"""The lowest rank of a gold file that counts for the reciprocal rank."""
METRICS = ("file@1", "file@4", "file@8", "quote@4", "quote@8", *BUDGETS, "mrr")
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Mark:
    """The scores of the search on one case."""

    id: str
    kind: str
    file_rank: int | None
    """Rank, from 1, of the first passage of a gold file."""
    quote_char: int | None
    """Number of characters to read until all necessary quotes are complete, or None."""
    scores: Mapping[str, float]
    """Score of each metric, from 0 to 1."""
    ms: float
    weak: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "file_rank": self.file_rank,
            "quote_char": self.quote_char,
        }


def mark(case: Case, passages: Sequence[Passage], *, ms: float, weak: bool) -> Mark:
    """Score the passages that a search found for a case that has an answer."""
    gold = set(case.gold_files)
    ranks = [rank for rank, passage in enumerate(passages, 1) if gold & {*_pages(passage)}]
    file_rank = ranks[0] if ranks else None
    quotes = _first_quotes(case, passages)
    scores = {
        f"file@{k}": case.gold_share(chain.from_iterable(map(_pages, passages[:k])))
        for k in (1, 4, 8)
    }
    scores |= {
        f"quote@{k}": case.gold_share(f for f, (rank, _) in quotes.items() if rank <= k)
        for k in (4, 8)
    }
    scores |= {
        name: case.gold_share(f for f, (_, end) in quotes.items() if end <= budget)
        for name, budget in BUDGETS.items()
    }
    scores["mrr"] = 1 / file_rank if file_rank and file_rank <= RANKED else 0.0
    ends = sorted(end for _, end in quotes.values())
    needed = len(set(case.gold_files)) if case.gold_mode == "all" else 1
    quote_char = ends[needed - 1] if len(ends) >= needed else None
    return Mark(case.id, case.kind, file_rank, quote_char, scores, ms, weak)


def _pages(passage: Passage) -> list[str]:
    """The page of a passage, and those that hold the same text."""
    return [passage.path, *(place.path for place in passage.places if not place.differs)]


def _first_quotes(case: Case, passages: Sequence[Passage]) -> dict[str, tuple[int, int]]:
    """By gold file: rank of the first passage with one of its quotes, and the quote's end.

    The end counts the characters of all passages up to it.
    """
    first: dict[str, tuple[int, int]] = {}
    before = 0
    for rank, passage in enumerate(passages, 1):
        for quote in case.gold_quotes:
            if quote.file in _pages(passage) and (end := quote.end_in(passage.text)) is not None:
                place = (rank, before + end)
                first[quote.file] = min(first.get(quote.file, place), place)
        before += len(passage.text)
    return first


def averages(marks: Sequence[Mark]) -> dict[str, float]:
    """Mean of each metric, and the latencies."""
    means = {name: float(np.mean([m.scores[name] for m in marks])) for name in METRICS}
    ms = [m.ms for m in marks]
    return means | {
        "p50_ms": float(np.percentile(ms, 50)),
        "p95_ms": float(np.percentile(ms, 95)),
    }


@dataclass(frozen=True, slots=True)
class Difference:
    """Change of one metric from one setting to another, case by case."""

    metric: str
    better: int
    worse: int
    mean: float
    low: float
    high: float
    """95 % interval of the mean, by resampling cases."""

    @property
    def holds(self) -> bool:
        return self.low > 0 or self.high < 0


def compare(before: Sequence[Mark], after: Sequence[Mark]) -> list[Difference]:
    """Compare two sets of marks by a paired bootstrap over their common cases."""
    rng = np.random.default_rng(0)
    samples = rng.integers(0, len(before), (RESAMPLES, len(before)))
    differences = []
    for metric in METRICS:
        change = np.array(
            [b.scores[metric] - a.scores[metric] for a, b in zip(before, after, strict=True)]
        )
        low, high = np.percentile(change[samples].mean(axis=1), (2.5, 97.5))
        differences.append(
            Difference(
                metric=metric,
                better=int((change > 0).sum()),
                worse=int((change < 0).sum()),
                mean=float(change.mean()),
                low=float(low),
                high=float(high),
            )
        )
    return differences
