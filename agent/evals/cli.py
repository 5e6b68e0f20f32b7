"""``footnote eval``: measured quality of the agent, beside that of the search alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from agent.evals import answers as answer_scores
from agent.evals import decisions as decision_scores
from agent.evals.cases import read_cases
from agent.evals.measure import Measurement, measure
from agent.evals.outcomes import Mode, Outcomes
from agent.evals.scorecard import write_page
from agent.evals.tables import Scores, print_answers, print_decisions, print_trajectory
from agent.settings import AgentSettings
from ingest.errors import SettingsError
from ingest.settings import IndexSettings, read_settings
from ingest.shipped import EVAL_CASES, SAMPLE_DOCS
from ingest.terminal import AsJson, print_json, progress_bar

app = typer.Typer()

Cases = Annotated[
    Path | None,
    typer.Option(
        help="Case file, one JSON object a line; else the cases on the sample docs.",
        metavar="FILE",
        show_default=False,
    ),
]
Docs = Annotated[
    Path | None,
    typer.Option(
        help="Docs that the cases are asked against; else the sample docs.",
        metavar="FOLDER",
        show_default=False,
    ),
]
Corpora = Annotated[
    Path | None,
    typer.Option(help="Folder with one folder of docs a corpus.", metavar="FOLDER"),
]
InMode = Annotated[
    Mode,
    typer.Option(
        help="agent: the model decides. no-search: it may not search. "
        "search-first: one search with the question, made by code."
    ),
]
Keep = Annotated[
    Path | None,
    typer.Option(
        help="Write each outcome here; those of an earlier run are not asked for again.",
        metavar="FILE",
    ),
]
MaxUsd = Annotated[float | None, typer.Option(min=0, help="Stop when so much is spent.")]
AnyModel = Annotated[
    bool, typer.Option("--any-model", help="Score a model that is not Claude, or a script.")
]
Page = Annotated[
    Path | None, typer.Option("--report", help="Write an HTML page, too.", metavar="FILE")
]


@app.command()
def decisions(
    cases: Cases = None,
    docs: Docs = None,
    corpora: Corpora = None,
    mode: InMode = "agent",
    keep: Keep = None,
    max_usd: MaxUsd = None,
    any_model: AnyModel = False,
    report: Page = None,
    as_json: AsJson = False,
) -> None:
    """Does the agent search when it must, and only then?

    Run it after every change of a prompt or a tool's description.
    """
    measurement = _measure(
        cases or EVAL_CASES / "decisions.jsonl",
        docs,
        corpora,
        mode,
        keep,
        max_usd,
        any_model=any_model,
    )
    scored = None if measurement.not_measured else decision_scores.score(measurement.pairs)
    kinds = decision_scores.by_kind(measurement.pairs)
    by_kind = {
        kind: None if scored is None else decision_scores.score(pairs)
        for kind, pairs in kinds.items()
    }
    if report is not None:
        write_page(report, "Decisions", measurement, scored, by_kind)
    if as_json:
        _print(measurement, scored, by_kind)
    else:
        console = Console(highlight=False)
        print_decisions(measurement, scored, by_kind, console)
        print_trajectory(measurement, console)
    _end(measurement)


@app.command()
def answers(
    cases: Cases = None,
    docs: Docs = None,
    corpora: Corpora = None,
    mode: InMode = "agent",
    keep: Keep = None,
    max_usd: MaxUsd = None,
    any_model: AnyModel = False,
    report: Page = None,
    as_json: AsJson = False,
) -> None:
    """Are the answers right: cited, complete, supported, and silent where the docs are?

    Without a key it measures the passages that are quoted instead of an answer.

    - `footnote eval answers --keep answers.jsonl --report answers.html`
    - `footnote eval answers --cases dev.jsonl --corpora corpora`
    """
    measurement = _measure(
        cases or EVAL_CASES / "answers.jsonl",
        docs,
        corpora,
        mode,
        keep,
        max_usd,
        any_model=any_model,
    )
    score = answer_scores.scorer(measurement)
    scored = score(measurement.pairs)
    kinds = decision_scores.by_kind(measurement.pairs)
    by_kind = {kind: score(pairs) for kind, pairs in kinds.items()}
    if report is not None:
        write_page(report, "Answers", measurement, scored, by_kind)
    if as_json:
        _print(measurement, scored, by_kind)
    else:
        console = Console(highlight=False)
        print_answers(measurement, scored, by_kind, console)
        print_trajectory(measurement, console)
    _end(measurement)


def _measure(
    cases: Path,
    docs: Path | None,
    corpora: Path | None,
    mode: Mode,
    keep: Path | None,
    max_usd: float | None,
    *,
    any_model: bool,
) -> Measurement:
    settings = read_settings(AgentSettings)
    index_settings = read_settings(IndexSettings)
    folder = docs or SAMPLE_DOCS
    if not folder.is_dir():
        raise SettingsError(f"there is no folder {folder}. Name your docs with --docs.")
    grouped = read_cases(cases, folder, corpora)
    outcomes = Outcomes(keep, mode, settings.model if settings.has_key else None)
    with progress_bar() as heard:
        return measure(
            grouped,
            settings,
            index_settings,
            outcomes,
            any_model=any_model,
            max_usd=max_usd,
            heard=heard,
        )


def _print(
    measurement: Measurement, scored: Scores | None, by_kind: Mapping[str, Scores | None]
) -> None:
    kinds: dict[str, Any] = {kind: s.to_json() if s else None for kind, s in by_kind.items()}
    results = [
        {
            "case": case.id,
            "kind": case.kind,
            "searched": outcome.consulted,
            "must_search": case.must_search,
            "queries": list(outcome.queries),
            "verdict": outcome.verdict,
            "citations": [cited.id for cited in outcome.cited],
            "unsupported": list(outcome.unsupported),
            "cost_usd": outcome.cost_usd,
            "seconds": round(outcome.seconds, 3),
        }
        for case, outcome in measurement.pairs
    ]
    scores = {"scores": scored.to_json() if scored else None, "by_kind": kinds}
    print_json(measurement.to_json() | scores | {"results": results})


def _end(measurement: Measurement) -> None:
    if measurement.stopped:
        left = measurement.asked_for - len(measurement.pairs)
        message = f"footnote: {measurement.stopped}, {left} cases were not asked"
        typer.echo(message, err=True)
        raise typer.Exit(1)
