"""Question -> decision, and its consequence: answer, help, stop, refusal or silence.

Runs right after Slack got its acknowledgement, and quickly: answers are made on the bounded pool
(``bot/answering/queue.py``).
"""

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.answering.queue import AnswerQueue
from bot.answering.rate_limit import RateLimit
from bot.answering.short_replies import ReplyInThread, ShortReplies
from bot.answering.stop import Stopper
from bot.channels import Channel
from bot.journal.claims import Journal
from bot.question.access import TRY_AGAIN, Access, Asker
from bot.question.event import Question
from bot.question.policy import Decision, decide
from bot.question.thread import ThreadReader, is_complete, replies_to
from bot.question.thread_message import ThreadMessage
from bot.question.turns import unread_notes
from bot.reading.mrkdwn import escape
from bot.reply.outgoing import ReplyPlace
from bot.reply.wording import BUSY, HELP, UNREADABLE
from bot.slack.clients import SLACK_FAILED, slack_error
from bot.slack.identity import Identity
from bot.slack.pace import retry_after
from bot.slack.people import People

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides about questions, by the rules and by facts of the workspace and the journal."""

    me: Identity
    people: People
    journal: Journal
    access: Access
    channel: Callable[[str], Channel]
    """The settings of a channel."""

    def by_thread(self, question: Question, thread: Sequence[ThreadMessage]) -> Decision:
        """Decide by question and thread, without the channel's settings and the asker's rights."""
        in_thread = self.journal.in_thread(question.team, question.channel, question.thread_ts)
        is_answering = any(noted.ts < question.ts for noted in in_thread)
        name_of = self.people.name
        return decide(question, thread, self.me, is_answering=is_answering, name_of=name_of)

    def decide(self, question: Question, thread: Sequence[ThreadMessage]) -> Decision:
        """Decide by thread, channel and asker."""
        decision = self.by_thread(question, thread)
        if decision.action == "ignore":
            return decision
        may_follow_up = question.is_called or self.channel(question.channel).follow_ups
        if decision.action == "answer" and not may_follow_up:
            return Decision("ignore", "only mentions are answered here")
        if self.people.is_bot(question.user or ""):
            return Decision("ignore", "a bot")
        refusal = self.access.refusal(Asker.of(question))
        if refusal is None:
            return decision
        is_told = question.is_called or refusal == TRY_AGAIN
        return Decision("refuse", refusal) if is_told else Decision("ignore", "may not ask")


class QuestionHandler:
    """Claims the questions that need an answer, and carries out each decision."""

    def __init__(
        self,
        threads: ThreadReader,
        decider: Decider,
        journal: Journal,
        rate_limit: RateLimit,
        queue: AnswerQueue,
        stopper: Stopper,
        short: ShortReplies,
        in_thread: ReplyInThread,
    ) -> None:
        self._threads, self._decider, self._journal = threads, decider, journal
        self._rate_limit, self._queue, self._stopper = rate_limit, queue, stopper
        self._short, self._in_thread = short, in_thread

    def handle(
        self,
        question: Question,
        thread: Sequence[ThreadMessage] | None = None,
        *,
        excerpt: Sequence[ThreadMessage] = (),
    ) -> Decision | None:
        """Decide about a noted question, and carry the decision out.

        A ``thread`` of None is read from Slack; ``excerpt`` replaces a thread that Slack does not
        return. Return None if nothing was decided: the question is answered already, or its thread
        is read again later.
        """
        if thread is None:
            try:
                thread = self._read_thread(question)
            except SLACK_FAILED as error:
                if seconds := retry_after(error):
                    again = functools.partial(self.handle, question, excerpt=excerpt)
                    self._queue.later(question.key, again, seconds)
                    return None
                code = slack_error(error)
                log.warning("could not read a thread in %s: %s", question.channel, code)
        if thread is None and excerpt:
            thread = excerpt
        if thread is None and not question.is_called:
            return None
        replies = self._replies(question, thread or ())
        if is_complete(replies):
            self._journal.found_answered(question.key, replies[0].ts)
            return None
        decision = self._decider.decide(question, thread or ())
        if decision.action == "ignore":
            self._journal.ignore(question.key, decision.reason)
        elif self._journal.claim(question.key):
            if question.may_be_elsewhere and self._journal.is_apart:
                self._journal.release(question.key)  # the recovery looks for a reply first
                return None
            reply = self._in_thread(question)
            reply.take_back(message.ts for message in replies)
            self._carry_out(self._limited(question, decision), reply, thread)
        return decision

    def answer_again(self, question: Question, thread: Sequence[ThreadMessage]) -> None:
        """Answer an answered question once more."""
        if self._journal.claim_again(question.key, question.payer):
            self._carry_out(Decision("answer"), self._in_thread(question), thread)

    def answer_privately(self, reply: ReplyPlace) -> None:
        """Answer the question of a command; only its asker sees the reply."""
        question = reply.question
        self._journal.note(question)
        if self._journal.claim(question.key):
            self._carry_out(self._limited(question, Decision("answer")), reply, [])

    def _read_thread(self, question: Question) -> list[ThreadMessage]:
        """Read the thread if there can be one. Raises what Slack fails with."""
        may_be_answered = question.edited or question.retried or self._journal.is_apart
        if not (question.in_thread or may_be_answered):
            return []
        return self._threads.read(question.channel, question.thread_ts)

    def _replies(
        self, question: Question, thread: Sequence[ThreadMessage]
    ) -> Sequence[ThreadMessage]:
        """Footnote's messages in the thread that answer this question.

        A superseded answer does not count.
        """
        noted = self._journal.message(question.key) if thread else None
        superseded = noted.answer_id if noted and noted.state != "answered" else None
        return replies_to(question.ts, thread, superseded=superseded)

    def _limited(self, question: Question, decision: Decision) -> Decision:
        if decision.action != "answer":
            return decision
        refusal = self._rate_limit.refusal(question)
        return Decision("refuse", refusal) if refusal else decision

    def _carry_out(
        self, decision: Decision, reply: ReplyPlace, thread: Sequence[ThreadMessage] | None
    ) -> None:
        """Carry out a decision about a claimed question; ``thread`` is None if unreadable."""
        question = reply.question
        match decision.action:
            case "refuse":
                self._refuse(reply, decision.reason, decision.reason[:200])
            case "stop":
                self._journal.finish(question.key, "stopped", reason="told to stop")
                self._stopper.stop(question)
            case "help":
                notes = [escape(line) for line in unread_notes(question, thread or ())]
                line = UNREADABLE if thread is None else HELP
                self._short.send(reply, " ".join([*notes, line]))
            case "answer":
                if not self._queue.add(reply, thread or ()):
                    self._refuse(reply, BUSY, "queue full")

    def _refuse(self, reply: ReplyPlace, line: str, reason: str) -> None:
        reply.whisper(line)
        self._journal.finish(reply.question.key, "refused", reason=reason)
