"""One question, from a free worker to its reply: status, runbook, conversation, answer, posts.

Whatever happens on the way, the asker hears of it in the thread, and nothing half done stays there.
An answer that Slack does not take comes back as ``Unsent``, to be posted again later.
"""

import functools
import logging
import threading
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent.answer import Answer
from agent.conversation import Conversation
from agent.errors import Cancelled
from bot.blocks.around import AGAIN
from bot.blocks.elements import actions, button, section
from bot.channels import Channel
from bot.journal.claims import Journal
from bot.journal.database import JournalError
from bot.question.event import Key, Question
from bot.question.thread import alert_text, build_conversation, notes, runbook_of
from bot.reply.in_private import NOWHERE, Responder
from bot.reply.in_thread import Replier
from bot.reply.outgoing import NotPosted, Outgoing, Part, Unposted, line_part
from bot.reply.runbook_first import Interim
from bot.reply.status import Status, Unseen
from bot.reply.stream import Stream
from bot.reply.wording import (
    INTERRUPTED,
    NOT_TAKEN,
    STOPPED,
    THINKING,
    WAITING_FOR_SLACK,
    failed,
    never_taken,
    refused,
    with_notes,
)
from bot.slack.clients import GONE, Clients
from bot.slack.identity import Identity, Message
from bot.slack.people import People

log = logging.getLogger(__name__)


class Answers(Protocol):
    """The agent, as seen from here. Raises Cancelled once ``cancel`` is set."""

    def answer(
        self,
        conversation: Conversation,
        *,
        on_progress: Any = None,
        on_paragraph: Any = None,
        cancel: Any = None,
    ) -> Answer: ...


Render = Callable[[Answer], Sequence[dict[str, Any]]]
"""An answer -> the messages that carry it."""
Runbook = Callable[[str, Channel], dict[str, Any] | None]
"""The text of an alert, and where it is asked about -> the message with its runbook."""
Replies = Replier | Responder
Shown = Status | Unseen


@dataclass(slots=True)
class Unsent:
    """An answer that is ready, and that Slack has not taken whole yet."""

    replier: Replies
    answer: Answer
    outgoing: Outgoing
    stream: Stream
    over: Interim | None
    code: str = ""
    """Slack's last error."""


@dataclass(frozen=True, slots=True)
class Delivery:
    clients: Clients
    me: Identity
    people: People
    journal: Journal
    agent: Answers
    render: Render
    runbook: Runbook | None
    streams: Callable[[Question], bool]
    """Whether a reply may be shown while it is written."""
    channel: Callable[[str], Channel]
    """What is configured for a channel."""

    def deliver(
        self,
        replier: Replies,
        thread: Sequence[Message],
        status: Shown,
        cancel: threading.Event,
    ) -> Unsent | bool:
        """Answer the replier's question; ``cancel`` calls it off.

        True when Slack has taken the answer, False when there is none to take; an Unsent waits.
        """
        question = replier.question
        noted = self.journal.message(question.key)
        stream: Stream | None = None
        over: Interim | None = None
        try:
            status.show(THINKING)
            over = self._runbook_first(replier, thread, status)
            stream = Stream(
                self.clients,
                self.me,
                question,
                functools.partial(self._began, question, status),
                wanted=over is None and self.streams(question),
                left=noted.reply_ts if noted else None,
            )
            answer = self._answer(question, thread, status, stream, cancel)
            if not cancel.is_set() and self.is_wanted(question.key):
                return self.post(self._ready(replier, answer, over, stream), status)
            self._call_off(question, stream, over)
        except Cancelled:
            log.info("answer called off in %s", question.channel)
            self._call_off(question, stream, over)
        except Exception:  # the edge of an answer: whatever happened, the asker hears of it
            reference = uuid.uuid4().hex[:8]
            log.exception("answer %s failed", reference)
            if stream is not None and stream.end(failed(reference)):
                reply_ts = stream.ts
                self.journal.finish(question.key, "answered", reason=reference, reply_ts=reply_ts)
            else:
                later = self.journal.reopen
                self.post_line(replier, failed(reference), reference=reference, later=later)
        return False

    def post(self, unsent: Unsent, status: Shown) -> Unsent | bool:
        """Post what Slack has not taken yet: True when it takes it, False when it never will."""
        question, answer = unsent.replier.question, unsent.answer
        try:
            ts = unsent.outgoing.post()
        except Unposted as error:
            level = logging.DEBUG if unsent.code else logging.WARNING  # once an answer
            log.log(level, "answer %s waits for Slack: %s", answer.id, error.code)
            unsent.code = error.code
            self._keep(lambda: self.journal.unposted(question.key, unsent.code), answer)
            status.show(WAITING_FOR_SLACK)
            return unsent
        except NotPosted as error:
            self._refused(unsent.replier, error.code, unsent.over)
            return False
        if unsent.code:
            log.warning("answer %s: Slack has taken it at last", answer.id)
        is_seen_by_all = isinstance(unsent.replier, Replier) and not self._is_whispered(question)
        reply_ts = ts if is_seen_by_all else NOWHERE
        answered = functools.partial(self.journal.finish, question.key, "answered")
        self._keep(lambda: answered(reply_ts=reply_ts, answer_id=answer.id), answer)
        self._keep(lambda: self.journal.place(answer.id, reply_ts), answer)
        return True

    def apologise(self, unsent: Unsent, status: Shown) -> Unsent | bool:
        """Put a line that offers to try again in the place of an answer that may be out of date."""
        replier = unsent.replier
        question = replier.question
        again = actions(AGAIN, [button(AGAIN, "Try again", f"{question.thread_ts} {question.ts}")])
        blocks = [section(NOT_TAKEN), *([again] if question.origin == "message" else [])]
        # In place of a half that grew, and for whom the answer was; but not of the runbook.
        over, half, send = unsent.over, unsent.outgoing.posted, unsent.outgoing.send

        def send_line(part: Part, is_uncertain: bool) -> str:
            ts = replier.send(part, is_uncertain) if over else send(part, is_uncertain)
            # Only now: as long as Slack does not take the line, it may refuse this, too.
            if isinstance(replier, Replier):
                replier.take_back([{"ts": each} for each in half if each != ts])
            if over:
                over.end(NOT_TAKEN)
            return ts

        part = line_part(question, NOT_TAKEN, unsent.answer.id, blocks)
        unsent.outgoing = Outgoing(deque([part]), send_line)
        return self.post(unsent, status)

    def give_up(self, unsent: Unsent) -> None:
        """Slack has taken neither the answer nor the line."""
        line = never_taken(unsent.replier.question.channel)
        self._refused(unsent.replier, unsent.code, unsent.over, line)

    def is_wanted(self, key: Key) -> bool:
        """Whether the claim still holds; a database that is away calls no answer off."""
        try:
            return self.journal.holds(key)
        except JournalError as error:
            log.warning("A claim could not be looked up: %s", error)
            return True

    def call_off(self, unsent: Unsent) -> None:
        """The answer is no longer wanted: what Slack has taken of it goes, or says so."""
        replier = unsent.replier
        if isinstance(replier, Replier):
            replier.take_back([{"ts": ts} for ts in unsent.outgoing.posted])
        self._call_off(replier.question, unsent.stream, unsent.over)

    def post_line(
        self,
        replier: Replies,
        text: str,
        *,
        reference: str = "help",
        later: Callable[[Key], None] | None = None,
    ) -> None:
        """A short line as the reply.

        ``later`` leaves a question to the recovery when Slack does not take the line now; by
        default as one that nobody has begun to answer.
        """
        key = replier.question.key
        try:
            reply_ts = replier.post_line(text, reference)
        except Unposted as error:
            log.warning("no reply yet in %s: %s", key.channel, error.code)
            (later or self.journal.release)(key)
        except NotPosted as error:
            self._refused(replier, error.code)
        else:
            self.journal.finish(key, "answered", reason=reference, reply_ts=reply_ts)

    def _refused(
        self, replier: Replies, code: str, over: Interim | None = None, line: str = ""
    ) -> None:
        """Slack will not take the reply there: the asker is told, wherever Slack takes it."""
        question = replier.question
        log.warning("no reply possible in %s: %s", question.channel, code)
        self.journal.finish(question.key, "failed", reason=code)
        if code in GONE:
            return  # with its question: nobody waits
        elsewhere = Replier(self.clients.post, question)
        line = line or refused(question.channel, code)
        if over:
            over.end(line)  # the runbook promises an answer
        if not elsewhere.whisper(line):
            elsewhere.tell_elsewhere(line)

    def _answer(
        self,
        question: Question,
        thread: Sequence[Message],
        status: Shown,
        stream: Stream,
        cancel: threading.Event,
    ) -> Answer:
        def show(answer: Answer) -> bool:
            seen = not cancel.is_set() and stream.show(answer)
            if stream.stopped:
                self.journal.finish(question.key, "stopped", reason="told to stop")
                cancel.set()
            return seen

        conversation = self.channel(question.channel).applied_to(
            build_conversation(question, thread, self.me, self.people.name)
        )
        return self.agent.answer(
            conversation,
            on_progress=status.progress,
            on_paragraph=show if stream.is_usable else None,
            cancel=cancel,
        )

    def _began(self, question: Question, status: Shown, ts: str) -> None:
        """The reply grows in the thread: that says more than any status."""
        status.show("")
        self.journal.begin_reply(question.key, ts)

    def _runbook_first(
        self, replier: Replies, thread: Sequence[Message], status: Shown
    ) -> Interim | None:
        """Under an alert that names its runbook: post that at once; the answer takes its place."""
        question, channel = replier.question, self.channel(replier.question.channel)
        if isinstance(replier, Responder) or channel.ephemeral or not channel.runbook_at_once:
            return None
        if self.runbook is None or not (text := alert_text(question, thread, self.me)):
            return None
        posted = runbook_of(question.ts, thread, self.me)
        if posted is None and (message := self.runbook(text, channel)):
            status.show("has found the runbook and reads on…")
            posted = replier.post_runbook(message)
        return Interim(self.clients, question, posted) if posted else None

    def _ready(
        self, replier: Replies, answer: Answer, over: Interim | None, stream: Stream
    ) -> Unsent:
        question = replier.question
        if answer.verdict == "failed":
            log.warning("answer %s failed: %s", answer.id, answer.reason)
            over = None  # the runbook is worth more than a line that says there is no answer
        messages = list(self.render(answer))
        messages[0] = with_notes(messages[0], notes(question))
        # Before anybody can press its buttons; afterwards only its place is added, so that a click
        # that came meanwhile keeps what it did.
        self._keep(lambda: self.journal.record(question, answer, None), answer)
        if isinstance(replier, Responder):
            outgoing = replier.outgoing(answer, messages)
        elif self._is_whispered(question):
            outgoing = replier.whispered(answer, messages)
        else:
            outgoing = replier.outgoing(answer, messages, over.ts if over else None, stream)
        return Unsent(replier, answer, outgoing, stream, over)

    def _is_whispered(self, question: Question) -> bool:
        return self.channel(question.channel).ephemeral

    def _call_off(self, question: Question, stream: Stream | None, over: Interim | None) -> None:
        """What was shown of an answer that will not come: gone with its question, or said so."""
        noted = self.journal.message(question.key)
        state = noted.state if noted else None
        for shown in (stream, over):
            if shown and state in ("deleted", "ignored"):
                shown.remove()
            elif shown and state == "stopped":
                shown.end(STOPPED)
        if stream and state == "noted":
            stream.end(INTERRUPTED)

    def _keep(self, write: Callable[[], None], answer: Answer) -> None:
        """Write to the journal; a database that is away costs nobody their answer.

        The reply's metadata keeps it from coming twice even so.
        """
        try:
            write()
        except JournalError:
            log.exception("answer %s is not in the journal", answer.id)
