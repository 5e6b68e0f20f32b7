"""Failures ordered by a test or a person: the next calls of a method fail or stall."""

from dataclasses import dataclass


@dataclass
class Failure:
    method: str
    """A method's name, or ``*`` for any."""
    error: str | None = None
    status: int | None = None
    retry_after: int | None = None
    delay: float = 0.0
    times: int = 1
    """Number of calls that fail; 0 means all calls until the next reset."""


class Failures:
    def __init__(self) -> None:
        self._ordered: list[Failure] = []

    def order(self, failure: Failure) -> None:
        self._ordered.append(failure)

    def clear(self) -> None:
        self._ordered.clear()

    def next(self, method: str) -> Failure | None:
        for failure in self._ordered:
            if failure.method in (method, "*"):
                if failure.times:
                    failure.times -= 1
                    if not failure.times:
                        self._ordered.remove(failure)
                return failure
        return None
