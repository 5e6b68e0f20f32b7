"""Answers being made: queued, kept alive, reworded or called off, and left in order at the end.

What is to be answered is decided elsewhere (``bot.answering.decide``); here it gets its place on
the bounded pool and its status, which is cleared whatever happens. An answer that Slack does not
take stays here, with its claim, until Slack does; a restart gives the claim back, and the next
process makes the answer anew, since no text of it is stored.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from slack_sdk import WebClient

from bot.answering.deliver import Delivery, Unsent
from bot.answering.outbox import Outbox, Retries
from bot.answering.workers import Workers
from bot.journal.claims import Journal
from bot.question.event import Key, Question
from bot.reply.in_private import Responder
from bot.reply.in_thread import Replier
from bot.reply.status import Session, Status, Statuses, Unseen
from bot.reply.wording import RESTARTING, THINKING
from bot.slack.identity import Message

log = logging.getLogger(__name__)

_CLEARED_WITHIN = 2.0
"""Seconds that the end of a process waits for its statuses to be cleared."""


@dataclass
class _Pending:
    """An answer being made, and how to call it off."""

    question: Question
    status: Status | Unseen
    responder: Responder | None
    """Where the answer goes that only its asker sees."""
    thread: Sequence[Message]
    cancel: threading.Event = field(default_factory=threading.Event)
    revised: Question | None = None
    """The same question in other words: answered in its place."""
    too_late: Callable[[], None] | None = None
    """What to do where the revised one finds an answer."""
    unsent: Unsent | None = None
    """The answer, once it is made, until Slack has taken it."""
    since: float = 0.0
    """When Slack first did not take it, by the monotonic clock."""
    is_late: bool = False
    """The answer has waited too long: a line takes its place."""


class UnderWay:
    def __init__(
        self,
        post: WebClient,
        journal: Journal,
        delivery: Delivery,
        statuses: Statuses,
        workers: Workers,
        retries: Retries,
    ) -> None:
        self._post, self._journal, self._delivery = post, journal, delivery
        self._statuses, self._workers = statuses, workers
        self._outbox, self._retries = Outbox(workers), retries
        self._lock = threading.Lock()
        self._pending: dict[Key, _Pending] = {}

    @property
    def idle(self) -> bool:
        """No answer is being made, and none waits for a worker; some may wait for Slack."""
        return self._workers.idle

    def start(
        self, question: Question, thread: Sequence[Message], responder: Responder | None
    ) -> bool:
        """Queue the answer to a claimed question; False where there is no room.

        At the end of the process the claim is given back instead.
        """
        line = f"is waiting: {ahead} ahead…" if (ahead := self._workers.ahead) else THINKING
        status: Status | Unseen = Unseen()
        if question.origin != "command":
            status = self._statuses.open(question.channel, question.thread_ts, line)
        pending = _Pending(question, status, responder, thread)
        with self._lock:
            self._pending[question.key] = pending
        if self._workers.submit(functools.partial(self._make, pending)):
            return True
        with self._lock:
            del self._pending[question.key]
        status.close()
        if self._workers.is_closed:
            self._journal.release(question.key)
            return True  # the next start has it
        return False

    def reword(self, question: Question, too_late: Callable[[], None]) -> None:
        """Answer these words instead of those that the same question had before.

        ``too_late`` is called, now or later, where the answer to those was posted meanwhile.
        """
        with self._lock:
            if pending := self._pending.get(question.key):
                pending.revised, pending.too_late = question, too_late
                self._cancel(pending)
                return
        too_late()

    def call_off(self, key: Key, session: Session = "active") -> Question | None:
        """Stop making an answer; the question that it was for, None where it is not made here."""
        with self._lock:
            pending = self._pending.get(key)
        if pending is None:
            return None
        pending.status.outcome = session
        self._cancel(pending)
        return pending.question

    def renew(self) -> None:
        """Keep the claims of what is being answered; one that was dropped runs out, to be found."""
        with self._lock:
            keys = list(self._pending)
        self._journal.renew(keys)

    def drain(self, seconds: float) -> None:
        """Finish what is under way; what does not get done is left for the next start."""
        self._outbox.close()
        done = self._workers.drain(seconds)
        self._leave()
        if not done:
            self._workers.drain(2.0)
        self._statuses.settle(_CLEARED_WITHIN)

    def _leave(self) -> None:
        with self._lock:
            left = list(self._pending.values())
        for pending in left:
            self._journal.release(pending.question.key)
            pending.cancel.set()
            pending.status.close()
        _tell([pending.responder for pending in left if pending.responder])
        if left:
            log.warning("%d answers are left for the next start", len(left))

    def _cancel(self, pending: _Pending) -> None:
        pending.cancel.set()
        self._outbox.hurry(pending.question.key)

    def _make(self, pending: _Pending) -> None:
        """One answer, from a free worker to the reply, or until Slack does not take it."""
        waits = False
        try:
            while self._delivery.is_wanted(pending.question.key):
                result = self._go_on(pending)
                pending.unsent = result if isinstance(result, Unsent) else None
                if result is True:
                    self._outbox.hurry_all()  # Slack takes answers: it may take the others, too
                with self._lock:
                    if pending.revised is None:
                        waits = pending.unsent is not None
                        if not waits:  # from here on new words come too late
                            self._forget(pending)
                        return
                    pending.question, pending.revised = pending.revised, None
                    pending.cancel.clear()
                    pending.since, pending.is_late = 0.0, False
            if pending.unsent:
                self._delivery.call_off(pending.unsent)
        finally:
            if waits:
                self._wait(pending)
            else:
                with self._lock:
                    self._forget(pending)
                pending.status.close()
        if pending.too_late:
            pending.too_late()

    def _go_on(self, pending: _Pending) -> Unsent | bool:
        """Make the answer, or post the one that is made: whether Slack took it, or what waits."""
        unsent, status = pending.unsent, pending.status
        if unsent is None:
            replier = pending.responder or Replier(self._post, pending.question)
            return self._delivery.deliver(replier, pending.thread, status, pending.cancel)
        if pending.cancel.is_set():
            self._delivery.call_off(unsent)
            return False
        age = time.monotonic() - pending.since
        if age > self._retries.line:
            self._delivery.give_up(unsent)
            return False
        if age > self._retries.answer and not pending.is_late:
            pending.is_late = True
            return self._delivery.apologise(unsent, status)
        return self._delivery.post(unsent, status)

    def _wait(self, pending: _Pending) -> None:
        now = time.monotonic()
        pending.since = pending.since or now
        pause = self._retries.pause(now - pending.since)
        self._outbox.put(pending.question.key, functools.partial(self._make, pending), pause)
        if pending.cancel.is_set():  # it was called off a moment before
            self._outbox.hurry(pending.question.key)

    def _forget(self, pending: _Pending) -> None:
        key = pending.question.key
        if self._pending.get(key) is pending:  # else it was asked anew meanwhile
            del self._pending[key]


def _tell(responders: Sequence[Responder]) -> None:
    """Say to those who asked in private that their answer does not come; all at once, for Slack may
    hang."""
    until = time.monotonic() + _CLEARED_WITHIN
    tellers = [
        threading.Thread(target=responder.whisper, args=(RESTARTING,), daemon=True)
        for responder in responders
    ]
    for teller in tellers:
        teller.start()
    for teller in tellers:
        teller.join(max(0.0, until - time.monotonic()))
