"""Hits of so many -> a share, which is nothing where there was nothing to hit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    hits: float = 0
    of: int = 0

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None

    def to_json(self) -> dict[str, Any]:
        value = self.value
        return {
            "share": None if value is None else round(value, 4),
            "hits": round(self.hits, 2),
            "of": self.of,
        }

    def __str__(self) -> str:
        value = self.value
        return "-" if value is None else f"{value:.0%} ({self.hits:g} of {self.of})"


def share(flags: Iterable[bool | float]) -> Share:
    given = list(flags)
    return Share(sum(given), len(given))
