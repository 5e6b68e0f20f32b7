"""Threads that Footnote has no part in, remembered for a while.

Most replies in a busy channel are none of its business: reading each thread again for each of them
would use up Slack's rate limit. A mention, here or noted by another replica, ends it.
"""

import threading
import time
from collections import OrderedDict

from bot.question.event import Question

_SECONDS = 600.0
_MOST = 20_000


class ForeignThreads:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: OrderedDict[tuple[str, str], float] = OrderedDict()

    def add(self, question: Question) -> None:
        """Footnote has no part in this question's thread."""
        with self._lock:
            self._until[question.channel, question.thread_ts] = time.monotonic() + _SECONDS
            while len(self._until) > _MOST:
                self._until.popitem(last=False)

    def covers(self, question: Question) -> bool:
        """True for a reply that need not be looked at; a mention ends what was remembered."""
        thread = (question.channel, question.thread_ts)
        with self._lock:
            if question.is_called:
                self._until.pop(thread, None)
                return False
            return self._until.get(thread, 0.0) > time.monotonic()
