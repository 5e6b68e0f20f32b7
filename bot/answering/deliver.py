"""One question, from a free worker to its reply: status, runbook, conversation, answer, posts.

If a step fails, a line in the thread tells the asker, and no unfinished message stays there.
"""

import functools
import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent.answer import Answer
from agent.conversation import Answerer
from agent.errors import Cancelled
from bot.answering.short_replies import ShortReplies
from bot.answering.unsent import UnsentAnswer, end_preview, record
from bot.channels import Channel
from bot.journal.claims import Journal
from bot.journal.database import JournalError
from bot.journal.records import NotedMessage
from bot.question.event import Key, Question
from bot.question.thread import ThreadReader, is_complete, replies_to, runbook_for
from bot.question.thread_message import ThreadMessage
from bot.question.turns import alert_text, build_conversation, unread_notes
from bot.reply.outgoing import ReplyPlace
from bot.reply.runbook_first import PostedRunbook
from bot.reply.status import Status
from bot.reply.stream import Stream
from bot.reply.wording import NOT_KEPT, THINKING, failed, with_notes
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from bot.slack.identity import Identity, SlackMessage

log = logging.getLogger(__name__)


Render = Callable[[Answer], Sequence[SlackMessage]]
"""An answer -> the messages that carry it."""
FindRunbook = Callable[[str, Channel], SlackMessage | None]
"""The text of an alert, and the channel's settings -> the message with its runbook."""


@dataclass(frozen=True, slots=True)
class Delivery:
    clients: Clients
    me: Identity
    name_of: Callable[[str], str | None]
    """The name of a user or a channel, by id."""
    journal: Journal
    agent: Answerer
    render: Render
    find_runbook: FindRunbook
    may_stream: Callable[[Question], bool]
    """Returns True if a public reply may be shown while it is written."""
    channel: Callable[[str], Channel]
    """The settings of a channel."""
    short: ShortReplies

    def deliver(
        self,
        reply: ReplyPlace,
        thread: Sequence[ThreadMessage],
        status: Status,
        cancel: threading.Event,
        asked_at: float,
    ) -> UnsentAnswer | None:
        """Answer the reply's question, and post the answer; ``cancel`` calls it off.

        The time for the answer begins at ``asked_at``, a monotonic time.
        Return the answer, posted or waiting. Return None if it failed or was called off.
        """
        question = reply.question
        noted = self.journal.message(question.key)
        stream: Stream | None = None
        runbook: PostedRunbook | None = None
        try:
            status.show(THINKING)
            runbook = self._post_runbook(reply, thread, status)
            stream = Stream(
                self.clients,
                self.me,
                question,
                functools.partial(self._stream_began, question, status),
                wanted=runbook is None and not reply.is_private and self.may_stream(question),
                unfinished_ts=noted.reply_ts if noted else None,
            )
            answer = self._ask(question, thread, status, stream, cancel, asked_at)
            is_wanted = not cancel.is_set() and self.is_wanted(question.key)
            other = self._other_reply(reply, noted) if is_wanted else None
            if other and not cancel.is_set():
                self.journal.finish(question.key, "answered", reply_ts=other)
                for preview in (stream, runbook):
                    if preview:
                        preview.remove()
                return None
            if is_wanted and not cancel.is_set():
                unsent = self._ready(reply, answer, runbook, stream)
                unsent.post(status)
                return unsent
            end_preview(self.journal, question.key, stream, runbook)
        except Cancelled:
            log.info("answer called off in %s", question.channel)
            end_preview(self.journal, question.key, stream, runbook)
        except Exception:  # any failure: a line tells the asker
            reference = uuid.uuid4().hex[:8]
            log.exception("answer %s failed", reference)
            self._tell_failed(reply, stream, runbook, reference)
        return None

    def is_wanted(self, key: Key) -> bool:
        """Return True while the claim holds, or while the database cannot be reached."""
        try:
            return self.journal.holds(key)
        except JournalError as error:
            log.warning("A claim could not be looked up: %s", error)
            return True

    def _other_reply(self, reply: ReplyPlace, noted: NotedMessage | None) -> str | None:
        """Return the timestamp of a reply that another process posted while no claim held."""
        question = reply.question
        if reply.is_private or not self.journal.is_apart:
            return None
        try:
            reader = ThreadReader(self.clients.read, self.me)
            thread = reader.read(question.channel, question.thread_ts)
        except SLACK_FAILED as error:
            log.info("could not read a thread in %s: %s", question.channel, slack_error(error))
            return None
        superseded = noted.answer_id if noted else None
        replies = replies_to(question.ts, thread, superseded=superseded)
        return replies[0].ts if is_complete(replies) else None

    def _ask(
        self,
        question: Question,
        thread: Sequence[ThreadMessage],
        status: Status,
        stream: Stream,
        cancel: threading.Event,
        asked_at: float,
    ) -> Answer:
        def show(answer: Answer) -> bool:
            is_shown = not cancel.is_set() and stream.show(answer)
            if stream.stopped:
                self.journal.finish(question.key, "stopped", reason="told to stop")
                cancel.set()
            return is_shown

        conversation = build_conversation(question, thread, self.me, self.name_of)
        conversation = replace(conversation, waited=time.monotonic() - asked_at)
        return self.agent.answer(
            self.channel(question.channel).applied_to(conversation),
            on_progress=status.progress,
            on_paragraph=show if stream.is_usable else None,
            cancel=cancel,
        )

    def _stream_began(self, question: Question, status: Status, ts: str) -> None:
        """Hide the status, since the growing reply says more, and record the reply."""
        status.show("")
        self.journal.begin_reply(question.key, ts)

    def _post_runbook(
        self, reply: ReplyPlace, thread: Sequence[ThreadMessage], status: Status
    ) -> PostedRunbook | None:
        """Post the runbook of an alert at once. The answer replaces it."""
        question = reply.question
        channel = self.channel(question.channel)
        if reply.is_private or not channel.runbook_at_once:
            return None
        if not (text := alert_text(question, thread)):
            return None
        posted = runbook_for(question.ts, thread)
        if posted is None and (message := self.find_runbook(text, channel)):
            status.show("has found the runbook and reads on…")
            posted = reply.post_runbook(message)
        return PostedRunbook(self.clients, self.me, question, posted) if posted else None

    def _ready(
        self, reply: ReplyPlace, answer: Answer, runbook: PostedRunbook | None, stream: Stream
    ) -> UnsentAnswer:
        question = reply.question
        if answer.verdict == "failed":
            log.warning("answer %s failed: %s", answer.id, answer.reason)
            runbook = None  # the runbook stays: it helps more than a failure line
        messages = list(self.render(answer))
        notes = [*unread_notes(question), *([NOT_KEPT] if self.journal.is_away else [])]
        messages[0] = with_notes(messages[0], notes)
        # The answer is recorded before anybody can press its buttons. Later only its timestamp in
        # Slack is added, so that an early click is kept.
        record(lambda: self.journal.record(question, answer, None), answer.id)
        outgoing = reply.outgoing(answer, messages, runbook.ts if runbook else None, stream)
        return UnsentAnswer(self.journal, self.short, reply, answer, outgoing, stream, runbook)

    def _tell_failed(
        self,
        reply: ReplyPlace,
        stream: Stream | None,
        runbook: PostedRunbook | None,
        reference: str,
    ) -> None:
        key, line = reply.question.key, failed(reference)
        if stream is not None and stream.end(line):
            self.journal.finish(key, "answered", reason=reference, reply_ts=stream.ts)
        else:
            self.short.send(reply, line, reference=reference, later=self.journal.reopen)
        if runbook:  # it promises an answer
            runbook.end(line)
