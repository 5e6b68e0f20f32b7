"""Failures of a model -> a pause in which no answer waits for it.

After failures in a row the breaker is open, and requests are refused at once. After the pause one
request at a time is let through as a probe: it closes the breaker, or makes the pause longer.
"""

import logging
import threading
from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from agent.errors import ModelUnavailable

log = logging.getLogger(__name__)

NOT_ANSWERING = "The model is not answering at the moment."

Outcome = Literal["answered", "failed", "unclear"]
"""The outcome of a request for the model's state; a refusal of one request is an answer, too."""


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    failures: int = 5
    """Failures in a row that open the breaker."""
    within: float = 120.0
    """Seconds within which these failures count."""
    first_pause: float = 5.0
    """Seconds until the first probe; each failed probe doubles them."""
    longest_pause: float = 60.0
    """Maximum number of seconds until the next probe."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The permission for one request."""

    period: int
    """Number of changes between open and closed before the request."""
    is_probe: bool


class Breaker:
    """Open or closed, for one model."""

    def __init__(self, model: str, limits: BreakerLimits = BreakerLimits()) -> None:
        self._model, self._limits = model, limits
        self._lock = threading.Lock()
        self._failed_at: deque[float] = deque(maxlen=limits.failures)
        self._pause = 0.0
        """Seconds of the present pause; 0 while the breaker is closed."""
        self._next_probe = 0.0
        self._is_probing = False
        self._period = 0

    def admit(self) -> Admission:
        """Admit a request, whose outcome is to be recorded. Raises ModelUnavailable if open."""
        with self._lock:
            if not self._pause:
                return Admission(self._period, is_probe=False)
            if self._is_probing or monotonic() < self._next_probe:
                raise ModelUnavailable(f"{self._model}: the breaker is open", NOT_ANSWERING)
            self._is_probing = True
            return Admission(self._period, is_probe=True)

    def record(self, admission: Admission, outcome: Outcome) -> None:
        """Record the outcome of a request."""
        with self._lock:
            is_present = admission.period == self._period
            if admission.is_probe and is_present:
                self._is_probing = False
            if outcome == "answered":
                self._failed_at.clear()
                if self._pause:
                    log.warning("%s answers again", self._model)
                    self._change(0.0)
            elif outcome == "failed" and is_present:
                self._fail(is_probe=admission.is_probe)

    def _fail(self, *, is_probe: bool) -> None:
        now, limits = monotonic(), self._limits
        if is_probe:
            self._pause = min(2 * self._pause, limits.longest_pause)
            self._next_probe = now + self._pause
        elif not self._pause:
            self._failed_at.append(now)
            is_full = len(self._failed_at) == limits.failures
            if is_full and now - self._failed_at[0] <= limits.within:
                log.warning(
                    "%s has failed %d times in a row: answers are passages until it answers again",
                    self._model,
                    limits.failures,
                )
                self._change(limits.first_pause)

    def _change(self, pause: float) -> None:
        self._pause, self._is_probing = pause, False
        self._next_probe = monotonic() + pause
        self._failed_at.clear()
        self._period += 1
