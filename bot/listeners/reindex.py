"""``/footnote reindex``: a person's order -> an ingest, or a line that says why there is none.

Orders are put together: at most one ingest waits, and a person gets one a minute.
"""

import threading
import time
from collections.abc import Callable

from cachetools import TTLCache

_SECONDS = 60.0
_MOST = 10_000

_ORDERED = "Reading the docs again. `/footnote status` shows more."
_WAITING = "I am about to read the docs again anyway. `/footnote status` shows more."
_TOO_OFTEN = (
    "You made me read the docs again less than a minute ago. `/footnote status` shows how far I am."
)


class Reindex:
    def __init__(self, refusal: Callable[[str], str | None], request: Callable[[], bool]) -> None:
        """``refusal`` says why a person may not order an ingest.

        ``request`` asks for an ingest, and returns False if one is waiting already.
        """
        self._refusal, self._request = refusal, request
        self._lock = threading.Lock()
        self._lately: TTLCache[str, bool] = TTLCache(_MOST, _SECONDS, timer=time.monotonic)

    def order(self, user: str) -> str:
        """Order an ingest for a person, and return a line for them."""
        if refusal := self._refusal(user):
            return refusal
        with self._lock:
            if user in self._lately:
                return _TOO_OFTEN
            if not self._request():
                return _WAITING
            self._lately[user] = True
        return _ORDERED
