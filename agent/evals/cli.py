"""The commands that measure the agent: ``footnote eval decisions`` and ``eval answers``."""

from pathlib import Path
from typing import Annotated

import typer

from agent.evals.modes import Mode
from ingest.terminal import AsJson, VisibleConsole, print_json, progress_bar

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
        help="Write each outcome to this file; outcomes of an earlier run in it are used again.",
        metavar="FILE",
    ),
]
MaxUsd = Annotated[float | None, typer.Option(min=0, help="Stop when so much is spent.")]
AnyModel = Annotated[
    bool, typer.Option("--any-model", help="Score a model that is not Claude, or a script.")
]
ReportFile = Annotated[
    Path | None, typer.Option("--report", help="Write an HTML page, too.", metavar="FILE")
]


def _add_command(name: str, description: str) -> None:
    @app.command(name, help=description)
    def command(
        cases: Cases = None,
        docs: Docs = None,
        corpora: Corpora = None,
        mode: InMode = "agent",
        keep: Keep = None,
        max_usd: MaxUsd = None,
        any_model: AnyModel = False,
        report: ReportFile = None,
        as_json: AsJson = False,
    ) -> None:
        # The libraries of the agent take seconds to load, and the help does not need them.
        from agent.evals.agent_case import read_agent_cases
        from agent.evals.evals import EVALS, score_measurement
        from agent.evals.measure import measure
        from agent.evals.outcomes import Outcomes
        from agent.evals.scorecard import write_page
        from agent.evals.tables import print_result
        from agent.settings import AgentSettings
        from ingest.errors import SettingsError
        from ingest.settings import IndexSettings, read_settings
        from ingest.shipped import EVAL_CASES, SAMPLE_DOCS

        settings = read_settings(AgentSettings)
        index_settings = read_settings(IndexSettings)
        folder = docs or SAMPLE_DOCS
        if not folder.is_dir():
            raise SettingsError(f"there is no folder {folder}. Name your docs with --docs.")
        grouped = read_agent_cases(cases or EVAL_CASES / f"{name}.jsonl", folder, corpora)
        outcomes = Outcomes(keep, mode, settings.model if settings.has_key else None)
        with progress_bar() as show_progress:
            measurement = measure(
                grouped,
                settings,
                index_settings,
                outcomes,
                any_model=any_model,
                max_usd=max_usd,
                report=show_progress,
            )
        result = score_measurement(EVALS[name], measurement)
        if report is not None:
            write_page(report, result)
        if as_json:
            print_json(result.to_json())
        else:
            print_result(result, VisibleConsole(highlight=False))
        if measurement.stopped:
            missing = measurement.total - len(measurement.pairs)
            message = f"footnote: {measurement.stopped}, {missing} cases were not asked"
            typer.echo(message, err=True)
            raise typer.Exit(1)


_add_command(
    "decisions",
    """Does the agent search when it must, and only then?

    Run it after every change of a prompt or a tool's description.
    """,
)
_add_command(
    "answers",
    """Are the answers right: cited, complete, supported, and silent where the docs are?

    Without a key it measures the passages that are quoted instead of an answer.

    - `footnote eval answers --keep answers.jsonl --report answers.html`
    - `footnote eval answers --cases dev.jsonl --corpora corpora`
    """,
)
