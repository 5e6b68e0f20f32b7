"""The schedule of ingests: at start, every night, on request, and again after a failed run.

One thread carries them out, one at a time. A failed run is logged in one line and recorded; the
process and later runs continue. The record counts the failed runs, so that the pauses between them
grow across restarts.
"""

import logging
import os
import queue
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from apscheduler.events import EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger

from ingest.data_folder import own_again
from ingest.embedding.embedder import Embedder
from ingest.errors import DataFolderError, FootnoteError, IngestError
from ingest.index import Index
from ingest.pipeline.run import IngestProgress, ProgressListener
from ingest.runs.cron import CronTimes, read_times
from ingest.runs.outage import Outage
from ingest.runs.record import IngestRuns, Reason
from ingest.runs.runner import IngestStopped, Runner
from ingest.settings import IndexSettings
from ingest.time_to_go import Pace

log = logging.getLogger(__name__)

MISFIRE_GRACE_SECONDS = 3 * 3600
"""Seconds that a nightly run may start late, because the laptop was asleep for example."""
POLL_SECONDS = 0.5
"""Seconds between checks for a due run or a request."""
STOP_SECONDS = 15.0
"""Seconds that ``stop`` waits for the current run."""

_NEXT_TRY = "next try"


class _Trigger(BaseTrigger):  # type: ignore[misc]  # the scheduler has no types
    def __init__(self, times: CronTimes) -> None:
        self._times = times

    def get_next_fire_time(self, previous: datetime | None, now: datetime) -> datetime | None:
        return self._times.after(previous or now)


class Schedule:
    """Starts ingests in the data folder that this process owns."""

    def __init__(
        self, settings: IndexSettings, index: Index, *, embedder: Embedder | None = None
    ) -> None:
        self._trigger = _Trigger(read_times(settings.ingest_at, settings.timezone))
        self._index = index
        self._data_dir = settings.data_dir
        self._trouble = ""
        self._runs = IngestRuns(settings.data_dir)
        self._runner = Runner(settings, index, self._runs, embedder)
        self._due: queue.SimpleQueue[Reason] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._caught_up = threading.Event()
        self._worker = threading.Thread(target=self._work, name="ingest", daemon=True)
        self._scheduler = BackgroundScheduler(timezone=UTC)

    @property
    def next_run_at(self) -> datetime | None:
        job = self._scheduler.get_job("nightly") if self._scheduler.running else None
        return job.next_run_time if job else None

    @property
    def is_catching_up(self) -> bool:
        """True until the first run has ended, and while another one is running."""
        return not self._caught_up.is_set() or self._runs.running() is not None

    def start(self) -> None:
        """Start the schedule and, in its thread, a first run."""
        self._runs.take_over()
        self._scheduler.add_listener(self._missed, EVENT_JOB_MISSED)
        self._scheduler.add_job(
            self._due.put,
            self._trigger,
            ("schedule",),
            id="nightly",
            coalesce=True,
            max_instances=1,
            misfire_grace_time=MISFIRE_GRACE_SECONDS,
        )
        self._scheduler.start()
        self._due.put("start")
        self._publish_next_run()
        self._worker.start()

    def stop(self) -> None:
        """Start no more runs, and end the current one early; the next run continues its work."""
        self._stopping.set()
        if not self._scheduler.running:
            return
        self._scheduler.shutdown(wait=False)
        self._runner.stop()
        self._worker.join(STOP_SECONDS)
        for fact in ("listener", "next_run_at", "next_try_at"):
            self._runs.publish(fact, None)

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                worked = self._work_once()
            except FootnoteError as error:
                if isinstance(error, DataFolderError):  # then the record lacks the failed run
                    self._plan_next_try(_unrecorded())
                log.warning("Ingest failed: %s%s", error, self._next_try_words())
                worked = False
            except Exception:  # any failure: later runs must take place
                log.exception("Ingest failed unexpectedly.%s", self._next_try_words())
                worked = False
            self._caught_up.set()
            if not worked:
                self._stopping.wait(POLL_SECONDS)

    def _work_once(self) -> bool:
        """Carry out the next request or due run; return False if nothing is due."""
        try:
            if own_again(self._data_dir):
                log.warning("The data folder %s was removed: it is made again.", self._data_dir)
                self._due.put("start")
            request = self._runs.next_request()
        except IngestError as error:
            if str(error) != self._trouble:  # one line, not one with every look
                self._trouble = str(error)
                log.warning("No ingest can begin: %s", error)
            return False
        self._trouble = ""
        if request:
            self._runs.start(request.id)
            self._carry_out(request.id, request.options)
        elif (reason := self._next_due()) is not None:
            self._carry_out(self._runs.begin(reason), {})
        else:
            return False
        self._publish_next_run()
        return True

    def _next_due(self) -> Reason | None:
        """Return the reason for the next due run; runs that fell due together become one."""
        reason = None
        while not self._due.empty():
            reason = self._due.get()
        return reason

    def _carry_out(self, run_id: int, options: dict[str, Any]) -> None:
        self._runs.publish("next_try_at", None)
        try:
            report = self._runner.run(run_id, options, _logging())
        except IngestStopped:
            return
        finally:
            self._plan_next_try(self._runs.outage())
        log.info(
            "Ingest: %d documents at %s; %d chunks added, %d changed, %d deleted, in %.1f s.",
            *(report.documents, report.revision, report.added, report.updated, report.deleted),
            report.seconds,
        )
        for failed in report.failed:
            log.warning("Ingest: %s failed: %s", failed.path, failed.reason)
        for warning in report.warnings:
            log.warning("Ingest: %s", warning)

    def _answers_nothing(self) -> bool:
        try:
            return self._index.status().documents == 0
        except IngestError:
            return True

    def _plan_next_try(self, outage: Outage | None) -> None:
        """Plan another run after a failed one whose cause may go away, else none.

        An empty index answers nothing, so then the cause does not matter.
        """
        at = None
        if outage and not self._stopping.is_set() and (outage.may_heal or self._answers_nothing()):
            at = datetime.now(UTC) + outage.pause
            self._scheduler.add_job(
                self._due.put,
                "date",
                ("retry",),
                run_date=at,
                id=_NEXT_TRY,
                replace_existing=True,
                misfire_grace_time=None,
            )
        elif self._scheduler.get_job(_NEXT_TRY):
            self._scheduler.remove_job(_NEXT_TRY)
        with suppress(DataFolderError):  # it says the same as the run's own error
            self._runs.publish("next_try_at", at.isoformat(timespec="seconds") if at else None)

    def _next_try_words(self) -> str:
        job = self._scheduler.get_job(_NEXT_TRY) or self._scheduler.get_job("nightly")
        at = job and job.next_run_time
        return f" The next try is at {at.isoformat(timespec='seconds')}." if at else ""

    def _missed(self, event: JobExecutionEvent) -> None:
        when = event.scheduled_run_time.isoformat(timespec="minutes")
        log.warning("Ingest: the run of %s was missed", when)
        self._runs.skip("schedule", f"the run of {when} was missed: the process could not start it")

    def _publish_next_run(self) -> None:
        at = self.next_run_at
        self._runs.publish("next_run_at", at.isoformat(timespec="seconds") if at else None)
        if not self._stopping.is_set():
            self._runs.publish("listener", str(os.getpid()))


def _logging() -> ProgressListener:
    """Return a listener that logs the progress of a long run, a line every so often."""
    pace = Pace()

    def listen(progress: IngestProgress) -> None:
        pace.hear(progress.stage, progress.done, progress.total)
        if line := pace.line():
            log.info("Ingest: %s.", line)

    return listen


def _unrecorded() -> Outage:
    """Return the outage of a data folder that cannot be written."""
    return Outage(datetime.now(UTC).isoformat(timespec="seconds"), 2, DataFolderError.__name__)
