"""``footnote eval retrieval`` and ``footnote eval calibrate``: measured quality of the search."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table

from ingest.errors import SettingsError
from ingest.evaluate import EVAL_FOLDER, Evaluation, Heard, evaluate
from ingest.questions import Question, by_corpus, read_questions
from ingest.scoring import METRICS, Mark, averages, compare
from ingest.settings import IndexSettings, read_settings

eval_app = typer.Typer(
    no_args_is_help=True, help="Measured quality, on case files: one JSON object a line."
)

Questions = Annotated[
    Path, typer.Option(help="Question file: one JSON object a line.", metavar="FILE")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


@eval_app.command()
def retrieval(
    questions: Questions,
    corpora: Annotated[
        Path, typer.Option(help="Folder with one folder of docs a corpus.", metavar="FOLDER")
    ],
    compare_with: Annotated[
        list[str] | None,
        typer.Option(
            "--compare",
            metavar="SETTING=VALUE",
            help="Also with this setting, question by question. May be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions whose pages are known, and see how much text holds the answer.

    Each corpus is indexed once, under `eval` in the data folder.

    \b
    footnote eval retrieval --questions dev.jsonl --corpora corpora
    footnote eval retrieval --questions dev.jsonl --corpora corpora --compare embedder_int8=false
    """
    settings = read_settings(IndexSettings)
    changed = _changed(settings, compare_with) if compare_with else None
    grouped = by_corpus(read_questions(questions, Question), corpora)
    if not any(question.has_answer for asked in grouped.values() for question in asked):
        raise SettingsError(f"{questions} holds no question with an answer: nothing to measure.")
    cache = settings.data_dir / EVAL_FOLDER
    with progress_bar() as heard:
        result = evaluate(grouped, corpora, settings, cache=cache, heard=heard)
        other = evaluate(grouped, corpora, changed, cache=cache, heard=heard) if changed else None
    if as_json:
        extra = {"compared": _compared_json(result, other)} if other else {}
        print_json(result.to_json() | extra)
        return
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    _print_marks(result, console)
    if other:
        _print_differences(result, other, " ".join(compare_with or ()), console)


@contextmanager
def progress_bar() -> Iterator[Heard]:
    """What is done and how far, on stderr; nothing where nobody watches."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with ProgressBar(
        *columns,
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("opening", total=None)

        def heard(what: str, done: int, total: int | None) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield heard


def print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def _changed(settings: IndexSettings, assignments: Sequence[str]) -> IndexSettings:
    given: dict[str, str] = {}
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        name = name.strip().lower().removeprefix("footnote_")
        if not separator or name not in IndexSettings.model_fields:
            known = ", ".join(sorted(IndexSettings.model_fields))
            raise SettingsError(f"--compare {assignment}: give SETTING=VALUE, with one of {known}.")
        given[name] = value
    return read_settings(IndexSettings, **(settings.model_dump() | given))


def _print_marks(result: Evaluation, console: Console) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("kind")
    for name in ("n", *METRICS, "p50 ms", "p95 ms"):
        table.add_column(name, justify="right")
    for kind, marks in (*result.marks_by_kind().items(), ("overall", result.marks)):
        means = averages(marks)
        scores = (f"{means[name]:.3f}" for name in METRICS)
        taken = (f"{means[name]:.0f}" for name in ("p50_ms", "p95_ms"))
        table.add_row(kind, str(len(marks)), *scores, *taken)
    console.print(table)
    shares = result.weak_shares()
    console.print(
        f"called weak: {shares['answerable']:.1%} of {len(result.marks)} with an answer, "
        f"{shares['no_answer']:.1%} of {len(result.unanswerable_weak)} without"
    )


def _print_differences(before: Evaluation, after: Evaluation, label: str, console: Console) -> None:
    console.print(
        f"\nwith {label}, question by question (95 % interval of the mean):", markup=False
    )
    table = Table(box=None, pad_edge=False)
    for name in ("metric", "better", "worse", "mean", "from", "to", ""):
        table.add_column(name, justify="left" if name == "metric" else "right")
    for change in compare(before.marks, after.marks):
        table.add_row(
            change.metric,
            str(change.better),
            str(change.worse),
            f"{change.mean:+.3f}",
            f"{change.low:+.3f}",
            f"{change.high:+.3f}",
            "holds" if change.holds else "",
        )
    console.print(table)
    taken = [f"{_p50(marks):.0f}" for marks in (before.marks, after.marks)]
    console.print(f"p50 {taken[0]} ms -> {taken[1]} ms")


def _p50(marks: Sequence[Mark]) -> float:
    return averages(marks)["p50_ms"]


def _compared_json(before: Evaluation, after: Evaluation) -> dict[str, Any]:
    return {
        "overall": after.to_json()["overall"],
        "differences": {
            change.metric: {
                "better": change.better,
                "worse": change.worse,
                "mean": round(change.mean, 4),
                "interval": [round(change.low, 4), round(change.high, 4)],
            }
            for change in compare(before.marks, after.marks)
        },
    }
