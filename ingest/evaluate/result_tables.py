"""Results of an eval -> tables in a terminal."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rich.table import Table
from rich.text import Text

from ingest.evaluate.calibrate import Calibration
from ingest.evaluate.evaluate import Evaluation
from ingest.evaluate.scoring import METRICS, Mark, averages, compare
from ingest.terminal import VisibleConsole


def print_table(
    console: VisibleConsole, head: Sequence[str] | None, rows: Sequence[Sequence[str]], gap: int = 2
) -> None:
    """Print a table without lines, its first column at the left, the others at the right.

    A ``head`` of None leaves out the names of the columns; ``gap`` is the space between columns.
    """
    names = head or [""] * max(map(len, rows), default=0)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, show_header=head is not None)
    for number, name in enumerate(names):
        table.add_column(name, justify="right" if number else "left", no_wrap=bool(number))
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def print_evaluation(evaluation: Evaluation, console: VisibleConsole) -> None:
    kinds = (*evaluation.marks_by_kind().items(), ("overall", evaluation.marks))
    print_table(
        console,
        ("kind", "n", *METRICS, "p50 ms", "p95 ms"),
        [(kind, str(len(marks)), *_figures(marks)) for kind, marks in kinds],
    )
    weak = evaluation.weak_shares()
    with_answer, without = weak["answerable"], weak["no_answer"]
    console.print(
        f"called weak: {with_answer.value or 0.0:.1%} of {with_answer.of} with an answer, "
        f"{without.value or 0.0:.1%} of {without.of} without"
    )


def _figures(marks: Sequence[Mark]) -> Iterable[str]:
    means = averages(marks)
    yield from (f"{means[name]:.3f}" for name in METRICS)
    yield from (f"{means[name]:.0f}" for name in ("p50_ms", "p95_ms"))


def print_comparison(
    before: Evaluation, after: Evaluation, label: str, console: VisibleConsole
) -> None:
    console.print(
        f"\nwith {label}, question by question (95 % interval of the mean):", markup=False
    )
    rows = [
        (
            change.metric,
            str(change.better),
            str(change.worse),
            f"{change.mean:+.3f}",
            f"{change.low:+.3f}",
            f"{change.high:+.3f}",
            "holds" if change.holds else "",
        )
        for change in compare(before.marks, after.marks)
    ]
    print_table(console, ("metric", "better", "worse", "mean", "from", "to", ""), rows)
    p50 = [f"{averages(marks)['p50_ms']:.0f}" for marks in (before.marks, after.marks)]
    console.print(f"p50 {p50[0]} ms -> {p50[1]} ms")


def print_calibration(calibration: Calibration, console: VisibleConsole) -> None:
    rows = []
    for low, high in pairwise(step / 10 for step in range(11)):
        counts = (
            sum(low <= value < high or value == high == 1.0 for value in values)
            for values in (calibration.answerable, calibration.unanswerable)
        )
        rows.append((f"{low:.1f}-{high:.1f}", *map(str, counts)))
    print_table(console, ("confidence", "with an answer", "without"), rows)
    for label, (wrong, right) in (
        ("on these questions", calibration.rates()),
        ("on questions it was not chosen on", calibration.unseen_rates()),
    ):
        console.print(
            f"weak below {calibration.threshold:.3f}, {label}: {wrong:.1%} of the "
            f"{len(calibration.answerable)} with an answer, {right:.1%} of the "
            f"{len(calibration.unanswerable)} without",
            soft_wrap=True,
        )
