"""Answers called off: by a word, by Slack's Stop button, by an edit or a deletion."""

import logging

from slack_sdk import WebClient

from bot.answering.queue import AnswerQueue
from bot.answering.short_replies import ReplyInThread, ShortReplies
from bot.journal.claims import Journal
from bot.question.event import Deleted, Key, Question, by_hand
from bot.reply.status import Session, Statuses
from bot.reply.wording import STOPPED_EARLY
from bot.slack.clients import SLACK_FAILED, slack_error

log = logging.getLogger(__name__)


class Stopper:
    def __init__(
        self,
        team_id: str,
        hint: WebClient,
        journal: Journal,
        queue: AnswerQueue,
        statuses: Statuses,
        short: ShortReplies,
        in_thread: ReplyInThread,
    ) -> None:
        self._team_id, self._hint, self._journal = team_id, hint, journal
        self._queue, self._statuses = queue, statuses
        self._short, self._in_thread = short, in_thread

    def stop(self, question: Question) -> None:
        """Call off the answers of a thread in which somebody told Footnote to stop.

        That message in the thread keeps Footnote silent there from now on.
        """
        if not self.stop_thread(question.channel, question.thread_ts, session="closed"):
            self._statuses.session(question.channel, question.thread_ts, "closed")
        try:
            self._hint.reactions_add(channel=question.channel, timestamp=question.ts, name="mute")
        except SLACK_FAILED as error:
            log.info("could not acknowledge a stop: %s", slack_error(error))

    def stop_thread(self, channel: str, thread_ts: str, session: Session = "active") -> bool:
        """Call off the answers of a thread, in this process and in all others.

        Return True if one was under way here. The Stop button posts no message, so a line confirms
        the stop unless a part of the answer is shown.
        """
        was_under_way = False
        for noted in self._journal.in_thread(self._team_id, channel, thread_ts):
            if noted.state != "claimed":
                continue
            self._journal.finish(noted.key, "stopped", reason="told to stop")
            question = self._queue.call_off(noted.key, session)
            was_under_way |= question is not None
            if question and session == "active" and not noted.reply_ts:
                later = self._journal.reopen
                reply = self._in_thread(question)
                self._short.send(reply, STOPPED_EARLY, reference="stopped", later=later)
        return was_under_way

    def refuse(self, user: str, channel: str, thread_ts: str, refusal: str) -> None:
        """Tell a person why their press of the Stop button stops nothing."""
        place = by_hand("shortcut", Key(self._team_id, channel, ""), user, thread_ts=thread_ts)
        self._in_thread(place).whisper(refusal)

    def withdraw(self, question: Question, reason: str) -> None:
        """Call off the answer to a message that is not a question any more after an edit."""
        self._journal.withdraw(question.key, reason)
        self._queue.call_off(question.key)

    def forget(self, deleted: Deleted) -> None:
        """Call off the answer to a deleted question."""
        noted = self._journal.message(deleted.key)
        self._journal.delete(deleted.key)
        question = self._queue.call_off(deleted.key)
        if question is None and noted and noted.attempts and noted.state in ("noted", "claimed"):
            # Another process began to answer. If that process is dead, only this one can clear its
            # status.
            self._statuses.clear(noted.channel, noted.thread_ts)
