"""What commands share: options, one JSON object on stdout, on stderr a bar of how far work is."""

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

Heard = Callable[[str, int, int | None], None]
"""What is being done, how far, and of how much."""


def print_json(value: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


@contextmanager
def progress_bar(console: Console | None = None) -> Iterator[Heard]:
    """A bar for whoever watches; nothing in a log."""
    console = console or Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("beginning", total=None)

        def heard(what: str, done: int, total: int | None) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield heard
