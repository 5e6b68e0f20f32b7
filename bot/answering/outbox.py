"""Replies that Slack has not accepted yet: each is tried again on the pool after a pause."""

import threading
import time
from dataclasses import dataclass

from bot.answering.workers import Job, Workers
from bot.question.event import Key

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


class Outbox:
    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._changed = threading.Condition()
        self._due: dict[Key, tuple[float, Job]] = {}
        self._closed = False
        self._next_hurry = 0.0
        threading.Thread(target=self._watch, name="outbox", daemon=True).start()

    def put(self, key: Key, job: Job, pause: float) -> None:
        """Run ``job`` on the pool after ``pause`` seconds, unless the outbox is closed."""
        with self._changed:
            if not self._closed:
                self._due[key] = (time.monotonic() + pause, job)
                self._changed.notify()

    def hurry(self, key: Key) -> None:
        """Run the job of a reply now: the reply was called off, or its question was edited."""
        with self._changed:
            if key in self._due:
                self._due[key] = (0.0, self._due[key][1])
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
                self._due = {key: (0.0, job) for key, (_due, job) in self._due.items()}
                self._changed.notify()

    def close(self) -> None:
        """Give all waiting jobs to the pool once more, and accept no others."""
        with self._changed:
            self._closed = True
            for _due, job in self._due.values():
                self._workers.submit(job)
            self._due.clear()
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                for key, (due, job) in list(self._due.items()):
                    if due <= now:
                        del self._due[key]
                        if not self._workers.submit(job):
                            self._due[key] = (now + _FULL_SECONDS, job)
                next_due = min((due for due, _job in self._due.values()), default=None)
                self._changed.wait(None if next_due is None else max(0.0, next_due - now))
