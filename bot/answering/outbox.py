"""Replies that Slack has not accepted yet: each is tried again on the pool after a pause.

Of a channel that Slack has limited, one reply at a time is tried when the channel is free, in the
order in which they began to wait.
"""

import math
import threading
import time
from dataclasses import dataclass

from bot.answering.workers import Job, Workers
from bot.question.event import Key
from bot.slack.pace import INTERVAL, Pace

_FULL_SECONDS = 1.0
"""Seconds until the next attempt if the pool is full."""
_HURRY_SECONDS = 5.0
"""Minimum number of seconds between two effective calls of ``hurry_all``."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How long and how often a reply is tried that Slack has not accepted."""

    first_pause: float = 1.0
    """Minimum number of seconds that ``pause`` returns."""
    longest_pause: float = 60.0
    """Maximum number of seconds that ``pause`` returns, but ten times as many after ``answer``."""
    answer: float = 3_600.0
    """Seconds that an answer waits. Then it may be out of date, and a line replaces it."""
    line: float = 86_400.0
    """Seconds that the line waits, counted from Slack's first failure."""

    def pause(self, age: float) -> float:
        """Return the seconds until the next attempt for a reply that has waited ``age`` seconds.

        Within the limits, that is a quarter of ``age``.
        """
        if age > self.answer:
            return 10 * self.longest_pause
        return min(max(self.first_pause, age / 4), self.longest_pause)


@dataclass(slots=True)
class _WaitingReply:
    """A reply that is to be tried again."""

    job: Job
    since: float
    """Monotonic time since which the reply has waited."""
    due: float
    """Monotonic time of the next attempt, if the channel is free."""
    is_hurried: bool = False
    """True if the attempt does not depend on the channel: the reply was called off or edited."""


class Outbox:
    def __init__(self, workers: Workers, pace: Pace) -> None:
        self._workers, self._pace = workers, pace
        self._changed = threading.Condition()
        self._waiting: dict[Key, _WaitingReply] = {}
        self._tried_at: dict[str, float] = {}
        """Monotonic time of the last attempt in each limited channel."""
        self._closed = False
        self._next_hurry = 0.0
        threading.Thread(target=self._watch, name="outbox", daemon=True).start()

    def put(self, key: Key, job: Job, pause: float, since: float) -> None:
        """Run ``job`` on the pool after ``pause`` seconds, unless the outbox is closed.

        ``since`` is the monotonic time since which the reply has waited.
        """
        with self._changed:
            if not self._closed:
                self._waiting[key] = _WaitingReply(job, since, time.monotonic() + pause)
                self._changed.notify()

    def hurry(self, key: Key) -> None:
        """Run the job of a reply now: the reply was called off, or its question was edited."""
        with self._changed:
            if key in self._waiting:
                self._waiting[key].is_hurried = True
                self._changed.notify()

    def hurry_all(self) -> None:
        """Run all jobs now: Slack has accepted a reply, and may accept the others.

        Further calls within some seconds do nothing, so that a reply that keeps failing is not sent
        at every success of another reply.
        """
        now = time.monotonic()
        with self._changed:
            if now >= self._next_hurry:
                self._next_hurry = now + _HURRY_SECONDS
                for waiting in self._waiting.values():
                    waiting.due = 0.0
                self._changed.notify()

    def close(self) -> None:
        """Give all waiting jobs to the pool once more, and accept no others."""
        with self._changed:
            self._closed = True
            for key, waiting in self._waiting.items():
                self._workers.submit(waiting.job, key.channel, is_short=True)
            self._waiting.clear()
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                now, next_due = time.monotonic(), math.inf
                for key, waiting in sorted(self._waiting.items(), key=lambda each: each[1].since):
                    due = self._due(key.channel, waiting, now)
                    if due <= now and not self._try(key, waiting, now):
                        due = waiting.due = now + _FULL_SECONDS
                    if due > now:
                        next_due = min(next_due, due)
                self._changed.wait(None if next_due == math.inf else next_due - now)

    def _due(self, channel: str, waiting: _WaitingReply, now: float) -> float:
        if waiting.is_hurried:
            return 0.0
        if not self._pace.is_limited(channel):
            self._tried_at.pop(channel, None)
            return waiting.due
        free = now + self._pace.seconds(channel)
        return max(waiting.due, free, self._tried_at.get(channel, 0.0) + INTERVAL)

    def _try(self, key: Key, waiting: _WaitingReply, now: float) -> bool:
        if not self._workers.submit(waiting.job, key.channel, is_short=True):
            return False
        del self._waiting[key]
        if self._pace.is_limited(key.channel):
            self._tried_at[key.channel] = now
        return True
