"""Parts that all commands share: options, JSON on stdout, and a progress bar on stderr.

The commands of every package import this module, so it is at the bottom of the import layers. All
text for people passes a ``VisibleConsole``.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment

from ingest.invisible import HIDDEN, without_hidden
from ingest.time_to_go import STAGES, Pace, rough_time

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Folder with the index; else FOOTNOTE_DATA_DIR, else .footnote."),
]

ShowProgress = Callable[[str, int, int | None], None]
"""Shows a stage, the number of items done, and their total or None."""


class VisibleConsole(Console):
    """A console that shows no hidden character of a text, so that no file name can control it."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else without_hidden(text), style, control)


def print_json(value: Mapping[str, Any]) -> None:
    """Print a JSON object; hidden characters are escaped, so the value stays the same."""
    text = json.dumps(value, ensure_ascii=False)
    sys.stdout.write(HIDDEN.sub(_escaped, text) + "\n")


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


@contextmanager
def progress_bar(
    console: VisibleConsole | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[ShowProgress]:
    """Yield a function that shows progress: in a bar, or in lines outside a terminal."""
    console = console or VisibleConsole(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    pace = Pace(clock)
    with Progress(
        *columns,
        TimeElapsedColumn(),
        TextColumn("{task.fields[to_go]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("starting", total=None, to_go="")

        def show(stage: str, done: int, total: int | None) -> None:
            pace.hear(stage, done, total)
            left = pace.seconds_left
            bar.update(
                task,
                description=STAGES.get(pace.stage, pace.stage),
                completed=pace.done,
                total=pace.total,
                to_go="" if left is None else f"{rough_time(left)} to go",
            )
            if not console.is_terminal and (line := pace.line()):
                console.print(line, markup=False, highlight=False, soft_wrap=True)

        yield show
