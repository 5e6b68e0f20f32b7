"""Answers under way: queued, kept alive, reworded or called off, and ended in order.

An answer gets its place on the bounded pool and its status, which is always cleared. If Slack does
not accept an answer, it waits here and keeps its claim. A restart releases the claim, and the next
process makes the answer again, since the text of an answer is not stored.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.answering.deliver import Delivery
from bot.answering.outbox import Outbox, Retries
from bot.answering.unsent import UnsentAnswer
from bot.answering.workers import Job, Workers
from bot.journal.claims import Journal
from bot.question.event import Key, Question
from bot.question.thread_message import ThreadMessage
from bot.reply.outgoing import ReplyPlace
from bot.reply.status import NoStatus, Session, Status, Statuses
from bot.reply.wording import RESTARTING, THINKING, waiting
from bot.slack.pace import LIMITED

log = logging.getLogger(__name__)

_CLEARED_WITHIN = 2.0
"""Seconds that a process waits at its end until its statuses are cleared."""


@dataclass
class _PendingAnswer:
    """An answer under way, and how to call it off."""

    reply: ReplyPlace
    thread: Sequence[ThreadMessage]
    status: Status
    cancel: threading.Event = field(default_factory=threading.Event)
    revised: ReplyPlace | None = None
    """The reply to the edited question, which replaces this one."""
    too_late: Callable[[], None] | None = None
    """Called if the answer is posted before it is revised."""
    unsent: UnsentAnswer | None = None
    """The answer, from when it is made until Slack has accepted it."""
    waiting_since: float = 0.0
    """Monotonic time at which Slack first did not accept the answer."""
    is_late: bool = False
    """True if the answer has waited too long, so that a line replaces it."""
    asked_at: float = field(default_factory=time.monotonic)
    """Monotonic time at which the question came, or was edited."""
    has_begun: bool = False
    """True if the answer no longer waits for a worker."""

    @property
    def key(self) -> Key:
        return self.reply.question.key


class AnswerQueue:
    def __init__(
        self,
        journal: Journal,
        delivery: Delivery,
        statuses: Statuses,
        workers: Workers,
        retries: Retries,
    ) -> None:
        self._journal, self._delivery = journal, delivery
        self._statuses, self._workers = statuses, workers
        self._outbox, self._retries = Outbox(workers, delivery.clients.pace), retries
        self._lock = threading.Lock()
        self._pending: dict[Key, _PendingAnswer] = {}

    @property
    def idle(self) -> bool:
        """True if no answer is made or waits for a worker; answers may still wait for Slack."""
        return self._workers.idle

    def add(self, reply: ReplyPlace, thread: Sequence[ThreadMessage]) -> bool:
        """Queue the answer to a claimed question. Return False if the queue is full.

        If the process is ending, release the claim instead.
        """
        question = reply.question
        pending = _PendingAnswer(reply, thread, self._open_status(question))
        with self._lock:
            self._pending[pending.key] = pending

        def moved(ahead: int) -> None:
            if not pending.has_begun:
                pending.status.show(waiting(ahead))

        if self._workers.submit(functools.partial(self._work, pending), question.channel, moved):
            return True
        with self._lock:
            del self._pending[pending.key]
        pending.status.close()
        if self._workers.is_closed:
            self._journal.release(pending.key)
            self._tell_restarting([pending.reply])
            return True  # the next process answers it
        return False

    def reword(self, reply: ReplyPlace, too_late: Callable[[], None]) -> None:
        """Answer the edited question of ``reply`` instead of its earlier version.

        ``too_late`` is called, now or later, if the earlier answer has been posted.
        """
        with self._lock:
            pending = self._pending.get(reply.question.key)
            if pending is not None:
                pending.revised, pending.too_late = reply, too_late
                self._cancel(pending)
        if pending is None:
            too_late()

    def later(self, key: Key, job: Job, seconds: float) -> None:
        """Run a job for a noted question when Slack accepts its calls, if the process still runs.

        Nobody waits for a listener that sleeps.
        """
        self._outbox.put(key, job, seconds, time.monotonic())

    def call_off(self, key: Key, session: Session = "active") -> Question | None:
        """Stop making an answer. Return its question, or None if it is not under way here.

        ``session`` is the state in which the agent session ends.
        """
        with self._lock:
            pending = self._pending.get(key)
        if pending is None:
            return None
        pending.status.end_state = session
        self._cancel(pending)
        return pending.reply.question

    def renew(self) -> None:
        """Renew the claims of the answers under way, before their leases run out."""
        with self._lock:
            keys = list(self._pending)
        self._journal.renew(keys)

    def drain(self, seconds: float) -> None:
        """Finish the answers under way, and leave the others to the next process."""
        self._outbox.close()
        is_done = self._workers.drain(seconds)
        self._leave()
        if not is_done:
            self._workers.drain(2.0)
        self._statuses.wait_until_cleared(_CLEARED_WITHIN)

    def _open_status(self, question: Question) -> Status:
        if question.is_command:
            return NoStatus()
        ahead = self._workers.ahead(question.channel)
        line = waiting(ahead) if ahead else THINKING
        return self._statuses.open(question.key, question.thread_ts, line)

    def _leave(self) -> None:
        with self._lock:
            unfinished = list(self._pending.values())
        for pending in unfinished:
            self._journal.release(pending.key)
            pending.cancel.set()
            pending.status.close()
        self._tell_restarting([pending.reply for pending in unfinished])
        if unfinished:
            log.warning("%d answers are left for the next start", len(unfinished))

    def _tell_restarting(self, replies: Sequence[ReplyPlace]) -> None:
        """Tell the askers whom the next process cannot answer; all at once, since Slack may hang.

        It does not have the words of private questions, nor what is in this process's memory.
        """
        until = time.monotonic() + _CLEARED_WITHIN
        threads = [
            threading.Thread(target=self._tell_lost, args=(reply,), daemon=True)
            for reply in replies
            if reply.question.is_command or self._journal.is_away
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _tell_lost(self, reply: ReplyPlace) -> None:
        if reply.whisper(RESTARTING):
            self._journal.finish(reply.question.key, "failed", reason="restarted")

    def _cancel(self, pending: _PendingAnswer) -> None:
        pending.cancel.set()
        self._outbox.hurry(pending.key)

    def _work(self, pending: _PendingAnswer) -> None:
        """Make and post one answer, until Slack accepts it or it has to wait."""
        pending.has_begun = True
        is_waiting = False
        try:
            while self._delivery.is_wanted(pending.key):
                self._advance(pending)
                with self._lock:
                    if pending.revised is None:
                        is_waiting = pending.unsent is not None
                        if not is_waiting:  # from here on an edit comes too late
                            self._forget(pending)
                        return
                    pending.reply, pending.revised = pending.revised, None
                    pending.cancel.clear()
                    pending.waiting_since, pending.is_late = 0.0, False
                    pending.asked_at = time.monotonic()
            if pending.unsent:
                pending.unsent.call_off()
        finally:
            if is_waiting:
                self._wait(pending)
            else:
                with self._lock:
                    self._forget(pending)
                pending.status.close()
        if pending.too_late:
            pending.too_late()

    def _advance(self, pending: _PendingAnswer) -> None:
        """Make the answer, or go on with one that waits for Slack."""
        if pending.unsent is None:
            pending.unsent = self._delivery.deliver(
                pending.reply, pending.thread, pending.status, pending.cancel, pending.asked_at
            )
        else:
            self._send_again(pending, pending.unsent)
        if pending.unsent is None or pending.unsent.state == "waiting":
            return
        if pending.unsent.state == "accepted":
            self._outbox.hurry_all()  # Slack accepts answers, and may accept the others, too
        pending.unsent = None

    def _send_again(self, pending: _PendingAnswer, unsent: UnsentAnswer) -> None:
        age = time.monotonic() - pending.waiting_since
        if pending.cancel.is_set():
            unsent.call_off()
        elif age > self._retries.line:
            unsent.give_up()
        elif age > self._retries.answer and not pending.is_late:
            pending.is_late = True
            unsent.apologise(pending.status)
        else:
            unsent.post(pending.status)

    def _wait(self, pending: _PendingAnswer) -> None:
        now = time.monotonic()
        since = pending.waiting_since = pending.waiting_since or now
        is_limited = pending.unsent is not None and pending.unsent.code in LIMITED
        pause = 0.0 if is_limited else self._retries.pause(now - since)  # the outbox keeps the pace
        self._outbox.put(pending.key, functools.partial(self._work, pending), pause, since)
        if pending.cancel.is_set():  # the answer was called off a moment before
            self._outbox.hurry(pending.key)

    def _forget(self, pending: _PendingAnswer) -> None:
        if self._pending.get(pending.key) is pending:  # else the question was queued again
            del self._pending[pending.key]
