"""Event -> Question -> decision: whether a message is answered, refused, or left alone.

``note`` runs before Slack gets its acknowledgement, ``consider`` right after it and quickly; the
answer itself is made on the bounded pool (``bot.answering.queue``).
"""

import logging
from collections.abc import Callable, Sequence

from bot.answering.deliver import Answers, Delivery, Render, Runbook
from bot.answering.foreign_threads import ForeignThreads
from bot.answering.outbox import Retries
from bot.answering.queue import UnderWay
from bot.answering.rate_limit import Pace
from bot.answering.workers import Workers
from bot.channels import Channel, Channels
from bot.journal.claims import Journal
from bot.journal.records import NotedMessage
from bot.question.access import Access, Visit
from bot.question.event import Deleted, Found, Question, read_event
from bot.question.policy import NOT_PART, Decision, decide
from bot.question.thread import is_whole, notes, read_thread, replies_of
from bot.reading.mrkdwn import escape
from bot.reply.in_private import Responder
from bot.reply.in_thread import Replier
from bot.reply.status import Session, Statuses
from bot.reply.wording import BUSY, HELP, STOPPED_EARLY, UNREADABLE
from bot.settings import BotSettings
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from bot.slack.identity import Identity, Message
from bot.slack.people import People

log = logging.getLogger(__name__)


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
        retries: Retries | None = None,
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
        workers = Workers(settings.workers, settings.queue)
        self._under_way = UnderWay(
            clients.post, journal, self._delivery, self.statuses, workers, retries or Retries()
        )
        self._stream = settings.stream
        self._foreign_threads = ForeignThreads()

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

    def consider(
        self,
        question: Question,
        thread: Sequence[Message] | None = None,
        *,
        seen: Sequence[Message] = (),
    ) -> None:
        """Decide whether to answer, and queue the answer.

        The thread is read unless it was already; ``seen`` stands for it where it cannot be read.
        """
        if thread is None:
            read = self._read_thread(question)
            thread = seen if read is None and seen else read
        if thread is None and not question.is_called:
            return None  # it stays noted, and the recovery reads the thread in its next round
        own = self._replies(question, thread or ())
        if is_whole(own):
            return self.journal.found_answered(question.key, str(own[0]["ts"]))
        decision = self.decide(question, thread or ())
        if decision.reason == NOT_PART and thread:
            self._foreign_threads.add(question)
        if why_silent := self._silence(question, decision):
            return self.journal.ignore(question.key, why_silent)
        why_not = self.access.refusal(Visit.of(question))
        if why_not and not question.is_called:
            return self.journal.ignore(question.key, "may not ask")
        if not self.journal.claim(question.key):
            return None
        Replier(self.clients.post, question).take_back(own)
        if decision.action == "answer":
            why_not = why_not or self.too_often(question)
        return self._take(question, decision, why_not, thread)

    def decide(self, question: Question, thread: Sequence[Message]) -> Decision:
        """What is to become of a question, by its thread alone."""
        answering = any(m.ts < question.ts for m in self._in_thread(question))
        return decide(question, thread, self.me, answering=answering, name_of=self.people.name)

    def thread_of(self, question: Question) -> list[Message]:
        """The thread of a question; raises what Slack fails with."""
        try:
            return read_thread(self.clients.read, question.channel, question.thread_ts)
        except SLACK_FAILED as error:
            log.warning("could not read a thread in %s: %s", question.channel, slack_error(error))
            raise

    def answer_again(self, question: Question, thread: Sequence[Message]) -> None:
        """Answer anew what was answered before, without asking whether to."""
        if self.journal.claim_again(question.key):
            self._take(question, Decision("answer"), None, thread)

    def ask(self, question: Question, responder: Responder) -> None:
        """Answer what was asked in no thread; everything said of it goes to ``responder``."""
        self.journal.note(question)
        if self.journal.claim(question.key):
            told = self.too_often(question)
            self._take(question, Decision("answer"), told, [], responder)

    def reword(self, question: Question, too_late: Callable[[], None]) -> None:
        """Answer a question that is under way in its new words, unless that is ``too_late``."""
        self._under_way.reword(question, too_late)

    def withdraw(self, question: Question, reason: str) -> None:
        """It asks nothing any longer: call its pending answer off."""
        self.journal.withdraw(question.key, reason)
        self._under_way.call_off(question.key)

    def forget(self, deleted: Deleted) -> None:
        """The question is gone: call its pending answer off."""
        noted = self.journal.message(deleted.key)
        self.journal.delete(deleted.key)
        here = self._under_way.call_off(deleted.key)
        if here is None and noted and noted.attempts and noted.state in ("noted", "claimed"):
            # Another process began to answer; if it is dead, nobody else clears its status.
            self.statuses.clear(noted.channel, noted.thread_ts)

    def stop(self, question: Question) -> None:
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
                question = self._under_way.call_off(noted.key, session)
                called_off |= question is not None
                if question and session == "active" and not noted.reply_ts:
                    self.tell(question, STOPPED_EARLY, "stopped")
        return called_off

    def too_often(self, question: Question) -> str | None:
        """What to tell an asker whose questions come too fast."""
        return self._pace.refusal(question)

    def tell(self, question: Question, text: str, reference: str) -> None:
        """A short line in the question's thread instead of an answer."""
        replier = Replier(self.clients.post, question)
        later = self.journal.reopen
        self._delivery.post_line(replier, text, reference=reference, later=later)

    @property
    def idle(self) -> bool:
        """No answer is being made, and none waits for a worker; some may wait for Slack."""
        return self._under_way.idle

    def renew(self) -> None:
        """Keep the claims of what is being answered."""
        self._under_way.renew()

    def drain(self, seconds: float) -> None:
        """Finish what is under way; what does not get done is left for the next start."""
        self._under_way.drain(seconds)

    def _read_thread(self, question: Question) -> list[Message] | None:
        """The thread, where there can be one; None where it cannot be read."""
        if not (question.in_thread or question.edited or question.retried):
            return []
        try:
            return self.thread_of(question)
        except SLACK_FAILED:
            return None

    def _replies(self, question: Question, thread: Sequence[Message]) -> list[Message]:
        """What stands there of its answer; one in whose place another was asked for is none."""
        noted = self.journal.message(question.key) if thread else None
        replaced = noted.answer_id if noted and noted.state != "answered" else None
        return replies_of(question.ts, thread, self.me, but=replaced)

    def _in_thread(self, question: Question) -> list[NotedMessage]:
        return self.journal.in_thread(question.team, question.channel, question.thread_ts)

    def _silence(self, question: Question, decision: Decision) -> str | None:
        """Why nothing at all is to be heard of a question; None where something is."""
        if decision.action == "ignore":
            return decision.reason
        follow_ups = question.is_called or self.channel(question.channel).follow_ups
        if decision.action == "answer" and not follow_ups:
            return "only mentions are answered here"
        person = self.people.person(question.user or "")
        return "a bot" if person is not None and person.is_bot else None

    def _take(
        self,
        question: Question,
        decision: Decision,
        why_not: str | None,
        thread: Sequence[Message] | None,
        responder: Responder | None = None,
    ) -> None:
        """Do what was decided for a claimed question; ``thread`` is None where none can be read."""
        replier = responder or Replier(self.clients.post, question)
        if why_not:
            replier.whisper(why_not)
            self.journal.finish(question.key, "refused", reason=why_not[:200])
        elif decision.action == "stop":
            self.journal.finish(question.key, "stopped", reason="told to stop")
            self.stop(question)
        elif decision.action == "help":
            unread = [escape(line) for line in notes(question, thread or ())]
            line = UNREADABLE if thread is None else HELP
            self._delivery.post_line(replier, " ".join([*unread, line]))
        elif not self._under_way.start(question, thread or (), responder):
            replier.whisper(BUSY)
            self.journal.finish(question.key, "refused", reason="queue full")

    def _may_stream(self, question: Question) -> bool:
        channel = self.channel(question.channel)
        if question.origin == "command":
            return False
        if channel.ephemeral or channel.stream is not None:
            return not channel.ephemeral and bool(channel.stream)
        return self._stream == "all" or (self._stream == "dm" and question.is_direct)
