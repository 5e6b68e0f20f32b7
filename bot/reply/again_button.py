"""The button under a reply that asks for another answer to the same question."""

import logging

from slack_sdk import WebClient

from bot.blocks.around import AGAIN
from bot.blocks.elements import Block, actions, button
from bot.question.event import Question
from bot.question.thread_message import ThreadMessage
from bot.reading.block_text import items
from bot.slack.clients import SLACK_FAILED, slack_error

log = logging.getLogger(__name__)

_MAX_TEXT = 3_900


def again_block(question: Question, label: str) -> Block:
    """Return a block with the button; its value names thread and question."""
    return actions(AGAIN, [button(AGAIN, label, f"{question.thread_ts} {question.ts}")])


def offer_again(client: WebClient, question: Question, reply: ThreadMessage) -> None:
    """Put *Answer again* under a reply that does not have it. A failure is only logged."""
    if not any(_is_offer(block) for block in items(reply.payload.get("blocks"))):
        _set_below(client, question.channel, reply, [again_block(question, "Answer again")])


def remove_offer(client: WebClient, channel: str, reply: ThreadMessage) -> None:
    """Remove the button. A failure is only logged."""
    _set_below(client, channel, reply, [])


def _set_below(client: WebClient, channel: str, reply: ThreadMessage, more: list[Block]) -> None:
    if not reply.ts:
        return
    blocks = [block for block in items(reply.payload.get("blocks")) if not _is_offer(block)]
    try:
        client.chat_update(
            channel=channel,
            ts=reply.ts,
            text=str(reply.payload.get("text") or "")[:_MAX_TEXT],
            blocks=[*blocks, *more],
            metadata=reply.payload.get("metadata"),
        )
    except SLACK_FAILED as error:
        log.info("could not change the button: %s", slack_error(error))


def _is_offer(block: object) -> bool:
    return isinstance(block, dict) and block.get("block_id") == AGAIN
