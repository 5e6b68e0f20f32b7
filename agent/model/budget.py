"""Dollars spent today -> whether a model may still answer.

The caller keeps the record of answers and supplies the sums. A limit is checked before an answer
begins; answers that have begun are finished.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from agent.model.cost import price_is_known
from agent.settings import AgentSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spent:
    """Dollars since midnight UTC."""

    by_all: float = 0.0
    by_asker: float = 0.0


Spending = Callable[[str], Spent]
"""Returns the dollars of today, given the asker's id."""


class Budget:
    """The daily limits, for all people together and for each person."""

    def __init__(self, settings: AgentSettings, spending: Spending | None) -> None:
        self._of_all = settings.daily_usd
        self._of_asker = settings.daily_usd_per_user
        limited = self._of_all is not None or self._of_asker is not None
        self._spending = spending if limited else None
        if limited:
            for model in filter(None, (settings.model, settings.fallback_model)):
                if not price_is_known(model):
                    log.warning("the price of %s is unknown: no limit counts its answers", model)

    def refusal(self, asker: str) -> str:
        """One line for people that says why no model may answer now, or empty."""
        if self._spending is None:
            return ""
        try:
            spent = self._spending(asker)
        except Exception:  # any failure of the caller: a limit that cannot be checked still holds
            log.exception("the cost of today's answers cannot be read")
            return "The cost of today's answers cannot be read, so the budget cannot be checked."
        if self._of_all is not None and spent.by_all >= self._of_all:
            return "Today's budget for the model is used up; a new day begins at 00:00 UTC."
        if self._of_asker is not None and spent.by_asker >= self._of_asker:
            return "Your budget for the model is used up for today; a new day begins at 00:00 UTC."
        return ""
