"""Each request, booked for whoever caused it -> whether it may be made, by the daily limits.

The caller keeps the record of the bookings and supplies their sums, so that all processes share the
limits.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agent.model.cost import price_is_known
from agent.settings import AgentSettings

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 60.0
"""Seconds after a failure in which nothing is recorded, if no limit needs it."""
_NOT_RECORDED = "The cost of today's answers cannot be recorded, so the budget cannot be checked."


@dataclass(frozen=True, slots=True)
class Spent:
    """Dollars since midnight UTC."""

    by_all: float = 0.0
    by_asker: float = 0.0


@dataclass(frozen=True, slots=True)
class Booking:
    """The cost of one request: estimated when it is made, corrected by its usage."""

    id: str
    answer: str
    """Id of the answer that the request is made for."""
    payer: str
    """Id of the person who caused it: who asked, asked again or edited the question."""
    model: str
    usd: float | None
    """None if the price of the model is not known."""


class Spending(Protocol):
    """The record of all bookings. Every method may raise what its database fails with."""

    def spent(self, payer: str) -> Spent:
        """Return the dollars of today: of everybody, and of one person."""
        ...

    def book(self, booking: Booking) -> Spent:
        """Record a booking, and return the dollars of today without it."""
        ...

    def correct(self, booking_id: str, usd: float | None) -> None:
        """Replace the cost of a booking."""
        ...


class Budget:
    """The daily limits, for all people together and for each person."""

    def __init__(self, settings: AgentSettings, spending: Spending | None) -> None:
        self._of_all = settings.daily_usd
        self._of_payer = settings.daily_usd_per_user
        self._spending = spending
        self._is_limited = self._of_all is not None or self._of_payer is not None
        self._resumes = 0.0
        if self._is_limited:
            for model in filter(None, (settings.model, settings.fallback_model)):
                if not price_is_known(model):
                    log.warning("the price of %s is unknown: no limit counts its answers", model)

    def refusal(self, payer: str) -> str:
        """One line for people that says why no model may answer now, or empty."""
        if self._spending is None or not self._is_limited:
            return ""
        spending = self._spending
        return self._checked(lambda: spending.spent(payer))

    def book(self, booking: Booking) -> str:
        """Book a request that is about to be made. Return why it may not be made, or empty.

        Check and booking are one act, so requests at the same time cannot pass one limit together.
        """
        if self._spending is None or not (self._is_limited or time.monotonic() > self._resumes):
            return ""
        spending = self._spending
        refusal = self._checked(lambda: spending.book(booking))
        if refusal:
            self.correct(booking.id, 0.0)
        return refusal if self._is_limited else ""

    def correct(self, booking_id: str, usd: float | None) -> None:
        """Replace an estimated cost by the known one. If that fails, the estimate stays."""
        if self._spending is None or not (self._is_limited or time.monotonic() > self._resumes):
            return
        try:
            self._spending.correct(booking_id, usd)
        except Exception as error:  # noqa: BLE001  # any failure of the caller: the estimate stays
            self._pause(error)

    def _checked(self, sums: Callable[[], Spent]) -> str:
        try:
            spent = sums()
        except Exception as error:  # noqa: BLE001  # a limit that cannot be checked still holds
            self._pause(error)
            return _NOT_RECORDED
        if self._of_all is not None and spent.by_all >= self._of_all:
            return "Today's budget for the model is used up; a new day begins at 00:00 UTC."
        if self._of_payer is not None and spent.by_asker >= self._of_payer:
            return "Your budget for the model is used up for today; a new day begins at 00:00 UTC."
        return ""

    def _pause(self, error: Exception) -> None:
        """Log a failure of the record, once in a while."""
        now = time.monotonic()
        if now > self._resumes:
            log.warning("the cost of answers cannot be recorded: %s", error)
            self._resumes = now + _PAUSE_SECONDS
