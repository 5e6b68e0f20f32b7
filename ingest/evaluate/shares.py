"""Hits out of a number of tries -> a share."""

from collections.abc import Iterable

from pydantic import model_serializer
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` out of ``of``; it has no value where nothing was tried."""

    hits: int | float = 0
    of: int = 0

    @property
    def value(self) -> float | None:
        return self.hits / self.of if self.of else None

    @model_serializer
    def _json(self) -> dict[str, int | float | None]:
        value = self.value
        share = None if value is None else round(value, 4)
        return {"share": share, "hits": round(self.hits, 2), "of": self.of}

    def __str__(self) -> str:
        value = self.value
        return "-" if value is None else f"{value:.0%} ({self.hits:g} of {self.of})"


def share(flags: Iterable[bool | float]) -> Share:
    values = list(flags)
    return Share(sum(values), len(values))
