"""Short work on Slack's events, for one channel after the other: an executor with fair turns.

Without turns, a hundred events of one channel would delay the first sign of life in another one.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

from bot.answering.workers import Workers
from bot.slack.place import PLACE
from ingest.errors import FootnoteError

_UNLIMITED = 1_000_000_000
_FOREVER = 3_600.0

P = ParamSpec("P")
T = TypeVar("T")


class ProcessEnds(FootnoteError):
    """Work came when the process no longer does any; Slack delivers an event again."""


class InTurn(Executor):
    """An executor for ``PLACE``: work that other work hands over belongs to the same channel."""

    def __init__(self, threads: int) -> None:
        self._workers = Workers(threads, _UNLIMITED, reserve=0)
        self._is_cancelled = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue the work. Raises ProcessEnds after ``shutdown``."""
        future: Future[T] = Future()
        place = PLACE.get()

        def work() -> None:
            PLACE.set(place)
            if self._is_cancelled:
                future.cancel()
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001  # the future hands it on
                future.set_exception(error)
            else:
                future.set_result(result)

        if not self._workers.submit(work, place):
            raise ProcessEnds("the process is ending")
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more work; wait for what is under way, or cancel what has not begun."""
        self._is_cancelled = cancel_futures
        self._workers.drain(_FOREVER if wait else 0.0)
