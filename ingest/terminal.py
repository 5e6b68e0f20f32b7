"""Parts that all commands share: options, JSON on stdout, and a progress bar on stderr.

The commands of every package import this module, so it is at the bottom of the import layers and
imports nothing of Footnote.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder with the index; else FOOTNOTE_DATA_DIR, else .footnote."),
]

ShowProgress = Callable[[str, int, int | None], None]
"""Shows a stage, the number of items done, and their total or None."""


def print_json(value: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


@contextmanager
def progress_bar(console: Console | None = None) -> Iterator[ShowProgress]:
    """Yield a function that updates a progress bar; outside a terminal nothing is shown."""
    console = console or Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("starting", total=None)

        def show(stage: str, done: int, total: int | None) -> None:
            bar.update(task, description=stage, completed=done, total=total)

        yield show
