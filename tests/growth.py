"""How work grows with its input: judged by the processor time of each character, never by seconds.

Work that is linear costs as much for a character of a long input as of a short one. Only work of
half a millisecond and more is judged, so that no noise passes for growth. The input is enlarged
gently, so that what doubles with every sign is caught before it takes long.
"""

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

FLOOR = 0.0006
"""Seconds of the processor below which nothing is judged."""
APART = 4
"""Inputs that are compared differ so much in length: over that, a square costs four times as much a
character, and what is linear the same."""
GROWN = 2.4
"""So many times the cost of a character is growth: more than sorting or a full cache can cost."""
SETTLED, EXPLODED = 100, 50
"""Shorter inputs than this many pieces may well cost more the more of them there are, for a parser
nests only so deep: there only what explodes is growth, by so much a character."""
ROUNDS = 3

Work = Callable[[int], Callable[[], object]]
"""For a size, what is done with an input of that size; making the input is not measured."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Input that was seen to cost more a character the longer it was."""

    size: int
    seconds: float
    times: float

    def __str__(self) -> str:
        return f"{self.times:.1f} times the cost a character at {self.size}: {self.seconds:.3f} s"


def growth(work: Work, sizes: Iterable[int]) -> Growth | None:
    """How the work outgrows its input, or None where it does not at these sizes, in order."""
    costs: dict[int, float] = {}
    for size in sizes:
        seconds = taken(work(size))
        costs[size] = seconds / size
        smaller = max((other for other in costs if other * APART <= size), default=0)
        grown = GROWN if smaller >= SETTLED else EXPLODED
        if smaller and seconds > FLOOR and costs[size] > grown * costs[smaller]:
            # Once more, and the least of some: somebody else may have had the processor's cache.
            before = taken(work(smaller), ROUNDS) / smaller
            after = min(costs[size], taken(work(size), ROUNDS - 1) / size)
            if after > grown * before and _goes_on(work, size, after):
                return Growth(size, after * size, after / before)
    return None


def _goes_on(work: Work, size: int, cost: float) -> bool:
    """Whether it grows as much again, gently: a bound, or another way through, ends growth."""
    longer = size
    while longer < APART * size:
        longer += max(1, longer // 5)
        seconds = taken(work(longer))
        if seconds > GROWN * APART * cost * size:
            return True
    return min(seconds, taken(work(longer), ROUNDS)) > GROWN * cost * longer


def gently(largest: int) -> Iterator[int]:
    """Sizes up to the largest: a few more at a time at first, then many times more."""
    size = 4
    while size < largest:
        yield size
        size = size * APART if size >= SETTLED else min(size + max(4, size // 4), SETTLED)
    yield largest


def taken(call: Callable[[], object], rounds: int = 1) -> float:
    """Seconds of the processor that a call takes in this thread, the least of some rounds."""
    least = float("inf")
    collects = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            begun = time.thread_time()
            call()
            least = min(least, time.thread_time() - begun)
    finally:
        if collects:
            gc.enable()
    return least
