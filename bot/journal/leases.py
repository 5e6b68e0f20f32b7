"""Leases of claims: when a message is free, by the clock of the database and of this process."""

import threading
import time
from collections.abc import Iterable

import sqlalchemy as sa

from bot.journal.clock import Now
from bot.journal.records import NotedMessage
from bot.question.event import Key


class Leases:
    """Claims of this process, which no jump of a clock ends."""

    def __init__(self) -> None:
        self._until: dict[Key, float] = {}
        """Monotonic time at which each lease runs out."""
        self._lock = threading.Lock()

    def begin(self, key: Key, seconds: float) -> bool:
        """Begin a lease. Return False if this process has one that has not run out."""
        with self._lock:
            if self.holds(key):
                return False
            self.extend([key], seconds)
            return True

    def extend(self, keys: Iterable[Key], seconds: float) -> None:
        until = time.monotonic() + seconds
        self._until.update((key, until) for key in keys)

    def end(self, key: Key) -> None:
        self._until.pop(key, None)

    def holds(self, key: Key) -> bool:
        """Return True while this process has a lease that has not run out."""
        return self._until.get(key, 0.0) > time.monotonic()

    def abandoned(self, key: Key, seconds: float) -> sa.ColumnElement[bool]:
        """SQL condition that a message is claimed, and nobody goes on with it."""
        return sa.false() if self.holds(key) else lapsed(seconds)

    def free(self, key: Key, seconds: float) -> sa.ColumnElement[bool]:
        """SQL condition that a message can be claimed."""
        return NotedMessage.state.in_(("noted", "ignored")) | self.abandoned(key, seconds)


def lapsed(seconds: float) -> sa.ColumnElement[bool]:
    """SQL condition that a message is claimed with a lease of ``seconds`` that has run out.

    A lease that ends later than any lease can is of a clock that was put back.
    """
    until, now = NotedMessage.lease_until, Now()
    return (NotedMessage.state == "claimed") & ((until < now) | (until > now + 2 * abs(seconds)))
