"""Replies into the thread of a question: each message is posted once.

After a lost response the thread is read before anything is posted again.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from agent.answer import Answer
from bot.question.event import Question
from bot.question.thread import ThreadReader
from bot.reply.outgoing import ContentRefused, NotPosted, Outgoing, Part, Unposted, answer_parts
from bot.reply.stream import Stream
from bot.slack.clients import (
    CONTENT,
    METADATA,
    SLACK_FAILED,
    is_passing,
    may_have_arrived,
    may_heal,
    slack_error,
)
from bot.slack.identity import NOTICE, REPLY, Identity, MetadataPayload, SlackMessage, read_metadata
from bot.slack.pace import is_limited

log = logging.getLogger(__name__)

NOWHERE = ""
"""Timestamp of a message that only its asker sees: nobody can find it again."""
_NO_ANSWER = {"answer": "runbook", "question": "", "part": 0, "parts": 1}
_ESSENTIAL = ("answer", "question", "part", "parts", "piece", "verdict")
"""Keys that a reply's metadata always keeps: they find it in its thread, and tell an answer."""


@dataclass(frozen=True, slots=True)
class InThread:
    """The thread of one question, as the place of its reply."""

    client: WebClient
    me: Identity
    question: Question
    is_private: bool = False
    """True if only the asker sees the answer. Everybody sees short lines in any case."""

    def outgoing(
        self,
        answer: Answer,
        messages: Sequence[SlackMessage],
        runbook_ts: str | None = None,
        stream: Stream | None = None,
    ) -> Outgoing:
        """Return an answer that is ready to be sent, see ``ReplyPlace``."""

        def send(part: Part, is_uncertain: bool) -> str:
            is_first = part.payload["part"] == 0 and part.form == "rendered"
            if not is_first:
                return self.send(part, is_uncertain)
            # Look for the part before it replaces a stream or runbook, or it would be posted twice.
            arrived = is_uncertain and self._arrived(part.payload, or_fail=True)
            return arrived or self._replace(part, runbook_ts, stream) or self.send(part)

        parts = answer_parts(answer, self.question, messages)
        return Outgoing(parts, self._send_to_asker if self.is_private else send)

    def post_runbook(self, message: SlackMessage) -> str | None:
        """Post a runbook. Return its timestamp, or None: the answer comes anyway."""
        try:
            return self.send(Part(message, {"runbook": self.question.ts, **_NO_ANSWER}))
        except NotPosted as error:
            log.info("no runbook posted in %s: %s", self.question.channel, error.code)
            return None

    def take_back(self, posted: Iterable[str]) -> None:
        """Delete messages of an answer that will not be completed. A failure is only logged."""
        for ts in posted:
            if ts == NOWHERE:
                continue
            try:
                self.client.chat_delete(channel=self.question.channel, ts=ts)
            except SLACK_FAILED as error:
                log.warning(
                    "half an answer stays in %s: %s", self.question.channel, slack_error(error)
                )

    def whisper(self, text: str) -> bool:
        """Show a line to the asker alone. Return False if Slack refuses it."""
        if self.question.user is None:
            return False
        try:
            self._post_to_asker({"text": text})
        except SLACK_FAILED as error:
            channel = self.question.channel
            log.warning("could not tell the asker in %s: %s", channel, slack_error(error))
            return False
        return True

    def tell_asker(self, text: str) -> None:
        """Show a line to the asker where the thread accepts nothing: here, or in a direct message.

        Best effort.
        """
        question = self.question
        if self.whisper(text) or question.user is None or question.is_direct:
            return
        try:
            notice = {"event_type": NOTICE, "event_payload": {"notice": "not posted"}}
            self.client.chat_postMessage(channel=question.user, text=text, metadata=notice)
        except SLACK_FAILED as error:
            log.warning("could not write to the asker: %s", slack_error(error))

    def send(self, part: Part, is_uncertain: bool = False) -> str:
        """Post one message as ``Send`` describes, and return its timestamp."""
        if is_uncertain and (posted := self._arrived(part.payload, or_fail=True)):
            return posted
        try:
            return self._post(part.message, part.payload)
        except SLACK_FAILED as error:
            smallest = {name: part.payload[name] for name in _ESSENTIAL if name in part.payload}
            if slack_error(error) in METADATA and smallest != part.payload:
                return self.send(Part(part.message, smallest, part.form))
            if may_have_arrived(error) and (posted := self._arrived(part.payload)):
                return posted
            raise _failure(error) from error

    def _send_to_asker(self, part: Part, _is_uncertain: bool) -> str:
        try:
            self._post_to_asker(part.message)
        except SLACK_FAILED as error:
            raise _failure(error) from error
        return NOWHERE

    def _replace(self, part: Part, runbook_ts: str | None, stream: Stream | None) -> str | None:
        """Turn the stream or the runbook into the first message of the answer.

        Return its timestamp, or None if there is neither, or if Slack refuses it. Raises Unposted
        if Slack asks to wait.
        """
        ts = stream.ts if stream else None
        if stream and ts:
            try:
                is_finished = stream.finish(part.message, _metadata(part))
            except SlackApiError as error:
                raise _failure(error) from error
            if is_finished or self._update(ts, part):
                return ts
            stream.remove()
        elif runbook_ts and self._update(runbook_ts, part):
            return runbook_ts
        return None

    def _update(self, ts: str, part: Part) -> bool:
        channel = self.question.channel
        try:
            self.client.chat_update(
                channel=channel, ts=ts, metadata=_metadata(part), **part.message
            )
        except SLACK_FAILED as error:
            if is_limited(error):
                raise _failure(error) from error
            if is_passing(error) and self._arrived(part.payload, ts):
                return True
            log.info("posting instead of updating: %s", slack_error(error))
            return False
        return True

    def _post_to_asker(self, message: SlackMessage) -> None:
        question = self.question
        self.client.chat_postEphemeral(
            channel=question.channel,
            user=question.user or "",
            thread_ts=question.thread_ts if question.in_thread else None,
            **message,
        )

    def _post(self, message: SlackMessage, payload: MetadataPayload) -> str:
        posted = self.client.chat_postMessage(
            channel=self.question.channel,
            thread_ts=self.question.thread_ts,
            unfurl_links=False,
            unfurl_media=False,
            metadata=_metadata(Part(message, payload)),
            **message,
        )
        return str(posted["ts"])

    def _arrived(
        self, payload: MetadataPayload, ts: str | None = None, *, or_fail: bool = False
    ) -> str | None:
        """Return the timestamp of this message if Slack posted it although the response was lost.

        With ``ts``, only the message with that timestamp counts. ``or_fail`` raises Unposted if
        Slack does not return the thread now.
        """
        try:
            reader = ThreadReader(self.client, self.me)
            thread = reader.read(self.question.channel, self.question.thread_ts)
        except SLACK_FAILED as error:
            if or_fail and may_heal(error):
                raise Unposted(slack_error(error), uncertain=True) from error
            return None
        wanted = read_metadata(payload).identity
        for message in thread:
            is_same = message.metadata is not None and message.metadata.identity == wanted
            if is_same and ts in (None, message.ts):
                return message.ts
        return None


def _metadata(part: Part) -> dict[str, object]:
    return {"event_type": REPLY, "event_payload": part.payload}


def _failure(error: Exception) -> NotPosted:
    code = slack_error(error)
    if code in CONTENT:
        return ContentRefused(code)
    return Unposted(code, uncertain=may_have_arrived(error)) if may_heal(error) else NotPosted(code)
