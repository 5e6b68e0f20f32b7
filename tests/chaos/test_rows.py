"""A row of the chaos harness fails beyond a limit, and the report says so."""

import pytest

from tests.chaos.__main__ import load_items
from tests.chaos.ledger import Count
from tests.chaos.report import report_of
from tests.chaos.rows import Row, row_of


@pytest.fixture(autouse=True, scope="module")
def _items() -> None:
    load_items()


def test_a_ledger_may_lose_nothing() -> None:
    held = row_of("kills", "killed", Count(asked=2, answered=2), {}, {}, {})
    lost = row_of("kills", "killed", Count(asked=2, answered=1, lost=1), {}, {}, {})
    assert held.faults == []
    assert lost.faults == ["lost 1, at most 0"]


@pytest.mark.parametrize(("seconds", "faults"), [(15.0, 0), (15.1, 1), (None, 1)])
def test_a_figure_fails_beyond_its_limit_and_where_it_was_never_reached(
    seconds: float | None, faults: int
) -> None:
    row = row_of("kills", "killed", None, {"recovery_s": 15}, {}, {"recovery_s": seconds})
    assert len(row.faults) == faults


def test_too_little_fails_as_well() -> None:
    assert row_of("threads", "50", None, {}, {"share": 0.85}, {"share": 0.5}).faults != []


def test_the_report_tells_what_held_what_did_not_and_what_was_not_tried() -> None:
    rows = [
        row_of(
            "kills",
            "killed",
            Count(asked=9, answered=9),
            {"recovery_max_s": 15},
            {},
            {"recovery_max_s": 16.5},
        ),
        row_of("ends", "ended", Count(asked=4, answered=3, lost=1), {}, {}, {}),
        Row("read-only", "a disk", skipped="needs root"),
    ]
    report = report_of(rows)
    assert "13 questions: 1 lost, 0 doubled" in report
    kills, ends = (
        line for line in report.splitlines() if "| killed |" in line or "| ended |" in line
    )
    assert "asked 9, answered 9" in kills
    assert "**recovery max 16.5 s** (at most 15)" in kills
    assert kills.endswith("0 lost, doubled, crossed, half, stuck | **no** |")
    assert "**lost 1** (at most 0)" in ends
    assert "| a disk | not tried: needs root |" in report
