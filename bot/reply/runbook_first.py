"""A runbook that is posted before the answer is ready.

The answer takes its place (``bot.reply.in_thread``); without one it stays, minus its promise.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from bot.blocks.elements import context
from bot.question.event import Question
from bot.question.thread import read_thread
from bot.reading.block_text import items
from bot.reading.mrkdwn import escape
from bot.slack.clients import SLACK_FAILED, Clients, slack_error

log = logging.getLogger(__name__)

_PROMISE = "footnote_verdict"
"""The block that tells that an answer follows."""


@dataclass(frozen=True, slots=True)
class Interim:
    clients: Clients
    question: Question
    ts: str

    def end(self, line: str) -> None:
        """Leave it where it stands, with this line where it promised an answer; best effort."""
        place = self.question
        try:
            thread = read_thread(self.clients.read, place.channel, place.thread_ts)
            message = next((m for m in thread if m.get("ts") == self.ts), None)
            if message is None:
                return
            blocks = [block for block in items(message.get("blocks")) if not _promises(block)]
            self.clients.post.chat_update(
                channel=place.channel,
                ts=self.ts,
                text=str(message.get("text") or "")[:3_900],
                blocks=[context(_PROMISE, escape(line)), *blocks],
            )
        except SLACK_FAILED as error:
            log.info("a runbook in %s still promises: %s", place.channel, slack_error(error))

    def remove(self) -> None:
        """Take it away; best effort."""
        try:
            self.clients.post.chat_delete(channel=self.question.channel, ts=self.ts)
        except SLACK_FAILED as error:
            log.info("a runbook stays in %s: %s", self.question.channel, slack_error(error))


def _promises(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("block_id") == _PROMISE
