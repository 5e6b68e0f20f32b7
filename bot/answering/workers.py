"""A bounded pool of threads for answers.

Bolt's own executor has an unlimited queue; this one tells the caller when the queue is full. The
threads are daemons: an answer that outlasts the drain must not delay the exit.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable

from ingest.errors import FootnoteError

log = logging.getLogger(__name__)

Job = Callable[[], None]


class Workers:
    def __init__(self, workers: int, waiting: int) -> None:
        """Run at most ``workers`` jobs at a time, while at most ``waiting`` others wait."""
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._most = workers + waiting
        self._workers = workers
        self._state = threading.Condition()
        self._open = 0
        self._closed = False
        for number in range(workers):
            threading.Thread(target=self._work, name=f"answer-{number}", daemon=True).start()

    def submit(self, job: Job) -> bool:
        """Queue a job. Return False if the queue is full, or the pool is closed."""
        with self._state:
            if self._closed or self._open >= self._most:
                return False
            self._open += 1
            self._jobs.put(job)
        return True

    @property
    def ahead(self) -> int:
        """Number of jobs that have to end before a new one begins."""
        with self._state:
            return max(0, self._open - self._workers + 1)

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
            if not self._closed:
                self._closed = True
                for _ in range(self._workers):
                    self._jobs.put(None)
            while self._open and (left := until - time.monotonic()) > 0:
                self._state.wait(left)
            return self._open == 0

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except FootnoteError as error:
                log.warning("A job failed: %s", error)
            except Exception:  # any failure: a failed job must not end the worker
                log.exception("a job failed")
            finally:
                with self._state:
                    self._open -= 1
                    self._state.notify_all()
