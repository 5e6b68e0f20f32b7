"""Outcomes -> was the decision to search right: searched or not, and once for each topic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.evals.cases import Case
from agent.evals.outcomes import Outcome
from agent.evals.shares import Share, share

Pair = tuple[Case, Outcome]


@dataclass(frozen=True, slots=True)
class Decisions:
    """Scores of a set of cases; cases that no model answered are left out."""

    right: Share
    needless: Share
    """Searched, of those that need no search."""
    missing: Share
    """Not searched, of those that need one."""
    topics: Share
    """As many different queries as topics, of those with several."""
    undecided: int
    """Cases in which the model failed, so that nothing was decided."""

    def to_json(self) -> dict[str, Any]:
        return {
            "accuracy": self.right.to_json(),
            "needless": self.needless.to_json(),
            "missing": self.missing.to_json(),
            "topics": self.topics.to_json(),
            "undecided": self.undecided,
        }


def score(pairs: Sequence[Pair]) -> Decisions:
    decided = [(c, o) for c, o in pairs if o.answered_by_model]
    return Decisions(
        right=share(is_right(c, o) for c, o in decided),
        needless=share(o.consulted for c, o in decided if not c.must_search),
        missing=share(not o.consulted for c, o in decided if c.must_search),
        topics=share(
            distinct_queries(o) >= c.topics for c, o in decided if c.must_search and c.topics > 1
        ),
        undecided=len(pairs) - len(decided),
    )


def is_right(case: Case, outcome: Outcome) -> bool:
    return outcome.consulted == case.must_search


def distinct_queries(outcome: Outcome) -> int:
    return len({" ".join(query.lower().split()) for query in outcome.queries})


def by_kind(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """The pairs of each kind, in the order in which kinds first occur."""
    kinds: dict[str, list[Pair]] = {}
    for case, outcome in pairs:
        kinds.setdefault(case.kind, []).append((case, outcome))
    return kinds
