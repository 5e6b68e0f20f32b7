"""One ingest asked for at the terminal: done here, or by the process that owns the data folder.

Either way progress is shown and the same report comes back.
"""

import sys
import time
from typing import Any

import typer
from rich.console import Console

from ingest.data_folder import own_data_folder, owner_of
from ingest.errors import DataFolderBusy, IngestError, LargeDeletion
from ingest.index import open_index
from ingest.runs.record import Runs
from ingest.runs.runner import Runner
from ingest.settings import IndexSettings
from ingest.terminal import Heard, progress_bar

_LOOK_EVERY_SECONDS = 0.2
_STAGES = {
    "fetch": "fetching",
    "read": "reading",
    "embed": "embedding",
    "write": "writing",
    "test": "testing",
}


class HandedOverError(IngestError):
    """What went wrong in the process that did the work."""

    def __init__(self, message: str, kind: str | None) -> None:
        super().__init__(message)
        self.kind = kind


def ingest_anywhere(
    settings: IndexSettings, options: dict[str, Any], console: Console, *, ask: bool
) -> dict[str, Any]:
    """The report of one ingest. With ``ask``, a person may be asked to confirm a large deletion."""
    try:
        return _ingest(settings, options, console)
    except (LargeDeletion, HandedOverError) as error:
        is_deletion = isinstance(error, LargeDeletion) or error.kind == LargeDeletion.__name__
        if not (is_deletion and ask and sys.stdin.isatty()):
            raise
        console.print(str(error), markup=False)
        typer.confirm("Go on and delete them?", abort=True)
    return _ingest(settings, options | {"confirm_large_deletion": True}, console)


def _ingest(settings: IndexSettings, options: dict[str, Any], console: Console) -> dict[str, Any]:
    runs = Runs(settings.data_dir)
    with progress_bar(console) as heard:
        while True:
            try:
                with own_data_folder(settings.data_dir):
                    return _here(settings, options, runs, heard)
            except DataFolderBusy as busy:
                if runs.noted("listener") != str(busy.pid):
                    raise
                console.print("The running bot does it; its progress:", style="dim")
            report = _at_owner(settings, options, runs, heard)
            if report is not None:
                return report


def _here(
    settings: IndexSettings, options: dict[str, Any], runs: Runs, heard: Heard
) -> dict[str, Any]:
    runs.take_over()
    index = open_index(settings)
    try:
        report = Runner(settings, index, runs).run(
            runs.begin("command"), options, lambda p: heard(_STAGES[p.stage], p.done, p.total)
        )
    finally:
        index.close()
    return report.to_json()


def _at_owner(
    settings: IndexSettings, options: dict[str, Any], runs: Runs, heard: Heard
) -> dict[str, Any] | None:
    """The owner's report; None when it ended before it had one."""
    run_id = runs.request(options)
    try:
        while run := runs.get(run_id):
            if run.report is not None:
                return run.report
            if run.state == "failed":
                raise HandedOverError(run.error or "The ingest failed.", run.error_kind)
            if run.is_over or owner_of(settings.data_dir) is None:
                break
            stage = run.stage or "fetch"
            heard(_STAGES.get(stage, stage), run.done or 0, run.total)
            time.sleep(_LOOK_EVERY_SECONDS)
    finally:
        runs.withdraw(run_id)
    return None
