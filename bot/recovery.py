"""Questions found again in Slack: what a process that died left behind, and what was edited since.

The journal knows which messages; their words are read from the thread, where they are.
"""

import logging
import uuid
from collections.abc import Sequence
from typing import Any

from slack_bolt import Ack

from bot.again import AGAIN, read_click, withdraw_offer
from bot.answering import Answering
from bot.app import Listener
from bot.clients import SLACK_FAILED, is_passing, slack_error
from bot.events import Identity, Key, Message, Question, read_message
from bot.journal import MAX_ATTEMPTS
from bot.records import NotedMessage
from bot.thread import read_thread, replies_of
from bot.wording import given_up

log = logging.getLogger(__name__)


class Recovery:
    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._journal = answering.journal
        self._me = answering.me
        self._statuses = answering.statuses
        self._read = answering.clients.read

    def listeners(self) -> list[Listener]:
        return [Listener("action", AGAIN, self._again)]

    def recover(self, *, at_start: bool) -> None:
        """Answer what was noted or claimed by a process that is no more, once."""
        for noted in self._journal.unfinished(at_start=at_start):
            try:
                self._recover(noted)
            except SLACK_FAILED as error:
                log.warning("could not recover %s: %s", noted.key, slack_error(error))
                if not is_passing(error):  # else it stays noted, for the next round
                    self._journal.ignore(noted.key, slack_error(error))
                    self._statuses.clear(noted.channel, noted.thread_ts)

    def _recover(self, noted: NotedMessage) -> None:
        thread = read_thread(self._read, noted.channel, noted.thread_ts)
        question = find_question(noted, thread, self._me)
        if question is None:
            self._journal.ignore(noted.key, "not found again")
        elif noted.attempts < MAX_ATTEMPTS:
            self._answering.consider(question, recovered=True, seen=thread)
            return
        elif self._journal.give_up(noted.key) and not replies_of(noted.ts, thread, self._me):
            reference = uuid.uuid4().hex[:8]
            log.warning("given up %s: reference %s", noted.key, reference)
            self._answering.tell(question, given_up(reference), reference)
        # The process that is no more may have left a status there, and nobody else clears it.
        self._statuses.clear(noted.channel, noted.thread_ts)

    def _again(self, ack: Ack, body: dict[str, Any]) -> None:
        """Answer an edited question anew."""
        channel, thread_ts, ts = read_click(body, ack)
        key = Key(self._me.team_id, channel, ts)
        noted = self._journal.message(key)
        try:
            withdraw_offer(self._answering.clients, channel, body.get("message") or {})
            thread = read_thread(self._read, channel, thread_ts)
        except SLACK_FAILED as error:
            log.warning("could not answer again: %s", slack_error(error))
            return
        question = find_question(noted, thread, self._me) if noted else None
        if question is not None and self._journal.reopen(key):
            self._answering.answer(question, thread)


def find_question(noted: NotedMessage, thread: Sequence[Message], me: Identity) -> Question | None:
    """The noted message as it stands in Slack now; None where it is gone."""
    for message in thread:
        if message.get("ts") == noted.ts:
            return read_message(
                message,
                me,
                channel=noted.channel,
                channel_type=noted.channel_type,
                is_mention=noted.is_mention,
                is_shared=noted.is_shared,
            )
    return None
