"""An edited question: its answer is made anew or called off, or another answer is offered."""

import functools
import logging
from collections.abc import Sequence

from slack_sdk import WebClient

from bot.answering.decide import Decider, QuestionHandler
from bot.answering.queue import AnswerQueue
from bot.answering.rate_limit import RateLimit
from bot.answering.short_replies import ReplyInThread
from bot.answering.stop import Stopper
from bot.journal.claims import Journal
from bot.question.event import Question
from bot.question.policy import NOT_PART, Decision
from bot.question.thread import ThreadReader, replies_to
from bot.question.thread_message import ThreadMessage
from bot.reply.again_button import offer_again
from bot.reply.wording import EDIT_LEFT_OUT
from bot.slack.clients import SLACK_FAILED, slack_error
from bot.slack.pace import retry_after

log = logging.getLogger(__name__)


class Reviser:
    def __init__(
        self,
        post: WebClient,
        threads: ThreadReader,
        journal: Journal,
        decider: Decider,
        handler: QuestionHandler,
        queue: AnswerQueue,
        stopper: Stopper,
        in_thread: ReplyInThread,
        rate_limit: RateLimit,
    ) -> None:
        self._post, self._threads, self._journal = post, threads, journal
        self._decider, self._handler = decider, handler
        self._queue, self._stopper, self._in_thread = queue, stopper, in_thread
        self._rate_limit = rate_limit

    def revise(self, question: Question) -> None:
        """Answer an edited question, or offer another answer if it was answered before the edit.

        If the edited message is not a question, call off the answer under way.
        """
        noted = self._journal.message(question.key)
        if noted is None or noted.state not in ("noted", "claimed", "answered"):
            return
        if noted.state == "noted":
            # A message that was answered in other words before is one answer more.
            if noted.claimed_at is None or self._has_room(question):
                self._handler.handle(question)
            else:
                self._journal.ignore(question.key, "edited too often")
            return
        thread = self._read_thread(question, is_answered=noted.state == "answered")
        if thread is None:
            return
        decision = self._decider.by_thread(question, thread)
        if not thread and decision.reason == NOT_PART:  # only the thread shows what it is part of
            decision = Decision("answer")
        if noted.state == "claimed":
            self._revise_pending(question, decision)
        elif decision.action == "answer" and noted.answer_id:
            for reply in replies_to(question.ts, thread)[-1:]:
                offer_again(self._post, question, reply)
        elif decision.action == "answer" and self._has_room(question):
            self._handler.answer_again(question, thread)  # the question got only a line before

    def _read_thread(
        self, question: Question, *, is_answered: bool
    ) -> Sequence[ThreadMessage] | None:
        """Read the thread. Return None if the thread is needed and Slack does not return it."""
        try:
            return self._threads.read(question.channel, question.thread_ts)
        except SLACK_FAILED as error:
            if is_answered and (seconds := retry_after(error)):
                again = functools.partial(self.revise, question)
                self._queue.later(question.key, again, seconds)
                return None
            log.warning("could not read a thread in %s: %s", question.channel, slack_error(error))
            # A question under way can be answered without its thread as it is now.
            return None if is_answered else []

    def _revise_pending(self, question: Question, decision: Decision) -> None:
        if decision.action == "answer":
            if self._has_room(question, EDIT_LEFT_OUT):
                reply = self._in_thread(question)
                self._queue.reword(reply, lambda: self._revise_again(question))
        elif decision.action == "stop":
            self._stopper.stop(question)
        else:
            self._stopper.withdraw(question, decision.reason)

    def _has_room(self, question: Question, consequence: str = "") -> bool:
        """Count an edit as a question; if there were too many, tell the editor the consequence."""
        refusal = self._rate_limit.refusal(question, is_another=True)
        if refusal:
            self._in_thread(question).whisper(f"{refusal} {consequence}".strip())
        return refusal is None

    def _revise_again(self, question: Question) -> None:
        """Handle an edit when the answer was posted meanwhile, or another process makes it."""
        noted = self._journal.message(question.key)
        if noted and noted.state == "answered":
            self.revise(question)
        elif noted and noted.state == "claimed" and not self._journal.holds(question.key):
            self._stopper.withdraw(question, "asked in other words")
            self._handler.handle(question)
