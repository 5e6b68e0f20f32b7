"""Progress of a run -> words with the time to go, and the moments at which a log says them.

The time to go is that of the embedding, which takes nearly all of a long run. It is measured over
the last minute, and unknown at the start.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

STAGES = {
    "fetch": "fetching",
    "read": "reading",
    "embed": "embedding",
    "write": "writing",
    "test": "testing",
}
LONG = "embed"
"""The stage whose time is estimated."""
_WINDOW_SECONDS = 60.0
_KNOWN_SECONDS = 5.0
"""Seconds of a stage after which its pace is known."""
_LINE_SECONDS = 60.0
_SHORT_SECONDS = 10.0
"""Least number of seconds between two lines."""
_LINE_SHARE = 0.05


@dataclass(slots=True)
class Pace:
    """The progress of one run, as it is heard."""

    clock: Callable[[], float] = time.monotonic
    stage: str = "fetch"
    done: int = 0
    total: int | None = None
    _samples: deque[tuple[float, int]] = field(default_factory=deque)
    """Time and number of items done, of the stage that is estimated."""
    _said_at: float | None = None
    _said: tuple[str, int] = ("", 0)

    def hear(self, stage: str, done: int, total: int | None) -> None:
        if stage == "write" and self.stage == LONG and self.done < (self.total or 0):
            return  # documents are written all the time while others wait for their vectors
        self.stage, self.done, self.total = stage, done, total
        if stage == LONG:
            now = self.clock()
            self._samples.append((now, done))
            while now - self._samples[0][0] > _WINDOW_SECONDS:
                self._samples.popleft()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the stage is over; None while they are unknown."""
        if self.stage != LONG or self.total is None or not self._samples:
            return None
        (begun, before), (now, done) = self._samples[0], self._samples[-1]
        if now - begun < _KNOWN_SECONDS or done <= before:
            return None
        return max(0, self.total - done) * (now - begun) / (done - before)

    @property
    def words(self) -> str:
        return described(self.stage, self.done, self.total, self.seconds_left)

    def line(self) -> str | None:
        """Return the words if a log should say them now: each 5 % of a long run, or each minute."""
        now = self.clock()
        if self._said_at is None:
            self._said_at = now
        stage, done = self._said
        step = self.done - (done if stage == self.stage else 0)
        waited = now - self._said_at
        is_step = waited >= _SHORT_SECONDS and step >= _LINE_SHARE * (self.total or 1)
        if not is_step and waited < _LINE_SECONDS:
            return None
        self._said_at, self._said = now, (self.stage, self.done)
        return self.words


def described(stage: str, done: int | None, total: int | None, seconds_left: float | None) -> str:
    """Return for example ``embedding 31,000 of 140,000, about 14 minutes to go``."""
    words = STAGES.get(stage, stage)
    if total:
        words += f" {done or 0:,} of {total:,}"
    if seconds_left is not None:
        words += f", {rough_time(seconds_left)} to go"
    return words


def rough_time(seconds: float) -> str:
    """Return for example ``about 14 minutes``."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    if minutes < 100:
        return f"about {minutes} minute{'' if minutes == 1 else 's'}"
    return f"about {round(minutes / 60)} hours"
