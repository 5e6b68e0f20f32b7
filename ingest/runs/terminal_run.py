"""An ingest from the terminal: done by this process, or by the one that owns the data folder.

Both show their progress and return the same report.
"""

import sys
import time
from pathlib import Path
from typing import Any

import typer

from ingest.data_folder import own_data_folder, owner_of
from ingest.errors import DataFolderBusy, IngestError, LargeDeletion
from ingest.index import open_index
from ingest.runs.record import IngestRuns
from ingest.runs.runner import Runner
from ingest.settings import IndexSettings
from ingest.terminal import ShowProgress, VisibleConsole, progress_bar

_POLL_SECONDS = 0.2


class HandedOverError(IngestError):
    """An error in the process that carried out the run."""

    def __init__(self, message: str, kind: str | None) -> None:
        super().__init__(message)
        self.kind = kind


def ingest_anywhere(
    settings: IndexSettings, options: dict[str, Any], console: VisibleConsole, *, ask: bool
) -> dict[str, Any]:
    """Carry out one ingest and return its report as JSON.

    With ``ask``, a person at a terminal can confirm a large deletion.
    """
    try:
        return _ingest(settings, options, console)
    except (LargeDeletion, HandedOverError) as error:
        is_deletion = isinstance(error, LargeDeletion) or error.kind == LargeDeletion.__name__
        if not (is_deletion and ask and sys.stdin.isatty()):
            raise
        console.print(str(error), markup=False)
        typer.confirm("Delete them?", abort=True)
    return _ingest(settings, options | {"confirm_large_deletion": True}, console)


def _ingest(
    settings: IndexSettings, options: dict[str, Any], console: VisibleConsole
) -> dict[str, Any]:
    runs = IngestRuns(settings.data_dir)
    with progress_bar(console) as show:
        while True:
            try:
                with own_data_folder(settings.data_dir):
                    return _here(settings, options, runs, show)
            except DataFolderBusy as busy:
                if runs.published("listener") != str(busy.pid):
                    raise
                console.print("The running bot carries it out:", style="dim")
            report = _at_owner(settings.data_dir, options, runs, show)
            if report is not None:
                return report


def _here(
    settings: IndexSettings, options: dict[str, Any], runs: IngestRuns, show: ShowProgress
) -> dict[str, Any]:
    runs.take_over()
    index = open_index(settings)
    try:
        report = Runner(settings, index, runs).run(
            runs.begin("command"), options, lambda p: show(p.stage, p.done, p.total)
        )
    finally:
        index.close()
    return report.to_json()


def _at_owner(
    data_dir: Path, options: dict[str, Any], runs: IngestRuns, show: ShowProgress
) -> dict[str, Any] | None:
    """Return the owner's report, or None if the owner ended before the run did."""
    run_id = runs.request(options)
    try:
        while run := runs.get(run_id):
            if run.report is not None:
                return run.report
            if run.state == "failed":
                raise HandedOverError(run.error or "The ingest failed.", run.error_kind)
            if run.is_over or owner_of(data_dir) is None:
                break
            show(run.stage or "fetch", run.done or 0, run.total)
            time.sleep(_POLL_SECONDS)
    finally:
        runs.withdraw(run_id)
    return None
