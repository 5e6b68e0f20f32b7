"""The commands that measure the search: ``footnote eval retrieval`` and ``eval calibrate``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ingest.terminal import AsJson, VisibleConsole, print_json, progress_bar

app = typer.Typer()

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
    # The libraries of the index take seconds to load, and the help does not need them.
    from ingest.errors import SettingsError
    from ingest.evaluate.cases import Case, by_folder, read_cases
    from ingest.evaluate.evaluate import EVAL_FOLDER, changed_settings, compared_json, evaluate
    from ingest.evaluate.result_tables import print_comparison, print_evaluation
    from ingest.settings import IndexSettings, read_settings

    settings = read_settings(IndexSettings)
    changed = changed_settings(settings, compare_with) if compare_with else None
    cases = [case for case in read_cases(questions, Case) if case.type != "no_search"]
    grouped = by_folder(cases, None, corpora)
    if not any(case.has_answer for case in cases):
        raise SettingsError(f"{questions} holds no question with an answer: nothing to measure.")
    cache = settings.data_dir / EVAL_FOLDER
    with progress_bar() as report:
        before = evaluate(grouped, settings, cache=cache, report=report)
        after = evaluate(grouped, changed, cache=cache, report=report) if changed else None
    if as_json:
        comparison = {"compared": compared_json(before, after)} if after else {}
        print_json(before.to_json() | comparison)
        return
    console = VisibleConsole(highlight=False, width=None if sys.stdout.isatty() else 140)
    print_evaluation(before, console)
    if after:
        print_comparison(before, after, " ".join(compare_with or ()), console)


@app.command()
def calibrate(
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
    """Choose the confidence below which a result is weak, and store it with the index.

    Needs questions that the docs answer and questions that they do not (type no_answer). Searches
    of a running bot use the new threshold at once.
    """
    from ingest.evaluate.calibrate import ask_corpora, ask_live_index, calibrate, plot
    from ingest.evaluate.cases import Case, by_folder, read_cases
    from ingest.evaluate.result_tables import print_calibration
    from ingest.index.calibration import store_threshold
    from ingest.settings import IndexSettings, read_settings

    settings = read_settings(IndexSettings)
    cases = [case for case in read_cases(questions, Case) if case.type != "no_search"]
    with progress_bar() as report:
        if corpora is None:
            confidences, folders = ask_live_index(cases, settings)
        else:
            grouped = by_folder(cases, None, corpora)
            confidences, folders = ask_corpora(grouped, settings, report)
    calibration = calibrate(confidences)
    if plot_file is not None:
        plot(calibration, plot_file)
    for folder in folders:
        store_threshold(folder, calibration.threshold)
    if as_json:
        print_json(calibration.to_json())
    else:
        print_calibration(calibration, VisibleConsole(highlight=False))
