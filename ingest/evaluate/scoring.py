"""Passages against gold pages and gold spans -> marks, by kind and overall, and their comparison.

Quotes are compared after runs of white space became one space. What counts is how much text has to
be read until the answer is there: a longer passage does not score by being long.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingest.documents import Passage
from ingest.evaluate.questions import Question

BUDGETS = {"quote@4.8k": 4_800, "quote@9.6k": 9_600}
RANKED = 20
"""The first gold page counts for the reciprocal rank as far down as this."""
METRICS = ("file@1", "file@4", "file@8", "quote@4", "quote@8", *BUDGETS, "mrr")
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Mark:
    """How one question was served."""

    id: str
    kind: str
    file_rank: int | None
    """Rank, from 1, of the first passage of a gold page."""
    quote_char: int | None
    """Characters of passages to read until every span that is needed is complete."""
    scores: Mapping[str, float]
    """By metric, 0 to 1."""
    ms: float
    weak: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "file_rank": self.file_rank,
            "quote_char": self.quote_char,
        }


def mark(question: Question, passages: Sequence[Passage], *, ms: float, weak: bool) -> Mark:
    """Score the passages found for a question that has an answer."""
    gold = set(question.gold_files)
    ranks = [rank for rank, passage in enumerate(passages, 1) if passage.path in gold]
    file_rank = ranks[0] if ranks else None
    found = _found(question, passages)

    def share(files: Iterable[str]) -> float:
        hit = len(gold & set(files))
        return hit / len(gold) if question.gold_mode == "all" else float(hit > 0)

    scores = {f"file@{k}": share(p.path for p in passages[:k]) for k in (1, 4, 8)}
    scores |= {
        f"quote@{k}": share(f for f, (rank, _char) in found.items() if rank <= k) for k in (4, 8)
    }
    scores |= {
        name: share(f for f, (_rank, char) in found.items() if char <= budget)
        for name, budget in BUDGETS.items()
    }
    scores["mrr"] = 1 / file_rank if file_rank and file_rank <= RANKED else 0.0
    ends = sorted(char for _rank, char in found.values())
    needed = len(gold) if question.gold_mode == "all" else 1
    quote_char = ends[needed - 1] if len(ends) >= needed else None
    return Mark(question.id, question.kind, file_rank, quote_char, scores, ms, weak)


def _found(question: Question, passages: Sequence[Passage]) -> dict[str, tuple[int, int]]:
    """By gold file: rank of the passage that holds one of its quotes, and where the quote ends."""
    found: dict[str, tuple[int, int]] = {}
    read = 0
    for rank, passage in enumerate(passages, 1):
        for quote in question.gold_quotes:
            if quote.file == passage.path:
                end = _end_of(quote.quote, passage.text)
                if end is not None:
                    at = (rank, read + end)
                    found[quote.file] = min(found.get(quote.file, at), at)
        read += len(passage.text)
    return found


def _end_of(quote: str, text: str) -> int | None:
    words = r"\s+".join(re.escape(word) for word in quote.split())
    match = re.search(words, text)
    return match.end() if match else None


def averages(marks: Sequence[Mark]) -> dict[str, float]:
    """Mean of each metric, and the latencies."""
    means = {name: float(np.mean([m.scores[name] for m in marks])) for name in METRICS}
    taken = [m.ms for m in marks]
    return means | {
        "p50_ms": float(np.percentile(taken, 50)),
        "p95_ms": float(np.percentile(taken, 95)),
    }


@dataclass(frozen=True, slots=True)
class Difference:
    """How one metric changes from one setting to another, question by question."""

    metric: str
    better: int
    worse: int
    mean: float
    low: float
    high: float
    """95 % interval of the mean, by resampling questions."""

    @property
    def holds(self) -> bool:
        return self.low > 0 or self.high < 0


def compare(before: Sequence[Mark], after: Sequence[Mark]) -> list[Difference]:
    """Paired bootstrap over the same questions in both."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(before), (RESAMPLES, len(before)))
    differences = []
    for metric in METRICS:
        change = np.array(
            [b.scores[metric] - a.scores[metric] for a, b in zip(before, after, strict=True)]
        )
        low, high = np.percentile(change[drawn].mean(axis=1), (2.5, 97.5))
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
