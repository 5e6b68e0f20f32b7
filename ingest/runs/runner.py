"""One ingest with its record: begun, how far, how it ended."""

import threading
import time
from collections.abc import Callable
from typing import Any

from ingest.documents import IngestReport
from ingest.embedding.embedder import Embedder, open_embedder
from ingest.errors import FootnoteError, IngestError
from ingest.index import Index
from ingest.pipeline.run import Progress, run_ingest
from ingest.runs.record import Runs
from ingest.settings import IndexSettings

_NOTE_EVERY_SECONDS = 0.3
_OVERRIDES = ("docs_repo", "docs_branch", "docs_root", "docs_include", "docs_exclude")
"""Settings that one run may be given other values for."""

Listener = Callable[[Progress], None]


class IngestStopped(IngestError):
    """The process is told to end; the next run goes on where this one left off."""


class Runner:
    """Carries out runs in a data folder that this process owns, one after the other."""

    def __init__(
        self,
        settings: IndexSettings,
        index: Index,
        runs: Runs,
        embedder: Embedder | None = None,
    ) -> None:
        self._settings = settings
        self._index = index
        self._runs = runs
        self._embedder = embedder
        self._stopping = threading.Event()

    def stop(self) -> None:
        """End the run under way at the next point where that is possible."""
        self._stopping.set()

    def run(
        self, run_id: int, options: dict[str, Any] | None = None, listen: Listener | None = None
    ) -> IngestReport:
        """Carry out a run that ``Runs`` knows; the record says how it ended in any case."""
        try:
            report = self._ingest(options or {}, self._noting(run_id, listen))
        except FootnoteError as error:
            if isinstance(error, IngestStopped):
                self._runs.interrupt(run_id)
            else:
                self._runs.fail(run_id, error, str(error))
            raise
        except KeyboardInterrupt:
            self._runs.interrupt(run_id)
            raise
        except Exception as error:  # noted whatever it is, and raised again
            self._runs.fail(run_id, error, f"unexpected {type(error).__name__}; see the log")
            raise
        self._runs.finish(run_id, report)
        return report

    def _ingest(self, options: dict[str, Any], listen: Listener) -> IngestReport:
        confirmed = bool(options.get("confirm_large_deletion"))
        given = {name: value for name, value in options.items() if name in _OVERRIDES}
        for name in ("docs_include", "docs_exclude"):
            if name in given:
                given[name] = tuple(given[name])
        self._embedder = self._embedder or open_embedder(self._settings)
        return run_ingest(
            self._settings.model_copy(update=given),
            self._index,
            self._embedder,
            progress=listen,
            confirm_large_deletion=confirmed,
        )

    def _noting(self, run_id: int, listen: Listener | None) -> Listener:
        noted = 0.0

        def heard(progress: Progress) -> None:
            nonlocal noted
            if self._stopping.is_set():
                raise IngestStopped("The ingest was stopped; the next one goes on from there.")
            if listen:
                listen(progress)
            if time.monotonic() - noted > _NOTE_EVERY_SECONDS:
                noted = time.monotonic()
                self._runs.progress(run_id, progress.stage, progress.done, progress.total)

        return heard
