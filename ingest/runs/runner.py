"""Carries out one ingest and records its start, progress and end."""

import threading
import time
from typing import Any

from ingest.documents import IngestReport
from ingest.embedding.embedder import Embedder, open_embedder
from ingest.errors import FootnoteError, IngestError
from ingest.index import Index
from ingest.pipeline.run import IngestProgress, ProgressListener, run_ingest
from ingest.runs.record import IngestRuns
from ingest.settings import IndexSettings
from ingest.time_to_go import Pace

_RECORD_EVERY_SECONDS = 0.3
_OVERRIDES = ("docs_repo", "docs_branch", "docs_root", "docs_include", "docs_exclude")
"""Settings that a single run may override."""


class IngestStopped(IngestError):
    """The process is shutting down. The next run continues where this one stopped."""


class Runner:
    """Carries out runs in a data folder that this process owns, one at a time."""

    def __init__(
        self,
        settings: IndexSettings,
        index: Index,
        runs: IngestRuns,
        embedder: Embedder | None = None,
    ) -> None:
        self._settings = settings
        self._index = index
        self._runs = runs
        self._embedder = embedder
        self._stopping = threading.Event()

    def stop(self) -> None:
        """End the current run as soon as possible."""
        self._stopping.set()

    def run(
        self,
        run_id: int,
        options: dict[str, Any] | None = None,
        listen: ProgressListener | None = None,
    ) -> IngestReport:
        """Carry out a recorded run and return its report; its end is recorded in any case."""
        try:
            report = self._ingest(options or {}, self._recording(run_id, listen))
        except FootnoteError as error:
            if isinstance(error, IngestStopped):
                self._runs.interrupt(run_id)
            else:
                self._runs.fail(run_id, error, str(error))
            raise
        except KeyboardInterrupt:
            self._runs.interrupt(run_id)
            raise
        except Exception as error:  # any error is recorded, then raised again
            self._runs.fail(run_id, error, f"unexpected {type(error).__name__}; see the log")
            raise
        self._runs.finish(run_id, report)
        return report

    def _ingest(self, options: dict[str, Any], listen: ProgressListener) -> IngestReport:
        confirmed = bool(options.get("confirm_large_deletion"))
        overrides = {name: value for name, value in options.items() if name in _OVERRIDES}
        for name in ("docs_include", "docs_exclude"):
            if name in overrides:
                overrides[name] = tuple(overrides[name])
        self._embedder = self._embedder or open_embedder(self._settings.embedder_source)
        return run_ingest(
            self._settings.model_copy(update=overrides),
            self._index,
            self._embedder,
            progress=listen,
            confirm_large_deletion=confirmed,
        )

    def _recording(self, run_id: int, listen: ProgressListener | None) -> ProgressListener:
        recorded_at = 0.0
        pace = Pace()

        def record(progress: IngestProgress) -> None:
            nonlocal recorded_at
            if self._stopping.is_set():
                raise IngestStopped("The ingest was stopped; the next one continues from there.")
            if listen:
                listen(progress)
            pace.hear(progress.stage, progress.done, progress.total)
            if time.monotonic() - recorded_at > _RECORD_EVERY_SECONDS:
                recorded_at = time.monotonic()
                self._runs.progress(run_id, pace.stage, pace.done, pace.total, pace.seconds_left)

        return record
