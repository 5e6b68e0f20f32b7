"""The runbook posted ahead of the answer.

The answer replaces it (``bot/reply/in_thread.py``). If no answer comes, the runbook stays, without
its promise of one.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from bot.blocks.elements import context
from bot.question.event import Question
from bot.question.thread import ThreadReader
from bot.reading.block_text import items
from bot.reading.mrkdwn import escape
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from bot.slack.identity import Identity

log = logging.getLogger(__name__)

_PROMISE = "footnote_verdict"
"""Id of the block that promises an answer."""
_MAX_TEXT = 3_900


@dataclass(frozen=True, slots=True)
class PostedRunbook:
    clients: Clients
    me: Identity
    question: Question
    ts: str

    def end(self, line: str) -> None:
        """Replace the runbook's promise of an answer by a line. A failure is only logged."""
        channel = self.question.channel
        try:
            reader = ThreadReader(self.clients.read, self.me)
            thread = reader.read(channel, self.question.thread_ts)
            message = next((m.payload for m in thread if m.ts == self.ts), None)
            if message is None:
                return
            blocks = [block for block in items(message.get("blocks")) if not _promises(block)]
            self.clients.post.chat_update(
                channel=channel,
                ts=self.ts,
                text=str(message.get("text") or "")[:_MAX_TEXT],
                blocks=[context(_PROMISE, escape(line)), *blocks],
            )
        except SLACK_FAILED as error:
            log.info("a runbook in %s still promises: %s", channel, slack_error(error))

    def remove(self) -> None:
        """Delete the runbook. A failure is only logged."""
        try:
            self.clients.post.chat_delete(channel=self.question.channel, ts=self.ts)
        except SLACK_FAILED as error:
            log.info("a runbook stays in %s: %s", self.question.channel, slack_error(error))


def _promises(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("block_id") == _PROMISE
