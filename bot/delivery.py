"""One question, from a free worker to its reply: status, runbook, conversation, answer, posts.

Whatever happens on the way, the asker hears of it in the thread, and nothing half done stays there.
"""

import functools
import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent.answer import Answer
from agent.conversation import Conversation
from agent.errors import Cancelled
from bot.channels import Channel
from bot.clients import Clients
from bot.database import JournalError
from bot.events import Identity, Message, Question
from bot.interim import Interim
from bot.journal import Journal
from bot.people import People
from bot.reply import NotPosted, Replier
from bot.responses import Responder
from bot.status import Status, Unseen
from bot.stream import Stream
from bot.thread import alert_text, build_conversation, notes, runbook_of
from bot.wording import INTERRUPTED, STOPPED, THINKING, failed, with_notes

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
NOWHERE = ""
"""The ts of a reply that only its asker saw: nobody can find it again."""


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
    ) -> None:
        """Answer the replier's question; ``cancel`` calls it off."""
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
            if cancel.is_set() or not self.journal.holds(question.key):
                self._call_off(question, stream, over)
            else:
                self._post(replier, answer, over, stream)
        except Cancelled:
            log.info("answer called off in %s", question.channel)
            self._call_off(question, stream, over)
        except NotPosted as error:
            log.warning("no reply possible in %s: %s", question.channel, error.code)
            self.journal.finish(question.key, "failed", reason=error.code)
        except Exception:  # the edge of an answer: whatever happened, the asker hears of it
            reference = uuid.uuid4().hex[:8]
            log.exception("answer %s failed", reference)
            if stream is not None and stream.end(failed(reference)):
                reply_ts = stream.ts
                self.journal.finish(question.key, "answered", reason=reference, reply_ts=reply_ts)
            else:
                self.post_line(replier, failed(reference), reference=reference)

    def post_line(self, replier: Replies, text: str, *, reference: str = "help") -> None:
        """A short line as the reply."""
        key = replier.question.key
        try:
            reply_ts = replier.post_line(text, reference)
        except NotPosted as error:
            log.warning("no reply possible in %s: %s", key.channel, error.code)
            self.journal.finish(key, "failed", reason=error.code)
        else:
            self.journal.finish(key, "answered", reason=reference, reply_ts=reply_ts)

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

    def _post(self, replier: Replies, answer: Answer, over: Interim | None, stream: Stream) -> None:
        question = replier.question
        if answer.verdict == "failed":
            log.warning("answer %s failed: %s", answer.id, answer.reason)
            over = None  # the runbook is worth more than a line that says there is no answer
        messages = list(self.render(answer))
        messages[0] = with_notes(messages[0], notes(question))
        journal = self.journal
        # Before anybody can press its buttons; afterwards only its place is added, so that a click
        # that came meanwhile keeps what it did.
        self._keep(functools.partial(journal.record, question, answer, None), answer)
        if isinstance(replier, Responder):
            replier.show_answer(answer, messages)
            reply_ts = NOWHERE
        elif self.channel(question.channel).ephemeral:
            replier.whisper_answer(messages)
            reply_ts = NOWHERE
        else:
            reply_ts = replier.post_answer(answer, messages, over.ts if over else None, stream)
        answered = functools.partial(journal.finish, question.key, "answered")
        self._keep(functools.partial(answered, reply_ts=reply_ts, answer_id=answer.id), answer)
        self._keep(functools.partial(journal.place, answer.id, reply_ts), answer)

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
