"""Scores -> tables in a terminal."""

from collections import Counter

from agent.evals.evals import EvalResult, Scores
from agent.evals.measure import NO_MODEL, NOT_CLAUDE, Measurement
from ingest.evaluate.result_tables import print_table
from ingest.terminal import VisibleConsole

_NARROWEST = 90
"""Width of the table in a narrow terminal: its lines wrap, and every figure stays complete."""
NOT_MEASURED = "not measured"


def print_result(result: EvalResult, console: VisibleConsole) -> None:
    measurement, scores = result.measurement, result.scores
    model = measurement.model or "no model"
    done = f"{len(measurement.pairs)} of {measurement.total} cases"
    console.print(f"{done}, mode {measurement.mode}, {model}\n", style="bold", markup=False)
    if scores is None:
        why = measurement.not_measured
        console.print(f"{result.eval.measured}: {NOT_MEASURED}: {why}", markup=False)
    else:
        if measurement.not_measured == NO_MODEL:
            console.print(
                "This measures the quoted passages. Decisions and verdicts: not measured."
            )
        _print_scores(result, scores, console)
        for line in result.eval.remarks(measurement, scores):
            console.print(line, markup=False, style="yellow")
    if measurement.pairs:
        _print_trajectory(measurement, console)


def trajectory_rows(measurement: Measurement) -> list[tuple[str, str]]:
    """Label and value of each figure about searches, tokens, cost and time."""
    taken = measurement.trajectory
    cost = "price unknown" if taken.cost_usd is None else f"${taken.cost_usd:.4f}"
    if measurement.not_measured == NOT_CLAUDE:
        cost += " if it were Claude"
    return [
        ("answers", f"{taken.answers:,}"),
        ("searches", f"{taken.searches:,}"),
        ("  with a repeated query", f"{taken.repeats:,}"),
        ("  that found nothing", f"{taken.fruitless:,}"),
        ("  for questions that need none", f"{taken.needless:,}"),
        ("pages and lists opened", f"{taken.opened:,}"),
        ("steps", f"{taken.steps:,}"),
        ("tokens read", f"{taken.input_tokens:,}"),
        ("  from the cache", f"{taken.cached_tokens:,}"),
        ("tokens written", f"{taken.output_tokens:,}"),
        ("cost", cost),
        ("seconds, median", f"{taken.seconds_p50:.2f}"),
        ("seconds, 90th percentile", f"{taken.seconds_p90:.2f}"),
    ]


def _print_trajectory(measurement: Measurement, console: VisibleConsole) -> None:
    console.print()
    print_table(console, None, trajectory_rows(measurement))


def _print_scores(result: EvalResult, scores: Scores, console: VisibleConsole) -> None:
    labels = result.eval.labels
    columns = [name for name in labels if getattr(scores, name).of]
    for name in columns:
        console.print(f"{labels[name]:<22} {getattr(scores, name)}")
    counts = Counter(case.kind for case, _ in result.measurement.pairs)
    rows = []
    for kind, one in result.by_kind.items():
        values = [getattr(one, name).value for name in columns] if one else []
        percent = ("-" if value is None else f"{value:.0%}" for value in values)
        rows.append((kind, str(counts[kind]), *percent))
    # A head has two lines, the last word of the name in the second.
    heads = ["\n".join(name.rpartition("_")[::2]) for name in ("n", *columns)]
    console.width = max(console.width, _NARROWEST)
    print_table(console, ["\nkind", *heads], rows, gap=1)
