"""Questions found again in Slack: what a process that died left behind, and what was edited since.

The journal knows which messages; their words are read from the thread, where they are.
"""

import logging
import uuid
from collections.abc import Sequence
from typing import Any

from slack_bolt import Respond

from bot.again import AGAIN, clicker, read_click, withdraw_offer
from bot.answering import Answering
from bot.app import Interaction
from bot.clients import SLACK_FAILED, is_passing, slack_error
from bot.events import Identity, Key, Message, Question, by_hand, read_message
from bot.journal import MAX_ATTEMPTS
from bot.records import NotedMessage
from bot.responses import say
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

    def listeners(self) -> list[Interaction]:
        return [Interaction("action", AGAIN, self._again, is_public=True)]

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
        if noted.origin == "command":  # its words were nowhere but in the process that is no more
            return self._journal.ignore(noted.key, "asked in private")
        thread = read_thread(self._read, noted.channel, noted.thread_ts)
        question = find_question(noted, thread, self._me)
        if question is None:
            self._journal.ignore(noted.key, "not found again")
        elif noted.attempts < MAX_ATTEMPTS:
            return self._answering.consider(question, recovered=True, seen=thread)
        elif self._journal.give_up(noted.key) and not replies_of(noted.ts, thread, self._me):
            reference = uuid.uuid4().hex[:8]
            log.warning("given up %s: reference %s", noted.key, reference)
            self._answering.tell(question, given_up(reference), reference)
        # The process that is no more may have left a status there, and nobody else clears it.
        return self._statuses.clear(noted.channel, noted.thread_ts)

    def _again(self, body: dict[str, Any], respond: Respond) -> None:
        """Answer an edited question anew."""
        channel, thread_ts, ts = read_click(body)
        key = Key(self._me.team_id, channel, ts)
        noted = self._journal.message(key)
        presser = by_hand("message", Key(key.team, channel, ""), clicker(body))
        if told := self._answering.too_often(presser):
            say(respond, told, body=body)
            return
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
