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
from bot.elsewhere import Elsewhere
from bot.events import (
    Deleted,
    Found,
    Identity,
    Key,
    Message,
    Question,
    read_event,
)
from bot.journal import Journal
from bot.manners import NOT_PART, Decision, decide
from bot.pace import Pace
from bot.people import People
from bot.records import NotedMessage
from bot.reply import Replier
from bot.responses import Responder
from bot.settings import BotSettings
from bot.status import Session, Status, Statuses, Unseen
from bot.thread import read_thread, replies_of
from bot.wording import BUSY, HELP, RESTARTING, THINKING
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
        self._elsewhere = Elsewhere()
        self._lock = threading.Lock()
        self._pending: dict[Key, _Pending] = {}

    def channel(self, channel: str) -> Channel:
        """What is configured for a channel."""
        return self._channels.of(channel, self.people.name)

    def note(self, body: Message, *, retried: bool = False) -> Found:
        """Read an event and remember it, before it is acknowledged."""
        found = read_event(body, self.me, retried=retried)
        if isinstance(found, Question):
            if self._elsewhere.covers(found) and not self._in_thread(found):
                return None
            self.journal.note(found)
        return found

    def forget(self, deleted: Deleted) -> None:
        """The question is gone: call its pending answer off."""
        self.journal.delete(deleted.key)
        self._call_off(deleted.key)

    def revise(self, question: Question) -> None:
        """The words changed: answer the new ones, or offer to where an answer stands already."""
        noted = self.journal.message(question.key)
        if noted is None or (noted.is_mention and not question.is_mention):
            return
        with self._lock:
            pending = self._pending.get(question.key)
            if pending is not None:
                pending.revised = question
                pending.cancel.set()
                return
        if noted.state == "answered" and noted.answer_id:
            offer_again(self.clients, question, self.me)

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
        thread = self._thread(question, recovered=recovered) or [*seen]
        if own := replies_of(question.ts, thread, self.me):
            return self.journal.finish(question.key, "answered", reply_ts=str(own[0]["ts"]))
        under_way = [m for m in self._in_thread(question) if m.ts < question.ts]
        decision = decide(
            question,
            thread,
            self.me,
            answering=bool(under_way),
            name_of=self.people.name,
        )
        if decision.action == "ignore":
            if decision.reason == NOT_PART and thread:
                self._elsewhere.add(question)
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

    def _thread(self, question: Question, *, recovered: bool) -> list[Message]:
        """The thread, where there can be one; a mention is answered even when it cannot be read."""
        if not (question.in_thread or question.edited or question.retried or recovered):
            return []
        try:
            return read_thread(self.clients.read, question.channel, question.thread_ts)
        except SLACK_FAILED as error:
            log.warning("could not read a thread in %s: %s", question.channel, slack_error(error))
            return []

    def _take(
        self,
        question: Question,
        decision: Decision,
        why_not: str | None,
        thread: list[Message],
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
            self._delivery.post_line(replier, HELP)
        else:
            line = f"is waiting: {ahead} ahead…" if (ahead := self._workers.ahead) else THINKING
            status: Status | Unseen = Unseen()
            if question.origin != "command":
                status = self.statuses.open(question.channel, question.thread_ts, line)
            pending = _Pending(question, status, responder)
            with self._lock:
                self._pending[question.key] = pending
            if not self._workers.submit(functools.partial(self._job, pending, thread)):
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

        True when one of them was under way here.
        """
        called_off = False
        for noted in self.journal.in_thread(self.me.team_id, channel, thread_ts):
            if noted.state == "claimed":
                self.journal.finish(noted.key, "stopped", reason="told to stop")
                called_off |= self._call_off(noted.key, session)
        return called_off

    def _call_off(self, key: Key, session: Session = "active") -> bool:
        with self._lock:
            pending = self._pending.get(key)
        if pending is None:
            return False
        pending.status.outcome = session
        pending.cancel.set()
        return True

    def _may_stream(self, question: Question) -> bool:
        channel, mode = self.channel(question.channel), self._settings.stream
        if question.origin == "command":
            return False
        if channel.ephemeral or channel.stream is not None:
            return not channel.ephemeral and bool(channel.stream)
        return mode == "all" or (mode == "dm" and question.is_direct)

    def _job(self, pending: _Pending, thread: Sequence[Message]) -> None:
        """One answer, from a free worker to the reply; the status is cleared whatever happens."""
        key = pending.question.key
        with contextlib.closing(pending.status):
            try:
                while self.journal.holds(key):
                    question = pending.question
                    replier = pending.responder or Replier(self.clients.post, question)
                    self._delivery.deliver(replier, thread, pending.status, pending.cancel)
                    with self._lock:
                        if pending.revised is None:
                            break
                        pending.question, pending.revised = pending.revised, None
                        pending.cancel.clear()
            finally:
                with self._lock:
                    self._pending.pop(key, None)
