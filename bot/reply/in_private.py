"""What one person alone sees of what they did: said through the interaction's ``response_url``."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt import Respond

from agent.answer import Answer
from bot.question.event import Question
from bot.reply.outgoing import (
    ContentRefused,
    NotPosted,
    Outgoing,
    Part,
    Unposted,
    answer_parts,
    line_part,
)
from bot.slack.clients import CONTENT, LIMITED, SLACK_FAILED, TROUBLE, slack_error

log = logging.getLogger(__name__)

Json = dict[str, Any]
NOWHERE = ""
"""The ts of a reply that only its asker saw: nobody can find it again."""
_UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Responder:
    """Answers one question to its asker alone."""

    respond: Respond
    question: Question
    prepared: Callable[[Answer, list[Json]], list[Json]]
    """The messages of an answer -> those that are shown: no more than Slack takes here."""

    def outgoing(self, answer: Answer, messages: list[Json]) -> Outgoing:
        """An answer that is ready to be shown."""
        parts = answer_parts(answer, self.question, self.prepared(answer, messages))
        # Responses are few: what does not fit into one is left to Share in channel.
        return Outgoing(parts, self.send, most_plain=1)

    def post_line(self, text: str, reference: str, blocks: Sequence[Json] = ()) -> str:
        return self.send(line_part(self.question, text, reference, blocks))

    def whisper(self, text: str) -> bool:
        return say(self.respond, text) is None

    def send(self, part: Part, _is_uncertain: bool = False) -> str:
        code = say(self.respond, part.message["text"], part.message.get("blocks"))
        if code in CONTENT:
            raise ContentRefused(code)
        if code:
            raise Unposted(code, uncertain=True) if _may_heal(code) else NotPosted(code)
        return NOWHERE


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
        log.warning("could not say it in private: %s", slack_error(error))
        return _UNREACHABLE
    code = _refused(response.status_code, response.body)
    if code:
        log.warning("could not say it in private: %s", code)
    return code or None


def _may_heal(code: str) -> bool:
    """Whether the same response may be taken later; an address that has expired is a 404."""
    return code in (_UNREACHABLE, "http_429", *TROUBLE, *LIMITED) or code.startswith("http_5")


def _refused(status: int, body: str) -> str:
    """Slack's error: as JSON, or as bare words beside the status."""
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and not answer.get("ok", True):
        return str(answer.get("error"))
    return "" if status == 200 else f"http_{status}"
