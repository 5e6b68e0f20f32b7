"""What one person alone sees of what they did: said through the interaction's ``response_url``."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt import Respond

from agent.answer import Answer
from bot.alerts import message_text
from bot.clients import CONTENT, SLACK_FAILED, slack_error
from bot.events import Question
from bot.markup import plain_parts
from bot.reply import NotPosted

log = logging.getLogger(__name__)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Responder:
    """Answers one question to its asker alone."""

    respond: Respond
    question: Question
    prepared: Callable[[Answer, list[Json]], list[Json]]
    """The messages of an answer -> those that are shown: no more than Slack takes here."""

    def show_answer(self, answer: Answer, messages: list[Json]) -> None:
        for message in self.prepared(answer, messages):
            code = say(self.respond, message["text"], message["blocks"])
            if code in CONTENT:
                # Responses are few: what does not fit into one is left to Share in channel.
                code = say(self.respond, plain_parts(message_text(message))[0])
            if code:
                raise NotPosted(code)

    def post_line(self, text: str, _reference: str) -> str:
        if code := say(self.respond, text):
            raise NotPosted(code)
        return ""

    def whisper(self, text: str) -> None:
        say(self.respond, text)


def say(
    respond: Respond,
    text: str,
    blocks: Sequence[Json] | None = None,
    *,
    body: Mapping[str, Any] | None = None,
) -> str | None:
    """Say it beside what the person acted on (``body``); Slack's error, None where it is shown."""
    body = body or {}
    # Of a message that only they see, no more comes than where it stands.
    place = body.get("message") or body.get("container") or {}
    return _sent(
        respond,
        text=text,
        blocks=blocks,
        response_type="ephemeral",
        replace_original=False,
        unfurl_links=False,
        unfurl_media=False,
        thread_ts=place.get("thread_ts"),
    )


def withdraw(respond: Respond) -> None:
    """Take away the private message that was acted on."""
    _sent(respond, delete_original=True)


def _sent(respond: Respond, **message: Any) -> str | None:
    try:
        response = respond(**message)
    except SLACK_FAILED as error:
        code = slack_error(error)
    else:
        code = _refused(response.status_code, response.body)
    if code:
        log.warning("could not say it in private: %s", code)
    return code or None


def _refused(status: int, body: str) -> str:
    """Slack's error: as JSON, or as bare words beside the status."""
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and not answer.get("ok", True):
        return str(answer.get("error"))
    return "" if status == 200 else f"http_{status}"
