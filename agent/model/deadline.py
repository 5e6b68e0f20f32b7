"""The time limit of an answer. Every wait is in this module, so that it ends in time.

A thread that is stuck in a library cannot be stopped from outside. So slow work runs in daemon
threads that put their results into a queue, and the answer waits on the queue until its deadline.
"""

import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

from agent.errors import Cancelled

Result = TypeVar("Result")

_LOOK_AT_CANCEL = 0.05
"""Seconds between two checks of the stop signal."""


class DeadlinePassed(Exception):
    """The deadline has passed."""


class Deadline:
    """A point in time, and the asker's stop signal."""

    def __init__(
        self, seconds: float, cancel: threading.Event | None = None, spent: float = 0.0
    ) -> None:
        """``spent`` is the part of ``seconds`` that has passed already."""
        self.start = time.monotonic() - spent
        self.seconds = seconds
        self.cancel = cancel

    @property
    def spent(self) -> float:
        return time.monotonic() - self.start

    @property
    def left(self) -> float:
        return max(0.0, self.seconds - self.spent)

    def earlier(self, seconds: float) -> "Deadline":
        """The same deadline, ``seconds`` sooner, to keep some time for later work."""
        deadline = Deadline(max(0.0, self.seconds - seconds), self.cancel)
        deadline.start = self.start
        return deadline

    def at_most(self, seconds: float) -> "Deadline":
        """The same deadline, or the one ``seconds`` from now if that comes first."""
        return self.earlier(max(0.0, self.left - seconds))

    def check(self) -> None:
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled("The answer was stopped.")
        if not self.left:
            raise DeadlinePassed

    def sleep(self, seconds: float) -> None:
        """Wait, unless the answer is stopped or its time is up."""
        try:
            self.take(SimpleQueue(), within=seconds)
        except Empty:
            return

    def take(self, queue: "SimpleQueue[Result]", within: float = float("inf")) -> Result:
        """Return the queue's next item. Raises Empty after ``within`` seconds."""
        until = time.monotonic() + within
        while True:
            self.check()
            wait = min(_LOOK_AT_CANCEL, self.left, max(0.0, until - time.monotonic()))
            try:
                return queue.get(timeout=wait) if wait else queue.get_nowait()
            except Empty:
                if time.monotonic() >= until:
                    raise

    def run(self, calls: Sequence[Callable[[], Result]]) -> list[Result | None]:
        """Run ``calls`` at the same time; a call that is not done in time returns None."""
        done: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()

        def work(number: int, call: Callable[[], Result]) -> None:
            try:
                done.put((number, call(), None))
            except BaseException as error:  # noqa: BLE001  # raised again by the thread that waits
                done.put((number, None, error))

        for number, call in enumerate(calls):
            threading.Thread(target=work, args=(number, call), daemon=True).start()
        results: list[Result | None] = [None] * len(calls)
        for _ in calls:
            try:
                number, result, error = self.take(done)
            except DeadlinePassed:
                break
            if error is not None:
                raise error
            results[number] = result
        return results
