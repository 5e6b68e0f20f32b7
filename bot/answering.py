"""Event -> Question -> decision -> Conversation -> Answer -> reply: the way of one question.

``note`` runs before Slack gets its acknowledgement, ``consider`` right after it and quickly,
the answer itself on the bounded pool.
"""

import contextlib
import functools
import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sqlalchemy.exc import SQLAlchemyError

from agent.answer import Answer
from agent.conversation import Conversation
from agent.errors import Cancelled
from bot.again import offer_again
from bot.clients import SLACK_FAILED, Clients, slack_error
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
from bot.people import People, refusal
from bot.records import NotedMessage
from bot.reply import NotPosted, Replier
from bot.settings import BotSettings
from bot.status import Status
from bot.thread import (
    alert_text,
    build_conversation,
    notes,
    read_thread,
    replies_of,
    runbook_of,
)
from bot.wording import BUSY, HELP, THINKING, failed, with_notes
from bot.workers import Workers

log = logging.getLogger(__name__)


class Answers(Protocol):
    """The agent, as seen from here. Raises Cancelled once ``cancel`` is set."""

    def answer(
        self, conversation: Conversation, *, on_progress: Any = None, cancel: Any = None
    ) -> Answer: ...


Render = Callable[[Answer], Sequence[dict[str, Any]]]
"""An answer -> the messages that carry it."""


@dataclass
class _Pending:
    """An answer being made, and how to call it off."""

    question: Question
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
        runbook: Callable[[str], dict[str, Any] | None] | None = None,
    ) -> None:
        self.clients, self.me, self.journal = clients, me, journal
        self.people = People(clients.read)
        self._agent = agent
        self._render = render
        self._runbook = runbook
        self._workers = Workers(settings.workers, settings.queue)
        self._settings = settings
        self._elsewhere = Elsewhere()
        self._lock = threading.Lock()
        self._pending: dict[Key, _Pending] = {}

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
        person = self.people.person(question.user or "")
        if person is not None and person.is_bot:
            return self.journal.ignore(question.key, "a bot")
        why_not = refusal(question, person, self.me, self._settings)
        if why_not and not (question.is_mention or question.is_direct):
            return self.journal.ignore(question.key, "may not ask")
        if not self.journal.claim(question.key):
            return None
        return self._take(question, decision, why_not, thread)

    def submit(self, job: Callable[[], None]) -> bool:
        """Do something on the answers' pool; False when there is no room."""
        return self._workers.submit(job)

    def make(self, conversation: Conversation) -> tuple[Answer, list[dict[str, Any]]]:
        """An answer outside any thread, and the messages that carry it."""
        answer = self._agent.answer(conversation)
        return answer, list(self._render(answer))

    @property
    def idle(self) -> bool:
        """No answer is being made and none waits."""
        return self._workers.idle

    def drain(self, seconds: float) -> None:
        """Finish what is under way; what does not get done is left for the next start."""
        if self._workers.drain(seconds):
            return
        with self._lock:
            left = list(self._pending.values())
        for pending in left:
            self.journal.release(pending.question.key)
            pending.cancel.set()
        log.warning("%d answers are left for the next start", len(left))
        self._workers.drain(2.0)

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
        self, question: Question, decision: Decision, why_not: str | None, thread: list[Message]
    ) -> None:
        replier = Replier(self.clients.post, question)
        if why_not:
            replier.whisper(why_not)
            self.journal.finish(question.key, "refused", reason="may not ask")
        elif decision.action == "stop":
            self.journal.finish(question.key, "stopped", reason="told to stop")
            self._stop(question)
        elif decision.action == "help":
            self._post_line(replier, HELP)
        else:
            line = f"is waiting: {ahead} ahead…" if (ahead := self._workers.waiting) else THINKING
            status = Status(self.clients.hint, question.channel, question.thread_ts, line)
            pending = _Pending(question)
            with self._lock:
                self._pending[question.key] = pending
            if not self._workers.submit(functools.partial(self._job, pending, thread, status)):
                with self._lock:
                    del self._pending[question.key]
                status.close()
                replier.whisper(BUSY)
                self.journal.finish(question.key, "refused", reason="queue full")

    def _stop(self, question: Question) -> None:
        """Keep out of the thread: the word itself, found there again, is what silences later."""
        self.stop_thread(question.channel, question.thread_ts)
        try:
            self.clients.hint.reactions_add(
                channel=question.channel, timestamp=question.ts, name="mute"
            )
        except SLACK_FAILED as error:
            log.info("could not acknowledge a stop: %s", slack_error(error))

    def stop_thread(self, channel: str, thread_ts: str) -> None:
        """Call off every answer to this thread that is under way, here or in another replica."""
        for noted in self.journal.in_thread(self.me.team_id, channel, thread_ts):
            if noted.state == "claimed":
                self.journal.finish(noted.key, "stopped", reason="told to stop")
                self._call_off(noted.key)

    def _call_off(self, key: Key) -> None:
        with self._lock:
            pending = self._pending.get(key)
        if pending is not None:
            pending.cancel.set()

    def _job(self, pending: _Pending, thread: Sequence[Message], status: Status) -> None:
        """One answer, from a free worker to the reply; the status is cleared whatever happens."""
        key = pending.question.key
        with contextlib.closing(status):
            try:
                while self.journal.holds(key):
                    self._answer(pending.question, thread, status, pending.cancel)
                    with self._lock:
                        if pending.revised is None:
                            break
                        pending.question, pending.revised = pending.revised, None
                        pending.cancel.clear()
            finally:
                with self._lock:
                    self._pending.pop(key, None)

    def _answer(
        self,
        question: Question,
        thread: Sequence[Message],
        status: Status,
        cancel: threading.Event,
    ) -> None:
        replier = Replier(self.clients.post, question)
        try:
            status.show(THINKING)
            over = self._runbook_first(replier, thread, status)
            conversation = build_conversation(question, thread, self.me, self.people.name)
            answer = self._agent.answer(conversation, on_progress=status.progress, cancel=cancel)
            if not cancel.is_set() and self.journal.holds(question.key):
                self._post(replier, answer, over)
        except Cancelled:
            log.info("answer called off in %s", question.channel)
        except NotPosted as error:
            log.warning("no reply possible in %s: %s", question.channel, error.code)
            self.journal.finish(question.key, "failed", reason=error.code)
        except Exception:  # the edge of an answer: whatever happened, the asker hears of it
            reference = uuid.uuid4().hex[:8]
            log.exception("answer %s failed", reference)
            self._post_line(replier, failed(reference), reference=reference)

    def _runbook_first(
        self, replier: Replier, thread: Sequence[Message], status: Status
    ) -> str | None:
        """Under an alert that names its runbook: post that at once; the answer takes its place."""
        question = replier.question
        if self._runbook is None or not (text := alert_text(question, thread, self.me)):
            return None
        if posted := runbook_of(question.ts, thread, self.me):
            return posted
        message = self._runbook(text)
        if message is None:
            return None
        status.show("has found the runbook and reads on…")
        return replier.post_runbook(message)

    def _post(self, replier: Replier, answer: Answer, over: str | None) -> None:
        question = replier.question
        if answer.verdict == "failed":
            log.warning("answer %s failed: %s", answer.id, answer.reason)
        messages = list(self._render(answer))
        messages[0] = with_notes(messages[0], notes(question))
        if answer.verdict == "failed":
            over = None  # the runbook is worth more than a line that says there is no answer
        self._record(question, answer, None)  # before anybody can press its buttons
        reply_ts = replier.post_answer(answer, messages, over)
        self._record(question, answer, reply_ts)

    def _record(self, question: Question, answer: Answer, reply_ts: str | None) -> None:
        """Into the journal; a database that is away costs nobody their answer.

        The reply's metadata keeps it from coming twice even so.
        """
        try:
            if reply_ts is not None:
                key, answer_id = question.key, answer.id
                self.journal.finish(key, "answered", reply_ts=reply_ts, answer_id=answer_id)
            self.journal.record(question, answer, reply_ts)
        except SQLAlchemyError:
            log.exception("answer %s is not in the journal", answer.id)

    def _post_line(self, replier: Replier, text: str, *, reference: str = "help") -> None:
        key = replier.question.key
        try:
            reply_ts = replier.post_line(text, reference)
        except NotPosted as error:
            log.warning("no reply possible in %s: %s", key.channel, error.code)
            self.journal.finish(key, "failed", reason=error.code)
        else:
            self.journal.finish(key, "answered", reason=reference, reply_ts=reply_ts)
