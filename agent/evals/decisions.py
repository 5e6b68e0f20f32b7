"""Outcomes -> whether searches were right: made when needed, and one for each topic."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.evals.agent_case import AgentCase
from agent.evals.measure import Measurement
from agent.evals.outcomes import CaseOutcome, Pair
from ingest.evaluate.shares import Share, share

LABELS = {
    "accuracy": "right",
    "needless": "needless search",
    "missing": "missing search",
    "topics": "a search a topic",
}


@dataclass(frozen=True, slots=True)
class Decisions:
    """Scores of a set of cases; cases that no model answered are left out."""

    accuracy: Share
    needless: Share
    """Searches in cases that need none."""
    missing: Share
    """Cases without the search that they need."""
    topics: Share
    """Cases of several topics with at least as many different queries."""
    undecided: int
    """Number of cases in which the model failed, so that nothing was decided."""


def score(pairs: Sequence[Pair]) -> Decisions:
    decided = [(c, o) for c, o in pairs if o.answered_by_model]
    return Decisions(
        accuracy=share(is_right(c, o) for c, o in decided),
        needless=share(o.consulted for c, o in decided if not c.must_search),
        missing=share(not o.consulted for c, o in decided if c.must_search),
        topics=share(
            o.distinct_queries >= c.topics for c, o in decided if c.must_search and c.topics > 1
        ),
        undecided=len(pairs) - len(decided),
    )


def is_right(case: AgentCase, outcome: CaseOutcome) -> bool:
    return outcome.consulted == case.must_search


def faults(case: AgentCase, outcome: CaseOutcome) -> list[str]:
    """Return the faults of the decision in one case."""
    if not outcome.answered_by_model or is_right(case, outcome):
        return []
    return ["needless search" if outcome.consulted else "missing search"]


def remarks(measurement: Measurement, scores: Decisions) -> Iterator[str]:
    """Lines below the scores: cases that are not in them, and each wrong decision."""
    if scores.undecided:
        yield f"the model failed in {scores.undecided} cases, which are left out"
    if measurement.mode == "agent":
        for case, outcome in measurement.pairs:
            for fault in faults(case, outcome):
                yield f"{fault}: {case.id}: {case.question}"
