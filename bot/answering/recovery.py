"""Questions that a dead process left behind: found again in Slack, and answered.

Their text is read from the thread, since the journal need not have it.
"""

import logging
import uuid
from collections.abc import Sequence
from dataclasses import replace

from bot.answering.decide import QuestionHandler
from bot.answering.short_replies import ReplyInThread, ShortReplies
from bot.journal.agent_sessions import AgentSessions
from bot.journal.claims import MAX_ATTEMPTS, Journal
from bot.journal.records import NotedMessage
from bot.question.event import Question, by_hand, read_question
from bot.question.thread import ThreadReader, replies_to
from bot.question.thread_message import ThreadMessage
from bot.reply.in_private import say_later
from bot.reply.status import Session, Statuses
from bot.reply.wording import LOST, given_up
from bot.slack.clients import SLACK_FAILED, may_heal, slack_error
from bot.slack.identity import Identity
from bot.slack.pace import is_limited

log = logging.getLogger(__name__)


class Recovery:
    def __init__(
        self,
        threads: ThreadReader,
        journal: Journal,
        handler: QuestionHandler,
        statuses: Statuses,
        sessions: AgentSessions,
        short: ShortReplies,
        in_thread: ReplyInThread,
    ) -> None:
        self._threads, self._journal, self._handler = threads, journal, handler
        self._statuses, self._sessions = statuses, sessions
        self._short, self._in_thread = short, in_thread

    def recover(self, *, at_start: bool) -> None:
        """Answer questions that a dead process left behind, and end the sessions that it left."""
        for noted in self._journal.unfinished(at_start=at_start):
            try:
                self._recover(noted)
            except SLACK_FAILED as error:
                log.warning("could not recover %s: %s", noted.key, slack_error(error))
                if is_limited(error):  # for all the others as well
                    break
                if not may_heal(error):  # else the question stays noted, for the next round
                    self._journal.ignore(noted.key, slack_error(error))
                    self._statuses.clear(noted.channel, noted.thread_ts)

        for left in self._sessions.left():
            if not self._statuses.is_open(left.key):
                state: Session = "closed" if left.session == "closed" else "active"
                self._statuses.end_session(left.key, left.thread_ts, state)

    def _recover(self, noted: NotedMessage) -> None:
        if noted.origin == "command":
            self._tell_lost(noted)
            return
        thread = self._threads.read(noted.channel, noted.thread_ts)
        question = find_question(noted, thread, self._threads.me)
        if question and noted.attempts < MAX_ATTEMPTS:
            self._handler.handle(question, thread)
            return
        if question is None:
            self._journal.ignore(noted.key, "not found again")
        elif self._journal.give_up(noted.key) and not replies_to(
            noted.ts, thread, superseded=noted.answer_id
        ):
            self._tell_given_up(question)
        # The dead process may have left a status, and nobody else clears it.
        self._statuses.clear(noted.channel, noted.thread_ts)

    def _tell_lost(self, noted: NotedMessage) -> None:
        """Tell who asked in private: only the dead process had the words of the question."""
        if noted.response_url is None or noted.attempts >= MAX_ATTEMPTS:
            self._journal.ignore(noted.key, "asked in private")
        elif self._journal.claim(noted.key):  # of all replicas one says it
            client = self._threads.client
            if say_later(noted.response_url, LOST, client.proxy):
                self._journal.finish(noted.key, "failed", reason="interrupted")
            else:
                self._journal.release(noted.key)

    def _tell_given_up(self, question: Question) -> None:
        reference = uuid.uuid4().hex[:8]
        log.warning("given up %s: reference %s", question.key, reference)
        reply, later = self._in_thread(question), self._journal.reopen
        self._short.send(reply, given_up(reference), reference=reference, later=later)


def find_question(
    noted: NotedMessage, thread: Sequence[ThreadMessage], me: Identity
) -> Question | None:
    """Read a noted message in its thread as it is now. Return None if it was deleted."""
    wanted = noted.about or noted.ts
    message = next((message for message in thread if message.ts == wanted), None)
    if message is None:
        return None
    if noted.origin == "shortcut":
        place = {"thread_ts": noted.thread_ts, "about": wanted}
        question = by_hand("shortcut", noted.key, noted.user, **place)
        return replace(question, payer=noted.payer)
    found = read_question(
        message,
        me,
        channel=noted.channel,
        channel_type=noted.channel_type,
        is_mention=noted.is_mention,
        is_shared=noted.is_shared or None,  # it may have been shared since
    )
    return replace(found, payer=noted.payer) if found else None
