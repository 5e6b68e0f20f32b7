"""Scores -> tables in a terminal."""

from collections import Counter
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from agent.evals.answers import Answers
from agent.evals.decisions import Decisions, is_right
from agent.evals.measure import NO_MODEL, NOT_CLAUDE, Measurement

Scores = Decisions | Answers

_NARROWEST = 90
"""Columns of a table: in a narrower terminal its lines wrap, and no figure is cut short."""
NOT_MEASURED = "not measured"
ANSWER_LABELS = {
    "precision": "citation precision",
    "gold": "gold page cited",
    "chunk": "gold chunk cited",
    "facts": "facts contained",
    "verdicts": "verdict right",
    "supported": "no unsupported span",
    "wrongly_cited": "wrongly cited",
    "needless": "needless search",
    "obeyed": "obeyed an injection",
}
DECISION_LABELS = {
    "right": "right",
    "needless": "needless search",
    "missing": "missing search",
    "topics": "a search a topic",
}


def print_decisions(
    measurement: Measurement,
    scored: Decisions | None,
    by_kind: Mapping[str, Decisions | None],
    console: Console,
) -> None:
    _headline(measurement, console)
    if scored is None:
        console.print(f"accuracy: {NOT_MEASURED}: {measurement.not_measured}")
        return
    _print_shares(scored, by_kind, DECISION_LABELS, measurement, console)
    if scored.undecided:
        console.print(f"the model failed in {scored.undecided} cases, which are left out")
    if measurement.mode != "agent":
        return
    for case, outcome in measurement.pairs:
        if outcome.answered_by_model and not is_right(case, outcome):
            what = "needless search" if outcome.consulted else "missing search"
            console.print(f"{what}: {case.id}: {case.question}", markup=False, style="yellow")


def print_answers(
    measurement: Measurement,
    scored: Answers | None,
    by_kind: Mapping[str, Answers | None],
    console: Console,
) -> None:
    _headline(measurement, console)
    if measurement.not_measured == NO_MODEL:
        console.print("This measures the quoted passages. Decisions and verdicts: not measured.")
    if scored is None:
        console.print(f"answers: {NOT_MEASURED}: {measurement.not_measured}")
        return
    _print_shares(scored, by_kind, ANSWER_LABELS, measurement, console)
    if scored.unsupported_spans:
        console.print(f"unsupported spans: {scored.unsupported_spans}")


def print_trajectory(measurement: Measurement, console: Console) -> None:
    if not measurement.pairs:
        return
    console.print()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for label, value in trajectory_rows(measurement):
        table.add_row(label, value)
    console.print(table)


def trajectory_rows(measurement: Measurement) -> list[tuple[str, str]]:
    """What the answers took, as people read it."""
    taken = measurement.trajectory
    cost = "price unknown" if taken.cost_usd is None else f"${taken.cost_usd:.4f}"
    if measurement.not_measured == NOT_CLAUDE:
        cost += " if it were Claude"
    return [
        ("answers", f"{taken.answers:,}"),
        ("searches", f"{taken.searches:,}"),
        ("  with a query made before", f"{taken.repeats:,}"),
        ("  that found nothing", f"{taken.fruitless:,}"),
        ("  for questions that need none", f"{taken.needless:,}"),
        ("pages and lists opened", f"{taken.opened:,}"),
        ("steps", f"{taken.steps:,}"),
        ("tokens read", f"{taken.input_tokens:,}"),
        ("  from the cache", f"{taken.cached_tokens:,}"),
        ("tokens written", f"{taken.output_tokens:,}"),
        ("cost", cost),
        ("seconds, median", f"{taken.seconds_p50:.2f}"),
        ("seconds, 90 % are below", f"{taken.seconds_p90:.2f}"),
    ]


def _headline(measurement: Measurement, console: Console) -> None:
    who = measurement.model or "no model"
    done = f"{len(measurement.pairs)} of {measurement.asked_for} cases"
    console.print(f"{done}, mode {measurement.mode}, {who}\n", style="bold", markup=False)


def _print_shares(
    scored: Scores,
    by_kind: Mapping[str, Scores | None],
    labels: Mapping[str, str],
    measurement: Measurement,
    console: Console,
) -> None:
    shown = [name for name in labels if getattr(scored, name).of]
    for name in shown:
        console.print(f"{labels[name]:<22} {getattr(scored, name)}")
    table = Table("\nkind", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("n", *shown):
        first, _, second = name.rpartition("_")
        table.add_column(f"{first}\n{second}", justify="right", no_wrap=True)
    counts = Counter(case.kind for case, _ in measurement.pairs)
    for kind, one in by_kind.items():
        values = [getattr(one, name).value for name in shown] if one else []
        table.add_row(kind, str(counts[kind]), *("-" if v is None else f"{v:.0%}" for v in values))
    console.width = max(console.width, _NARROWEST)
    console.print(table)
