"""Replies that only one person sees, sent through the ``response_url`` of that person's action."""

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt import Respond

from agent.answer import Answer
from bot.blocks.elements import Block
from bot.question.event import Question
from bot.reply.in_thread import NOWHERE
from bot.reply.outgoing import ContentRefused, NotPosted, Outgoing, Part, Unposted, answer_parts
from bot.reply.stream import Stream
from bot.slack.clients import CONTENT, SLACK_FAILED, TROUBLE, slack_error
from bot.slack.identity import SlackMessage
from bot.slack.pace import LIMITED

log = logging.getLogger(__name__)

_UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class InPrivate:
    """The asker of one question, as the place of its reply."""

    respond: Respond
    question: Question
    shortened: Callable[[Answer, Sequence[SlackMessage]], list[SlackMessage]]
    """The messages of an answer -> at most as many messages as Slack accepts here."""

    @property
    def is_private(self) -> bool:
        return True

    def outgoing(
        self,
        answer: Answer,
        messages: Sequence[SlackMessage],
        _runbook_ts: str | None = None,
        _stream: Stream | None = None,
    ) -> Outgoing:
        """Return an answer that is ready to be sent."""
        parts = answer_parts(answer, self.question, self.shortened(answer, messages))
        # Slack accepts few responses, so one plain message has to do.
        return Outgoing(parts, self.send, most_plain=1)

    def send(self, part: Part, _is_uncertain: bool = False) -> str:
        """Send one message as ``Send`` describes. Return ``NOWHERE``: it has no timestamp."""
        code = say(self.respond, part.message["text"], part.message.get("blocks"))
        if code in CONTENT:
            raise ContentRefused(code)
        if code:
            raise Unposted(code, uncertain=True) if _may_heal(code) else NotPosted(code)
        return NOWHERE

    def whisper(self, text: str) -> bool:
        """Show a line to the asker. Return False if Slack refuses it."""
        return say(self.respond, text) is None

    def take_back(self, _posted: Iterable[str]) -> None:
        """Do nothing: Slack cannot delete a message that only one person sees."""

    def post_runbook(self, _message: SlackMessage) -> str | None:
        """Do nothing: a private answer has no runbook ahead of it."""
        return None


def say(
    respond: Respond,
    text: str,
    blocks: Sequence[Block] | None = None,
    *,
    thread_ts: str | None = None,
) -> str | None:
    """Show a message to the person who acted. Return Slack's error, or None if it is shown.

    ``thread_ts``: the thread in which they acted.
    """
    return _send(
        respond,
        text=text,
        blocks=blocks,
        response_type="ephemeral",
        replace_original=False,
        unfurl_links=False,
        unfurl_media=False,
        thread_ts=thread_ts,
    )


def say_later(response_url: str, text: str, proxy: str | None) -> bool:
    """Show a line to a person who acted some time ago.

    Return False if Slack does not accept it now, and may accept it later.
    """
    code = say(Respond(response_url=response_url, proxy=proxy), text)
    return code is None or not _may_heal(code)


def delete_original(respond: Respond) -> None:
    """Delete the private message that somebody acted on."""
    _send(respond, delete_original=True)


def _send(respond: Respond, **message: Any) -> str | None:
    try:
        response = respond(**message)
    except SLACK_FAILED as error:
        log.warning("could not say it in private: %s", slack_error(error))
        return _UNREACHABLE
    code = _error(response.status_code, response.body)
    if code:
        log.warning("could not say it in private: %s", code)
    return code or None


def _may_heal(code: str) -> bool:
    """Return True if Slack may accept the same response later. An expired address is a 404."""
    return code in (_UNREACHABLE, "http_429", *TROUBLE, *LIMITED) or code.startswith("http_5")


def _error(status: int, body: str) -> str:
    """Slack's error: as JSON, or as bare words beside the status; empty for a success."""
    try:
        response = json.loads(body)
    except ValueError:
        response = None
    if isinstance(response, dict) and not response.get("ok", True):
        return str(response.get("error"))
    return "" if status == 200 else f"http_{status}"
