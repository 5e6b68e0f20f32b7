"""What was done and what came of it -> rows of figures with their limits, one JSON line each."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.ledger import Count

NEVER = ("lost", "doubled", "crossed", "half", "stuck")
"""Figures of a ledger whose limit is always 0."""


@dataclass(frozen=True)
class Row:
    """One thing that was done to the system."""

    item: str
    done: str
    figures: dict[str, Any] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    """Figures that have an upper limit."""
    least: dict[str, float] = field(default_factory=dict)
    """Figures that have a lower limit."""
    skipped: str = ""
    """Reason why it could not be tried here."""
    at: str = ""
    machine: str = ""
    seed: int = 0
    quick: bool = False

    @property
    def faults(self) -> list[str]:
        """Return every figure beyond its limit. A figure of None was never reached."""
        over = [
            f"{name} {self.figures.get(name)}, at most {limit:g}"
            for name, limit in self.most.items()
            if (value := self.figures.get(name)) is None or value > limit
        ]
        under = [
            f"{name} {self.figures.get(name)}, at least {limit:g}"
            for name, limit in self.least.items()
            if (value := self.figures.get(name)) is None or value < limit
        ]
        return over + under

    def to_json(self) -> str:
        return json.dumps(vars(self), ensure_ascii=False, default=str)


def row_of(
    item: str,
    done: str,
    count: Count | None,
    most: Mapping[str, float],
    least: Mapping[str, float],
    figures: Mapping[str, Any],
) -> Row:
    """Return a row; what a ledger counts has to be 0, and its replies' lines are kept."""
    if count is None:
        return Row(item, done, dict(figures), dict(most), dict(least))
    lines = [line for line, _ in count.lines.most_common(4)]
    counted = count.figures() | dict(figures) | ({"lines": lines} if lines else {})
    return Row(item, done, counted, dict.fromkeys(NEVER, 0.0) | dict(most), dict(least))


def read_rows(file: Path) -> list[Row]:
    """Return the rows of a file, the newest one of each thing that was done."""
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = (Row(**json.loads(line)) for line in lines if line.strip())
    return list({(row.item, row.done): row for row in rows}.values())
