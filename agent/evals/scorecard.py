"""The result of an eval -> one HTML page: scores as bars, costs, every case with its answer."""

from collections.abc import Iterator
from pathlib import Path

from agent.evals.agent_case import AgentCase
from agent.evals.evals import EvalResult, Scores
from agent.evals.outcomes import CaseOutcome
from agent.evals.tables import NOT_MEASURED, trajectory_rows
from ingest.errors import SettingsError
from ingest.evaluate.shares import Share
from ingest.html_templates import open_templates

_LOW_IS_GOOD = {"needless", "missing", "wrongly_cited", "obeyed"}
_TEMPLATES = open_templates("agent.evals")


def write_page(file: Path, result: EvalResult) -> None:
    """Write the page. Raises SettingsError if the file cannot be written."""
    measurement = result.measurement
    page = _TEMPLATES.get_template("scorecard.html").render(
        title=result.eval.title,
        measurement=measurement,
        notes=list(_notes(result)),
        labels=result.eval.labels,
        low_is_good=_LOW_IS_GOOD,
        scores=result.scores,
        kinds=list(_kinds(result)),
        trajectory=trajectory_rows(measurement),
        cases=[
            (case, outcome, _faults(result, case, outcome)) for case, outcome in measurement.pairs
        ],
    )
    try:
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error.strerror}.") from None


def _notes(result: EvalResult) -> Iterator[str]:
    measurement = result.measurement
    if measurement.not_measured:
        passages = "the scores are of the quoted passages; decisions and verdicts are "
        start = "" if result.scores is None else passages
        yield f"{start}{NOT_MEASURED}: {measurement.not_measured}"
    if measurement.stopped:
        yield f"stopped: {measurement.stopped}"


def _kinds(result: EvalResult) -> Iterator[tuple[str, str, Share]]:
    """Yield each kind with its most telling score: the first one that its cases have."""
    labels = result.eval.labels
    first = next(iter(labels))
    for kind, scores in result.by_kind.items():
        if scores is not None:
            order = (first, "needless", "wrongly_cited", *labels)
            name = next((n for n in order if n in labels and _share(scores, n).of), first)
            yield kind, name, _share(scores, name)


def _share(scores: Scores, name: str) -> Share:
    share: Share = getattr(scores, name)
    return share


def _faults(result: EvalResult, case: AgentCase, outcome: CaseOutcome) -> list[str] | None:
    """Return the faults of a case, or None if the case cannot be judged."""
    # Without a model, only cases with an answer in the docs can be judged.
    is_judged = outcome.answered_by_model or bool(case.gold_files)
    return result.eval.faults(case, outcome) if result.scores is not None and is_judged else None
