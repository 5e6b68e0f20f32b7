"""Questions that a process which died left behind: found again in Slack, and answered.

The journal knows which messages; their words are read from the thread, where they are.
"""

import logging
import uuid
from collections.abc import Sequence

from bot.answering.decide import Answering
from bot.journal.claims import MAX_ATTEMPTS
from bot.journal.records import NotedMessage
from bot.question.event import Question, by_hand, read_message
from bot.question.thread import read_thread, replies_of
from bot.reply.wording import given_up
from bot.slack.clients import SLACK_FAILED, may_heal, slack_error
from bot.slack.identity import Identity, Message

log = logging.getLogger(__name__)


class Recovery:
    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._journal = answering.journal
        self._me = answering.me
        self._statuses = answering.statuses
        self._read = answering.clients.read

    def recover(self, *, at_start: bool) -> None:
        """Answer what was noted or claimed by a process that is no more, once."""
        for noted in self._journal.unfinished(at_start=at_start):
            try:
                self._recover(noted)
            except SLACK_FAILED as error:
                log.warning("could not recover %s: %s", noted.key, slack_error(error))
                if not may_heal(error):  # else it stays noted, for the next round
                    self._journal.ignore(noted.key, slack_error(error))
                    self._statuses.clear(noted.channel, noted.thread_ts)

    def _recover(self, noted: NotedMessage) -> None:
        if noted.origin == "command":  # its words were nowhere but in the process that is no more
            return self._journal.ignore(noted.key, "asked in private")
        thread = read_thread(self._read, noted.channel, noted.thread_ts)
        question = find_question(noted, thread, self._me)
        if question is None:
            self._journal.ignore(noted.key, "not found again")
        elif noted.attempts < MAX_ATTEMPTS:
            return self._answering.consider(question, thread)
        elif self._journal.give_up(noted.key) and not replies_of(
            noted.ts, thread, self._me, but=noted.answer_id
        ):
            reference = uuid.uuid4().hex[:8]
            log.warning("given up %s: reference %s", noted.key, reference)
            self._answering.tell(question, given_up(reference), reference)
        # The process that is no more may have left a status there, and nobody else clears it.
        return self._statuses.clear(noted.channel, noted.thread_ts)


def find_question(noted: NotedMessage, thread: Sequence[Message], me: Identity) -> Question | None:
    """The noted message as it stands in Slack now; None where it is gone."""
    sought = noted.about or noted.ts
    for message in thread:
        if message.get("ts") == sought:
            if noted.origin == "shortcut":
                place = {"thread_ts": noted.thread_ts, "about": sought}
                return by_hand("shortcut", noted.key, noted.user, **place)
            return read_message(
                message,
                me,
                channel=noted.channel,
                channel_type=noted.channel_type,
                is_mention=noted.is_mention,
                is_shared=noted.is_shared,
            )
    return None
