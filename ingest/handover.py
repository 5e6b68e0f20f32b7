"""One ingest asked for at the terminal: done here, or by the process that owns the data folder.

Either way progress is shown and the same report comes back.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ingest.errors import DataFolderBusy, IngestError, LargeDeletion
from ingest.index import open_index
from ingest.ownership import own_data_folder, owner_of
from ingest.runner import Runner
from ingest.runs import Runs
from ingest.settings import IndexSettings

_LOOK_EVERY_SECONDS = 0.2
_STAGES = {
    "fetch": "fetching",
    "read": "reading",
    "embed": "embedding",
    "write": "writing",
    "test": "testing",
}


Show = Callable[[str, int, int | None], None]


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
    with _progress_bar(console) as show:
        while True:
            try:
                with own_data_folder(settings.data_dir):
                    return _here(settings, options, runs, show)
            except DataFolderBusy as busy:
                if runs.noted("listener") != str(busy.pid):
                    raise
                console.print("The running bot does it; its progress:", style="dim")
            report = _at_owner(settings, options, runs, show)
            if report is not None:
                return report


def _here(
    settings: IndexSettings, options: dict[str, Any], runs: Runs, show: Show
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
    settings: IndexSettings, options: dict[str, Any], runs: Runs, show: Show
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
            show(run.stage or "fetch", run.done or 0, run.total)
            time.sleep(_LOOK_EVERY_SECONDS)
    finally:
        runs.withdraw(run_id)
    return None


@contextmanager
def _progress_bar(console: Console) -> Iterator[Show]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(_STAGES["fetch"], total=None)

        def show(stage: str, done: int, total: int | None) -> None:
            bar.update(task, description=_STAGES.get(stage, stage), completed=done, total=total)

        yield show
