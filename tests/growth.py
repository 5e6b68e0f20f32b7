"""Judge how work grows with its input, by the processor time per character.

Linear work costs the same per character for a long input as for a short one. Work below half a
millisecond is not judged, since noise would pass for growth. The input grows in small steps, so
that work that doubles with every character is noticed before it takes long.
"""

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

FLOOR = 0.0006
"""Processor seconds below which work is not judged."""
APART = 4
"""Ratio of the lengths of two inputs that are compared. Over this ratio, quadratic work costs four
times as much per character, and linear work the same."""
GROWN = 2.4
"""Factor of the cost per character that counts as growth. Sorting or a full cache costs less."""
SETTLED, EXPLODED = 100, 50
"""Below SETTLED pieces, the cost per character may rise, since a parser nests to a limited depth.
There, only a factor of EXPLODED counts as growth."""
ROUNDS = 3

Work = Callable[[int], Callable[[], object]]
"""Takes a size and returns the work on an input of that size. Making the input is not measured."""


@dataclass(frozen=True, slots=True)
class Growth:
    """An input size at which the cost per character had grown."""

    size: int
    seconds: float
    times: float

    def __str__(self) -> str:
        return f"{self.times:.1f} times the cost a character at {self.size}: {self.seconds:.3f} s"


def growth(work: Work, sizes: Iterable[int]) -> Growth | None:
    """The first growth at these sizes, in order, or None."""
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
    """True if the work keeps growing at larger sizes. A bound ends growth."""
    longer = size
    while longer < APART * size:
        longer += max(1, longer // 5)
        seconds = taken(work(longer))
        if seconds > GROWN * APART * cost * size:
            return True
    return min(seconds, taken(work(longer), ROUNDS)) > GROWN * cost * longer


def gently(largest: int) -> Iterator[int]:
    """Sizes up to the largest, first in small steps, then by a factor."""
    size = 4
    while size < largest:
        yield size
        size = size * APART if size >= SETTLED else min(size + max(4, size // 4), SETTLED)
    yield largest


def taken(call: Callable[[], object], rounds: int = 1) -> float:
    """Processor seconds of a call in this thread, the least of some rounds."""
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
