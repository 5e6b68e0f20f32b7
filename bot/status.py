"""The line under a thread while Footnote works: what is really happening, and always cleared.

Best effort by design: Slack drops a status after two minutes, refuses it in some places and on some
plans, and limits its rate. None of that may delay or fail an answer, so it has its own thread.
"""

import logging
import threading
from typing import TYPE_CHECKING

from slack_sdk import WebClient

from bot.clients import SLACK_FAILED, slack_error

if TYPE_CHECKING:
    from agent.loop import Progress

log = logging.getLogger(__name__)

REFRESH_SECONDS = 90.0
PAUSE_SECONDS = 1.0
_SHORT = 60


class Status:
    """Shows lines until it is closed, refreshes the last one, and clears it then."""

    def __init__(self, client: WebClient, channel: str, thread_ts: str, line: str) -> None:
        self._client = client
        self._channel, self._thread_ts = channel, thread_ts
        self._changed = threading.Condition()
        self._wanted = line
        self._closing = False
        self._refused = False
        threading.Thread(target=self._keep, name="status", daemon=True).start()

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()

    def show(self, line: str) -> None:
        with self._changed:
            self._wanted = line
            self._changed.notify()

    def progress(self, progress: "Progress") -> None:
        """What the agent does now, as a line."""
        detail = " ".join(progress.detail.split())
        detail = detail if len(detail) <= _SHORT else detail[: _SHORT - 1] + "…"
        lines = {
            "thinking": "is thinking…",
            "searching": f"is searching “{detail}”…",
            "reading": f"is reading {detail}…",
            "writing": "is writing the answer…",
        }
        self.show(lines[progress.kind])

    def _keep(self) -> None:
        shown = ""
        while (line := self._next(shown)) is not None:
            self._set(line)
            shown = line
        if shown:
            self._set("")

    def _next(self, shown: str) -> str | None:
        """The line to show next, after a change or when the last one is about to expire."""
        with self._changed:
            if shown:  # more than one change a second helps nobody
                self._changed.wait_for(lambda: self._closing, PAUSE_SECONDS)
            self._changed.wait_for(lambda: self._closing or self._wanted != shown, REFRESH_SECONDS)
            return None if self._closing else self._wanted

    def _set(self, line: str) -> None:
        if self._refused:
            return
        try:
            self._client.assistant_threads_setStatus(
                channel_id=self._channel, thread_ts=self._thread_ts, status=line
            )
        except SLACK_FAILED as error:
            log.debug("status refused: %s", slack_error(error))
            self._refused = slack_error(error) not in ("ratelimited", "TimeoutError")
