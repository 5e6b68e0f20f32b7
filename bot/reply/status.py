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

from bot.question.event import Key
from bot.slack.clients import SLACK_FAILED, UNAVAILABLE, is_passing, may_heal, slack_error
from ingest.errors import FootnoteError
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
Outcome = Literal["done", "failed", "later", "refused"]
"""A call: done, failed for a moment, refused for now, or refused for good."""
_SESSION = "agents.sessions.setStatus"


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


class SessionMarks(Protocol):
    """The record of agent sessions that still have to end."""

    def mark(self, key: Key, state: str | None) -> None:
        """Record the state that a session is in or has to get; None once it is over."""


class Statuses:
    """Opens statuses. A method that the workspace has refused is not called again."""

    def __init__(self, client: WebClient, marks: SessionMarks) -> None:
        self._client, self._marks = client, marks
        self._refused: set[str] = set()
        self._open: set[ThreadStatus] = set()
        self._lock = threading.Lock()

    def open(self, key: Key, thread_ts: str, line: str) -> "ThreadStatus":
        status = ThreadStatus(self, key, thread_ts, line)
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
        outcome = self._try(
            "assistant.threads.setStatus",
            lambda: self._client.assistant_threads_setStatus(
                channel_id=channel, thread_ts=thread_ts, status=line
            ),
        )
        return outcome in ("done", "failed")

    def session(self, channel: str, thread_ts: str, state: Session) -> Outcome:
        """Set the agent session's state."""
        return self._try(
            _SESSION,
            lambda: self._client.agents_sessions_setStatus(
                channel_id=channel, thread_ts=thread_ts, status=state
            ),
        )

    def begin_session(self, key: Key, thread_ts: str) -> bool:
        """Begin the agent session of a question. Return False if Slack refuses it."""
        if _SESSION in self._refused:
            return False
        self._mark(key, "processing")  # before the call: the process may end right after it
        if self.session(key.channel, thread_ts, "processing") in ("done", "failed"):
            return True
        self._mark(key, None)
        return False

    def end_session(self, key: Key, thread_ts: str, state: Session) -> None:
        """End the agent session of a question; while Slack fails, its mark stays."""
        is_left = self.session(key.channel, thread_ts, state) in ("failed", "later")
        self._mark(key, state if is_left else None)

    def is_open(self, key: Key) -> bool:
        """Return True while a status of this question is shown here."""
        with self._lock:
            return any(status.key == key and status.is_shown for status in self._open)

    def _mark(self, key: Key, state: Session | None) -> None:
        try:
            self._marks.mark(key, state)
        except FootnoteError as error:
            log.debug("a session is not marked: %s", error)

    def _try(self, method: str, call: Callable[[], object]) -> Outcome:
        if method in self._refused:
            return "refused"
        try:
            call()
        except SLACK_FAILED as error:
            code = slack_error(error)
            log.debug("%s refused: %s", method, code)
            if code in UNAVAILABLE:
                self._refused.add(method)
            if is_passing(error):
                return "failed"
            return "later" if may_heal(error) else "refused"
        return "done"


class ThreadStatus:
    """The line under a thread: shown and refreshed until it is closed."""

    def __init__(self, statuses: Statuses, key: Key, thread_ts: str, line: str) -> None:
        self._statuses = statuses
        self.key, self._thread_ts = key, thread_ts
        self._place = (key.channel, thread_ts)
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
        in_session = self._statuses.begin_session(self.key, self._thread_ts)
        current, is_accepted = "", True
        while (line := self._next(current)) is not None:
            if is_accepted and (line or current):
                is_accepted = self._statuses.line(*self._place, line)
            current = line
        if current and is_accepted:
            self._statuses.line(*self._place, "")
        if in_session:
            self._statuses.end_session(self.key, self._thread_ts, self.end_state)

    def _next(self, current: str) -> str | None:
        """Wait for the next line: a new one, or the last one before it expires. None at the end."""
        with self._changed:
            if current:
                self._changed.wait_for(lambda: self._closing, PAUSE_SECONDS)
            self._changed.wait_for(
                lambda: self._closing or self._wanted != current, REFRESH_SECONDS
            )
            return None if self._closing else self._wanted
