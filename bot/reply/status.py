"""The line under a thread that tells what Footnote is doing; always cleared at the end.

An agent session brings Slack's Stop button, and the thread's status can say more. Both are best
effort: Slack drops a status after two minutes, refuses it in some places and on some plans, and
limits its rate. None of that may delay or fail an answer, so each status has its own thread.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

from slack_sdk import WebClient

from bot.slack.clients import SLACK_FAILED, UNAVAILABLE, is_passing, slack_error
from ingest.shorten import shorten_end

if TYPE_CHECKING:
    from agent.trace import Progress

log = logging.getLogger(__name__)

REFRESH_SECONDS = 90.0
"""Seconds between refreshes of a status, which Slack drops after two minutes."""
PAUSE_SECONDS = 1.0
"""Minimum number of seconds between two changes of a status."""
_SHORT = 60
"""Maximum number of characters of a detail."""

Session = Literal["processing", "active", "closed"]


class Status(Protocol):
    """The line for one answer under way."""

    end_state: Session
    """State of the agent session at the end: ``closed`` if Footnote was told to stop."""

    def show(self, line: str) -> None:
        """Show a line; an empty one hides it."""

    def progress(self, progress: "Progress") -> None:
        """Show what the agent is doing."""

    def close(self) -> None:
        """Clear the line."""


class NoStatus:
    """The status of an answer that only its asker sees: it shows nothing."""

    end_state: Session = "active"

    def show(self, line: str) -> None: ...

    def progress(self, progress: "Progress") -> None: ...

    def close(self) -> None: ...


class Statuses:
    """Opens statuses. A method that the workspace has refused is not called again."""

    def __init__(self, client: WebClient) -> None:
        self._client = client
        self._refused: set[str] = set()
        self._open: set[ThreadStatus] = set()
        self._lock = threading.Lock()

    def open(self, channel: str, thread_ts: str, line: str) -> "ThreadStatus":
        status = ThreadStatus(self, channel, thread_ts, line)
        with self._lock:
            self._open = {status, *(each for each in self._open if each.is_shown)}
        return status

    def wait_until_cleared(self, seconds: float) -> None:
        """Wait until closed statuses are cleared, before the process ends."""
        until = time.monotonic() + seconds
        for status in self._open:
            status.join(until - time.monotonic())

    def clear(self, channel: str, thread_ts: str) -> None:
        """Clear what a dead process may have left under a thread."""
        self.line(channel, thread_ts, "")
        self.session(channel, thread_ts, "active")

    def line(self, channel: str, thread_ts: str, line: str) -> bool:
        """Set the thread's status. Return False if Slack refuses it."""
        return self._try(
            "assistant.threads.setStatus",
            lambda: self._client.assistant_threads_setStatus(
                channel_id=channel, thread_ts=thread_ts, status=line
            ),
        )

    def session(self, channel: str, thread_ts: str, state: Session) -> bool:
        """Set the agent session's state. Return False if Slack refuses it."""
        return self._try(
            "agents.sessions.setStatus",
            lambda: self._client.agents_sessions_setStatus(
                channel_id=channel, thread_ts=thread_ts, status=state
            ),
        )

    def _try(self, method: str, call: Callable[[], object]) -> bool:
        if method in self._refused:
            return False
        try:
            call()
        except SLACK_FAILED as error:
            code = slack_error(error)
            log.debug("%s refused: %s", method, code)
            if code in UNAVAILABLE:
                self._refused.add(method)
            return is_passing(error)
        return True


class ThreadStatus:
    """The line under a thread: shown and refreshed until it is closed."""

    def __init__(self, statuses: Statuses, channel: str, thread_ts: str, line: str) -> None:
        self._statuses = statuses
        self._place = (channel, thread_ts)
        self._changed = threading.Condition()
        self._wanted = line
        self._closing = False
        self.end_state: Session = "active"
        self._thread = threading.Thread(target=self._keep, name="status", daemon=True)
        self._thread.start()

    @property
    def is_shown(self) -> bool:
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        self._thread.join(max(0.0, seconds))

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()

    def show(self, line: str) -> None:
        with self._changed:
            self._wanted = line
            self._changed.notify()

    def progress(self, progress: "Progress") -> None:
        detail = shorten_end(" ".join(progress.detail.split()), _SHORT)
        lines = {
            "thinking": "is thinking…",
            "searching": f"is searching “{detail}”…",
            "reading": f"is reading {detail}…",
            "writing": "is writing the answer…",
        }
        self.show(lines[progress.kind])

    def _keep(self) -> None:
        in_session = self._statuses.session(*self._place, "processing")
        current, is_accepted = "", True
        while (line := self._next(current)) is not None:
            if is_accepted and (line or current):
                is_accepted = self._statuses.line(*self._place, line)
            current = line
        if current and is_accepted:
            self._statuses.line(*self._place, "")
        if in_session:
            self._statuses.session(*self._place, self.end_state)

    def _next(self, current: str) -> str | None:
        """Wait for the next line: a new one, or the last one before it expires. None at the end."""
        with self._changed:
            if current:
                self._changed.wait_for(lambda: self._closing, PAUSE_SECONDS)
            self._changed.wait_for(
                lambda: self._closing or self._wanted != current, REFRESH_SECONDS
            )
            return None if self._closing else self._wanted
