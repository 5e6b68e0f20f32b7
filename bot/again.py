"""*Answer again*: offered under the answer of a question that was edited afterwards."""

import logging
from typing import Any

from bot.blocks.elements import actions, button
from bot.clients import SLACK_FAILED, Clients, slack_error
from bot.events import Identity, Message, Question
from bot.thread import read_thread, replies_of

log = logging.getLogger(__name__)

AGAIN = "footnote_again"


def offer_again(clients: Clients, question: Question, me: Identity) -> None:
    """Put the button under the answer; best effort, for the answer itself stands."""
    try:
        thread = read_thread(clients.read, question.channel, question.thread_ts)
        own = replies_of(question.ts, thread, me)
        if own and not any(b.get("block_id") == AGAIN for b in own[-1].get("blocks") or ()):
            _update(clients, question.channel, own[-1], again_blocks(question))
    except SLACK_FAILED as error:
        log.info("could not offer to answer again: %s", slack_error(error))


def again_blocks(question: Question) -> list[dict[str, Any]]:
    value = f"{question.thread_ts} {question.ts}"
    return [actions(AGAIN, [button(AGAIN, "Answer again", value)])]


def clicker(body: dict[str, Any]) -> str:
    return str(body.get("user", {}).get("id", ""))


def read_click(body: dict[str, Any]) -> tuple[str, str, str]:
    """Channel, thread and ts of the question whose button was pressed."""
    thread_ts, _, ts = str(body["actions"][0].get("value")).partition(" ")
    return str(body["channel"]["id"]), thread_ts, ts


def withdraw_offer(clients: Clients, channel: str, message: Message) -> None:
    """Take the button away again once it was pressed."""
    if "ts" not in message:
        return
    try:
        _update(clients, channel, message, [])
    except SLACK_FAILED as error:
        log.info("could not take the button away: %s", slack_error(error))


def _update(clients: Clients, channel: str, message: Message, more: list[dict[str, Any]]) -> None:
    blocks = [b for b in message.get("blocks") or () if b.get("block_id") != AGAIN]
    clients.post.chat_update(
        channel=channel,
        ts=str(message["ts"]),
        text=str(message.get("text") or "")[:3_900],
        blocks=[*blocks, *more],
        metadata=message.get("metadata"),
    )
