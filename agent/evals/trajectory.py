"""Outcomes -> the cost of the answers: searches, repeats, tokens, dollars, seconds."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from agent.evals.outcomes import Pair


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Sums over a set of answers, and percentiles of their seconds."""

    answers: int
    searches: int
    repeats: int
    """Number of searches that repeat a query of the same answer."""
    fruitless: int
    """Number of searches that found nothing."""
    needless: int
    """Number of searches for questions that need none."""
    opened: int
    steps: int
    input_tokens: int
    """Number of tokens read, including those from the cache."""
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    """Dollars for all answers; None if the price of any is unknown."""
    seconds_p50: float
    seconds_p90: float


def trajectory(pairs: Sequence[Pair]) -> Trajectory:
    outcomes = [outcome for _, outcome in pairs]
    usages = [outcome.usage for outcome in outcomes]
    costs = [outcome.cost_usd for outcome in outcomes]
    seconds = sorted(outcome.seconds for outcome in outcomes)
    priced = [cost for cost in costs if cost is not None]
    return Trajectory(
        answers=len(outcomes),
        searches=sum(len(o.queries) for o in outcomes),
        repeats=sum(len(o.queries) - o.distinct_queries for o in outcomes),
        fruitless=sum(count == 0 for o in outcomes for count in o.found),
        needless=sum(len(o.queries) for case, o in pairs if not case.must_search),
        opened=sum(o.opened for o in outcomes),
        steps=sum(o.steps for o in outcomes),
        input_tokens=sum(
            u.input_tokens + u.cache_read_tokens + u.cache_write_tokens for u in usages
        ),
        cached_tokens=sum(u.cache_read_tokens for u in usages),
        output_tokens=sum(u.output_tokens for u in usages),
        cost_usd=round(sum(priced), 6) if len(priced) == len(costs) else None,
        seconds_p50=round(statistics.median(seconds), 3) if seconds else 0.0,
        seconds_p90=round(seconds[int(0.9 * (len(seconds) - 1) + 0.5)], 3) if seconds else 0.0,
    )
