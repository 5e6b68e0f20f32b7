"""A bounded pool of threads for answers, which serves the places in turn.

A place is a channel. Within a place the jobs run in order; a place with many jobs does not delay
the first job of another one. Bolt's own executor has an unlimited queue; this one tells the caller
when the queue is full. The threads are daemons: an answer that outlasts the drain must not delay
the exit.
"""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ingest.errors import FootnoteError

log = logging.getLogger(__name__)

Job = Callable[[], object]
Moved = Callable[[int], None]
"""Called with the number of jobs ahead, when it has fallen to half of what was told before."""

RESERVE = 10
"""Number of threads, and of places in the queue, for channels that have no job here yet."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """A job that waits for a thread."""

    job: Job
    moved: Moved | None = None
    told: int = 0
    """Number of jobs ahead that ``moved`` has told."""
    is_short: bool = False


class Workers:
    def __init__(self, workers: int, waiting: int, reserve: int = RESERVE) -> None:
        """Run at most ``workers`` jobs at a time, while at most ``waiting`` others wait.

        Beyond both limits, ``reserve`` more are for places that have no job here.
        """
        self._workers, self._reserve = workers, reserve
        self._most = workers + waiting
        lock = threading.Lock()
        self._state, self._done = threading.Condition(lock), threading.Condition(lock)
        self._waiting: dict[str, deque[_Waiting]] = {}
        """The waiting jobs of each place; the first place is served next."""
        self._running: Counter[str] = Counter()
        self._threads = self._idle = self._open = 0
        self._closed = False

    def submit(
        self, job: Job, place: str = "", moved: Moved | None = None, *, is_short: bool = False
    ) -> bool:
        """Queue a job. Return False if the queue is full, or the pool is closed.

        ``moved`` is called while the job waits. A short job goes before the others of its place,
        may use the reserve, and has room in a full queue.
        """
        with self._state:
            is_new = not self._running[place] and place not in self._waiting
            most = self._most + (self._reserve if is_new else 0)
            if self._closed or (self._open >= most and not is_short):
                return False
            ahead = self._ahead(place)
            self._open += 1
            jobs = self._waiting.setdefault(place, deque())
            position = sum(each.is_short for each in jobs) if is_short else len(jobs)
            jobs.insert(position, _Waiting(job, moved, ahead, is_short))
            waiting = sum(map(len, self._waiting.values()))
            if self._idle < waiting and self._threads < self._workers + self._reserve:
                self._threads += 1
                name = f"answer-{self._threads}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
            self._state.notify()
        return True

    def ahead(self, place: str) -> int:
        """Return the number of jobs that have to end before a new one of the place begins."""
        with self._state:
            return self._ahead(place)

    @property
    def is_closed(self) -> bool:
        """True if the pool accepts no more jobs, because the process is about to end."""
        with self._state:
            return self._closed

    @property
    def idle(self) -> bool:
        with self._state:
            return self._open == 0

    def drain(self, seconds: float) -> bool:
        """Accept no more jobs, and wait for the others. Return True if all are done."""
        until = time.monotonic() + seconds
        with self._state:
            self._closed = True
            self._state.notify_all()
            while self._open and (left := until - time.monotonic()) > 0:
                self._done.wait(left)
            return self._open == 0

    def _ahead(self, place: str) -> int:
        waiting = sum(map(len, self._waiting.values()))
        is_first = place not in self._waiting and not self._running[place]
        if (is_first and self._may_begin(place)) or self._running.total() + waiting < self._workers:
            return 0
        own = len(self._waiting.get(place, ()))
        others = (jobs for each, jobs in self._waiting.items() if each != place)
        return own + sum(min(len(jobs), own + 1) for jobs in others) + 1

    def _may_begin(self, place: str) -> bool:
        busy = self._running.total()
        if busy < self._workers:
            return True
        waiting = self._waiting.get(place)
        is_favoured = not self._running[place] or (waiting and waiting[0].is_short)
        return busy < self._workers + self._reserve and bool(is_favoured)

    def _in_turn(self) -> Iterator[_Waiting]:
        """Yield the waiting jobs in the order in which they begin if all threads are busy."""
        rest = [deque(jobs) for jobs in self._waiting.values()]
        while rest:
            for jobs in rest:
                yield jobs.popleft()
            rest = [jobs for jobs in rest if jobs]

    def _take(self) -> tuple[str, Job, list[tuple[Moved, int]]] | None:
        """Wait for the next job. Return None at the end; the third value is whom to tell what."""
        with self._state:
            while True:
                place = next(filter(self._may_begin, self._waiting), None)
                if place is not None:
                    break
                if self._closed and not self._waiting:
                    return None
                self._idle += 1
                self._state.wait()
                self._idle -= 1
            jobs = self._waiting.pop(place)
            first = jobs.popleft()
            if jobs:  # behind the other places
                self._waiting[place] = jobs
            self._running[place] += 1
            news = []
            for ahead, waiting in enumerate(self._in_turn(), 1):
                if waiting.moved and 2 * ahead <= waiting.told:
                    waiting.told = ahead
                    news.append((waiting.moved, ahead))
        return place, first.job, news

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            place, job, news = taken
            for moved, ahead in news:
                moved(ahead)
            try:
                job()
            except FootnoteError as error:
                log.warning("A job failed: %s", error)
            except Exception:  # any failure: a failed job must not end the worker
                log.exception("a job failed")
            finally:
                with self._state:
                    self._open -= 1
                    self._running[place] -= 1
                    if not self._running[place]:
                        del self._running[place]
                    self._state.notify()  # the place may use the reserve again
                    self._done.notify_all()
