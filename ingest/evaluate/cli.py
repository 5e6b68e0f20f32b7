"""``footnote eval retrieval`` and ``footnote eval calibrate``: measured quality of the search."""

import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from ingest.embedding.embedder import open_embedder
from ingest.errors import SettingsError
from ingest.evaluate import (
    EVAL_FOLDER,
    Evaluation,
    corpus_folder,
    evaluate,
    open_corpus,
)
from ingest.evaluate.calibrate import Calibration, calibrate, confidences, plot
from ingest.evaluate.questions import Question, by_corpus, read_questions
from ingest.evaluate.scoring import METRICS, Mark, averages, compare
from ingest.index import open_index
from ingest.index.calibration import store_threshold
from ingest.index.folders import IndexFolder, live
from ingest.settings import IndexSettings, read_settings
from ingest.terminal import AsJson, ShowProgress, print_json, progress_bar

app = typer.Typer()

COMPARABLE = ("embedder", "embedder_int8", "embedder_threads", "late_interaction")
"""Settings that change what is found, or how fast."""

Questions = Annotated[
    Path, typer.Option(help="Question file: one JSON object a line.", metavar="FILE")
]


@app.command()
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

    Each corpus is indexed once, under `eval` in the data folder. A line of the question file:

    `{"id": "q1", "kind": "how-to", "corpus": "shop", "question": "...", "gold_files": ["pay.md"],
    "gold_quotes": [{"file": "pay.md", "quote": "..."}]}`

    - `footnote eval retrieval --questions dev.jsonl --corpora corpora`
    - `footnote eval retrieval --questions dev.jsonl --corpora docs --compare embedder_int8=false`
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


@app.command("calibrate")
def calibrate_command(
    questions: Questions,
    corpora: Annotated[
        Path | None,
        typer.Option(
            help="Folder with one folder of docs a corpus; else the live index is asked.",
            metavar="FOLDER",
        ),
    ] = None,
    plot_file: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw both distributions: a PNG.", metavar="FILE"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Choose below which confidence a result is called weak, and store it with the index.

    Needs questions that the docs answer and questions that they do not (type no_answer). Searches
    of a running bot go by the new threshold at once.
    """
    settings = read_settings(IndexSettings)
    asked = [
        q for q in read_questions(questions, Question) if q.has_answer or q.type == "no_answer"
    ]
    with progress_bar() as heard:
        if corpora is None:
            found, folders = _ask_live(asked, settings)
        else:
            found, folders = _ask_corpora(by_corpus(asked, corpora), corpora, settings, heard)
    result = calibrate(found)
    if plot_file is not None:
        plot(result, plot_file)
    for folder in folders:
        store_threshold(folder, result.threshold)
    if as_json:
        print_json(result.to_json())
        return
    _print_calibration(result, Console(highlight=False))


def _ask_live(
    asked: Sequence[Question], settings: IndexSettings
) -> tuple[list[tuple[Question, float]], list[IndexFolder]]:
    index = open_index(settings)
    try:
        _check_pages(asked, {document.path for document in index.documents()})
        found = confidences(index, asked)
    finally:
        index.close()
    folder = live(settings.data_dir)
    return found, [folder] if folder else []


def _check_pages(asked: Sequence[Question], indexed: Collection[str]) -> None:
    """Questions about other docs would give the live index a threshold that means nothing."""
    for question in asked:
        for file in question.gold_files:
            if file not in indexed:
                raise SettingsError(
                    f"question {question.id}: {file} is not in the index. Correct its gold_files,"
                    " or name the folder with its docs by --corpora."
                )


def _ask_corpora(
    grouped: Mapping[str, Sequence[Question]],
    corpora: Path,
    settings: IndexSettings,
    heard: ShowProgress,
) -> tuple[list[tuple[Question, float]], list[IndexFolder]]:
    found: list[tuple[Question, float]] = []
    folders: list[IndexFolder] = []
    embedder = open_embedder(settings.embedder_source)
    cache = settings.data_dir / EVAL_FOLDER
    for corpus, asked in sorted(grouped.items()):
        with open_corpus(corpora / corpus, settings, embedder, cache=cache, heard=heard) as index:
            heard(f"{corpus}: asking", 0, len(asked))
            found += confidences(index, asked)
        folder = live(corpus_folder(cache, corpus, embedder))
        folders += [folder] if folder else []
    return found, folders


def _changed(settings: IndexSettings, assignments: Sequence[str]) -> IndexSettings:
    given: dict[str, str] = {}
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        name = name.strip().lower().removeprefix("footnote_")
        if not separator or name not in COMPARABLE:
            known = ", ".join(COMPARABLE)
            raise SettingsError(f"--compare {assignment}: give SETTING=VALUE, with one of {known}.")
        given[name] = value
    try:
        return IndexSettings(**(settings.model_dump() | given))
    except ValidationError as error:
        fault = error.errors()[0]
        raise SettingsError(
            f"--compare {fault['loc'][0]}={fault['input']}: {fault['msg']}."
        ) from None


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


def _print_calibration(result: Calibration, console: Console) -> None:
    edges = [step / 10 for step in range(11)]
    table = Table(box=None, pad_edge=False)
    for name in ("confidence", "with an answer", "without"):
        table.add_column(name, justify="right")
    for low, high in pairwise(edges):
        counts = [
            sum(low <= value < high or value == high == 1.0 for value in values)
            for values in (result.answerable, result.unanswerable)
        ]
        table.add_row(f"{low:.1f}-{high:.1f}", *map(str, counts))
    console.print(table)
    for label, (wrong, right) in (
        ("on these questions", result.rates()),
        ("on questions it was not chosen on", result.unseen_rates()),
    ):
        console.print(
            f"weak below {result.threshold:.3f}, {label}: {wrong:.1%} of the "
            f"{len(result.answerable)} with an answer, {right:.1%} of the "
            f"{len(result.unanswerable)} without",
            soft_wrap=True,
        )


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
