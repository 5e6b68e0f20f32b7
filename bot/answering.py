"""Event -> Question -> decision -> a place in the queue: the way of one question.

``note`` runs before Slack gets its acknowledgement, ``consider`` right after it and quickly,
the answer itself (``bot.delivery``) on the bounded pool.
"""

import contextlib
import functools
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.access import Access, Visit
from bot.again import offer_again
from bot.channels import Channel, Channels
from bot.clients import SLACK_FAILED, Clients, slack_error
from bot.delivery import Answers, Delivery, Render, Runbook
from bot.events import (
    Deleted,
    Found,
    Identity,
    Key,
    Message,
    Question,
    read_event,
)
from bot.foreign_threads import ForeignThreads
from bot.journal import Journal
from bot.manners import NOT_PART, Decision, decide
from bot.markup import escape
from bot.pace import Pace
from bot.people import People
from bot.records import NotedMessage
from bot.reply import Replier
from bot.responses import Responder
from bot.settings import BotSettings
from bot.status import Session, Status, Statuses, Unseen
from bot.thread import notes, read_thread, replies_of
from bot.wording import BUSY, HELP, RESTARTING, STOPPED_EARLY, THINKING, UNREADABLE
from bot.workers import Workers

log = logging.getLogger(__name__)

_CLEARED_WITHIN = 2.0
"""Seconds that the end of a process waits for its statuses to be cleared."""


@dataclass
class _Pending:
    """An answer being made, and how to call it off."""

    question: Question
    status: Status | Unseen
    responder: Responder | None = None
    """Where the answer goes that only its asker sees."""
    thread: Sequence[Message] = ()
    cancel: threading.Event = field(default_factory=threading.Event)
    revised: Question | None = None
    """The same question in other words: answered in its place."""


class Answering:
    def __init__(
        self,
        clients: Clients,
        me: Identity,
        agent: Answers,
        render: Render,
        journal: Journal,
        settings: BotSettings,
        runbook: Runbook | None = None,
        channels: Channels | None = None,
    ) -> None:
        self.clients, self.me, self.journal = clients, me, journal
        self.people = People(clients.read)
        self.statuses = Statuses(clients.hint)
        self._channels = channels or Channels()
        self._pace = Pace(journal, settings.user_per_minute, settings.channel_per_minute)
        self.access = Access(self.people, me, settings, self.channel)
        self._delivery = Delivery(
            clients,
            me,
            self.people,
            journal,
            agent,
            render,
            runbook,
            self._may_stream,
            self.channel,
        )
        self._workers = Workers(settings.workers, settings.queue)
        self._settings = settings
        self._foreign_threads = ForeignThreads()
        self._lock = threading.Lock()
        self._pending: dict[Key, _Pending] = {}

    def channel(self, channel: str) -> Channel:
        """What is configured for a channel."""
        return self._channels.of(channel, self.people.name)

    def note(self, body: Message, *, retried: bool = False) -> Found:
        """Read an event and remember it, before it is acknowledged."""
        found = read_event(body, self.me, retried=retried)
        if isinstance(found, Question):
            if self._foreign_threads.covers(found) and not self._in_thread(found):
                return None
            self.journal.note(found)
        return found

    def forget(self, deleted: Deleted) -> None:
        """The question is gone: call its pending answer off."""
        self.journal.delete(deleted.key)
        self._call_off(deleted.key)

    def revise(self, question: Question) -> None:
        """The words changed: answer the new ones, or offer to where an answer stands already.

        Where they ask nothing any longer, the answer under way is called off.
        """
        noted = self.journal.message(question.key)
        if noted is None or noted.state not in ("claimed", "answered"):
            return
        with self._lock:
            pending = self._pending.get(question.key)
        thread = pending.thread if pending else self._thread(question, recovered=False)
        decision = self._decide(question, thread or ())
        if noted.state == "answered":
            if decision.action == "answer" and noted.answer_id:
                offer_again(self.clients, question, self.me)
        elif decision.action == "answer":
            with self._lock:
                if pending is not None:
                    pending.revised = question
                    pending.cancel.set()
        elif decision.action == "stop":
            self._stop(question)
        else:
            self.journal.withdraw(question.key, decision.reason)
            self._call_off(question.key)

    def answer(self, question: Question, thread: list[Message]) -> None:
        """Answer without asking whether to: somebody wants this question answered."""
        if self.journal.claim(question.key):
            self._take(question, Decision("answer"), None, thread)

    def consider(
        self, question: Question, *, recovered: bool = False, seen: Sequence[Message] = ()
    ) -> None:
        """Decide whether to answer, and queue the answer.

        ``seen`` stands for the thread where it cannot be read.
        """
        thread = self._thread(question, recovered=recovered)
        if not thread and seen:
            thread = [*seen]
        if own := replies_of(question.ts, thread or (), self.me):
            return self.journal.finish(question.key, "answered", reply_ts=str(own[0]["ts"]))
        decision = self._decide(question, thread or ())
        if decision.action == "ignore":
            if decision.reason == NOT_PART and thread:
                self._foreign_threads.add(question)
            return self.journal.ignore(question.key, decision.reason)
        called = question.is_mention or question.is_direct
        follow_ups = self.channel(question.channel).follow_ups
        if decision.action == "answer" and not (called or follow_ups):
            return self.journal.ignore(question.key, "only mentions are answered here")
        person = self.people.person(question.user or "")
        if person is not None and person.is_bot:
            return self.journal.ignore(question.key, "a bot")
        why_not = self.access.refusal(Visit.of(question))
        if why_not and not called:
            return self.journal.ignore(question.key, "may not ask")
        if not self.journal.claim(question.key):
            return None
        if decision.action == "answer":
            why_not = why_not or self.too_often(question)
        return self._take(question, decision, why_not, thread)

    def _decide(self, question: Question, thread: Sequence[Message]) -> Decision:
        under_way = any(m.ts < question.ts for m in self._in_thread(question))
        return decide(question, thread, self.me, answering=under_way, name_of=self.people.name)

    def too_often(self, question: Question) -> str | None:
        """What to tell an asker whose questions come too fast."""
        return self._pace.refusal(question)

    def tell(self, question: Question, text: str, reference: str) -> None:
        """A short line in the question's thread instead of an answer."""
        replier = Replier(self.clients.post, question)
        self._delivery.post_line(replier, text, reference=reference)

    def ask(self, question: Question, responder: Responder) -> None:
        """Answer what was asked in no thread; everything said of it goes to ``responder``."""
        self.journal.note(question)
        if self.journal.claim(question.key):
            told = self.too_often(question)
            self._take(question, Decision("answer"), told, [], responder)

    def renew(self) -> None:
        """Keep the claims of what is being answered; one that was dropped runs out, to be found."""
        with self._lock:
            keys = list(self._pending)
        self.journal.renew(keys)

    @property
    def idle(self) -> bool:
        """No answer is being made and none waits."""
        return self._workers.idle

    def drain(self, seconds: float) -> None:
        """Finish what is under way; what does not get done is left for the next start."""
        if self._workers.drain(seconds):
            return self.statuses.settle(_CLEARED_WITHIN)
        with self._lock:
            left = list(self._pending.values())
        for pending in left:
            self.journal.release(pending.question.key)
            pending.cancel.set()
            if pending.responder:
                pending.responder.whisper(RESTARTING)
        log.warning("%d answers are left for the next start", len(left))
        self._workers.drain(2.0)
        return self.statuses.settle(_CLEARED_WITHIN)

    def _in_thread(self, question: Question) -> list[NotedMessage]:
        return self.journal.in_thread(question.team, question.channel, question.thread_ts)

    def _thread(self, question: Question, *, recovered: bool) -> list[Message] | None:
        """The thread, where there can be one; None where it cannot be read."""
        if not (question.in_thread or question.edited or question.retried or recovered):
            return []
        try:
            return read_thread(self.clients.read, question.channel, question.thread_ts)
        except SLACK_FAILED as error:
            log.warning("could not read a thread in %s: %s", question.channel, slack_error(error))
            return None

    def _take(
        self,
        question: Question,
        decision: Decision,
        why_not: str | None,
        thread: list[Message] | None,
        responder: Responder | None = None,
    ) -> None:
        replier = responder or Replier(self.clients.post, question)
        if why_not:
            replier.whisper(why_not)
            self.journal.finish(question.key, "refused", reason=why_not[:200])
        elif decision.action == "stop":
            self.journal.finish(question.key, "stopped", reason="told to stop")
            self._stop(question)
        elif decision.action == "help":
            unread = [escape(line) for line in notes(question, thread or ())]
            line = UNREADABLE if thread is None else HELP
            self._delivery.post_line(replier, " ".join([*unread, line]))
        else:
            line = f"is waiting: {ahead} ahead…" if (ahead := self._workers.ahead) else THINKING
            status: Status | Unseen = Unseen()
            if question.origin != "command":
                status = self.statuses.open(question.channel, question.thread_ts, line)
            pending = _Pending(question, status, responder, thread or ())
            with self._lock:
                self._pending[question.key] = pending
            if not self._workers.submit(functools.partial(self._job, pending)):
                with self._lock:
                    del self._pending[question.key]
                status.close()
                replier.whisper(BUSY)
                self.journal.finish(question.key, "refused", reason="queue full")

    def _stop(self, question: Question) -> None:
        """Keep out of the thread: the word itself, found there again, is what silences later."""
        if not self.stop_thread(question.channel, question.thread_ts, session="closed"):
            self.statuses.session(question.channel, question.thread_ts, "closed")
        try:
            self.clients.hint.reactions_add(
                channel=question.channel, timestamp=question.ts, name="mute"
            )
        except SLACK_FAILED as error:
            log.info("could not acknowledge a stop: %s", slack_error(error))

    def stop_thread(self, channel: str, thread_ts: str, session: Session = "active") -> bool:
        """Call off every answer to this thread that is under way, here or in another replica.

        True when one of them was under way here. A button leaves no word of its own in the thread,
        so where no part of the answer is to be seen either, a line says that it was heard.
        """
        called_off = False
        for noted in self.journal.in_thread(self.me.team_id, channel, thread_ts):
            if noted.state == "claimed":
                self.journal.finish(noted.key, "stopped", reason="told to stop")
                pending = self._call_off(noted.key, session)
                called_off |= pending is not None
                if pending and session == "active" and not noted.reply_ts:
                    self.tell(pending.question, STOPPED_EARLY, "stopped")
        return called_off

    def _call_off(self, key: Key, session: Session = "active") -> _Pending | None:
        with self._lock:
            pending = self._pending.get(key)
        if pending is not None:
            pending.status.outcome = session
            pending.cancel.set()
        return pending

    def _may_stream(self, question: Question) -> bool:
        channel, mode = self.channel(question.channel), self._settings.stream
        if question.origin == "command":
            return False
        if channel.ephemeral or channel.stream is not None:
            return not channel.ephemeral and bool(channel.stream)
        return mode == "all" or (mode == "dm" and question.is_direct)

    def _job(self, pending: _Pending) -> None:
        """One answer, from a free worker to the reply; the status is cleared whatever happens."""
        key = pending.question.key
        with contextlib.closing(pending.status):
            try:
                while self.journal.holds(key):
                    question = pending.question
                    replier = pending.responder or Replier(self.clients.post, question)
                    self._delivery.deliver(replier, pending.thread, pending.status, pending.cancel)
                    with self._lock:
                        if pending.revised is None:
                            break
                        pending.question, pending.revised = pending.revised, None
                        pending.cancel.clear()
            finally:
                with self._lock:
                    if self._pending.get(key) is pending:  # else it was asked anew meanwhile
                        del self._pending[key]
