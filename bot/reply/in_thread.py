"""Messages -> the thread of a question: each is posted once, or it is told why not.

A channel that cannot be posted to ends it. After a lost response the thread is read before
anything is posted again.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk import WebClient

from agent.answer import Answer
from bot.question.event import Question
from bot.question.thread import EVENT_TYPE, read_thread
from bot.reply.outgoing import (
    ContentRefused,
    NotPosted,
    Outgoing,
    Part,
    Unposted,
    answer_parts,
    line_part,
)
from bot.reply.stream import Stream
from bot.slack.clients import CONTENT, METADATA, SLACK_FAILED, is_passing, may_heal, slack_error
from bot.slack.identity import Message, metadata_of

log = logging.getLogger(__name__)

_NO_ANSWER = {"answer": "runbook", "question": "", "part": 0, "parts": 1}
_IDENTITY = ("answer", "question", "part", "parts", "piece")
"""What tells one own message from all others: the least that its metadata holds."""


@dataclass(frozen=True, slots=True)
class Replier:
    """Posts into the thread of one question."""

    client: WebClient
    question: Question

    def outgoing(
        self,
        answer: Answer,
        messages: Sequence[dict[str, Any]],
        over: str | None = None,
        stream: Stream | None = None,
    ) -> Outgoing:
        """An answer that is ready to be posted.

        Its first message ends the ``stream`` where one was begun, or takes the place of ``over``.
        """

        def send(part: Part, is_uncertain: bool) -> str:
            is_first = part.payload["part"] == 0 and part.form == "rendered"
            if not is_first:
                return self.send(part, is_uncertain)
            # Before anything takes its place: else it would be there twice.
            there = is_uncertain and self._arrived(part.payload, or_fail=True)
            return there or self._in_place(part, over, stream) or self.send(part)

        return Outgoing(answer_parts(answer, self.question, messages), send)

    def post_runbook(self, message: dict[str, Any]) -> str | None:
        """Post what is there before an answer is; its ts, or None: the answer comes anyway."""
        try:
            return self.send(Part(message, {"runbook": self.question.ts, **_NO_ANSWER}))
        except NotPosted as error:
            log.info("no runbook posted in %s: %s", self.question.channel, error.code)
            return None

    def _in_place(self, part: Part, over: str | None, stream: Stream | None) -> str | None:
        """The ts of the message that is there already, when it now is the first of the answer."""
        ts = stream.ts if stream else None
        if stream and ts:
            metadata = {"event_type": EVENT_TYPE, "event_payload": part.payload}
            if stream.finish(part.message, metadata) or self._update(ts, part):
                return ts
            stream.remove()
        elif over and self._update(over, part):
            return over
        return None

    def _update(self, ts: str, part: Part) -> bool:
        try:
            self.client.chat_update(
                channel=self.question.channel,
                ts=ts,
                metadata={"event_type": EVENT_TYPE, "event_payload": part.payload},
                **part.message,
            )
        except SLACK_FAILED as error:
            if is_passing(error) and self._arrived(part.payload, ts):
                return True
            log.info("posting instead of updating: %s", slack_error(error))
            return False
        return True

    def post_line(self, text: str, reference: str, blocks: Sequence[dict[str, Any]] = ()) -> str:
        """Post a short line: help, or what went wrong and under which id."""
        return self.send(line_part(self.question, text, reference, blocks))

    def take_back(self, messages: Sequence[Message]) -> None:
        """Delete what was posted of an answer that was never completed; best effort."""
        for message in messages:
            try:
                self.client.chat_delete(channel=self.question.channel, ts=str(message["ts"]))
            except SLACK_FAILED as error:
                log.warning(
                    "half an answer stays in %s: %s", self.question.channel, slack_error(error)
                )

    def whispered(self, answer: Answer, messages: Sequence[dict[str, Any]]) -> Outgoing:
        """An answer for the asker alone; Slack keeps no copy of it in the thread."""
        return Outgoing(answer_parts(answer, self.question, messages), self._whisper)

    def _whisper(self, part: Part, _is_uncertain: bool) -> str:
        try:
            return self._post_to_asker(part.message)
        except SLACK_FAILED as error:
            raise self._failure(error) from error

    def whisper(self, text: str) -> bool:
        """A line that only the asker sees; False where Slack does not take it."""
        question = self.question
        if question.user is None:
            return False
        try:
            self._post_to_asker({"text": text})
        except SLACK_FAILED as error:
            log.warning("could not tell the asker in %s: %s", question.channel, slack_error(error))
            return False
        return True

    def _post_to_asker(self, message: dict[str, Any]) -> str:
        question = self.question
        posted = self.client.chat_postEphemeral(
            channel=question.channel,
            user=question.user or "",
            thread_ts=question.thread_ts if question.in_thread else None,
            **message,
        )
        return str(posted["message_ts"])

    def tell_elsewhere(self, text: str) -> bool:
        """A line to the asker where the question's own place takes nothing: in a direct message."""
        question = self.question
        if question.user is None or question.is_direct:
            return False
        try:
            self.client.chat_postMessage(channel=question.user, text=text)
        except SLACK_FAILED as error:
            log.warning("could not write to the asker: %s", slack_error(error))
            return False
        return True

    def send(self, part: Part, is_uncertain: bool = False) -> str:
        """Post one message; ``is_uncertain``: it may be in the thread already.

        Raises NotPosted, ContentRefused or Unposted.
        """
        if is_uncertain and (posted := self._arrived(part.payload, or_fail=True)):
            return posted
        try:
            return self._post(part.message, part.payload)
        except SLACK_FAILED as error:
            less = _smallest(part.payload)
            if slack_error(error) in METADATA and less != part.payload:
                return self.send(Part(part.message, less, part.form))
            if is_passing(error) and (posted := self._arrived(part.payload)):
                return posted
            raise self._failure(error) from error

    def _post(self, message: dict[str, Any], payload: dict[str, Any]) -> str:
        posted = self.client.chat_postMessage(
            channel=self.question.channel,
            thread_ts=self.question.thread_ts,
            unfurl_links=False,
            unfurl_media=False,
            metadata={"event_type": EVENT_TYPE, "event_payload": payload},
            **message,
        )
        return str(posted["ts"])

    def _failure(self, error: Exception) -> NotPosted:
        code = slack_error(error)
        if code in CONTENT:
            return ContentRefused(code)
        if not may_heal(error):
            return NotPosted(code)
        return Unposted(code, uncertain=is_passing(error))

    def _arrived(
        self, payload: dict[str, Any], ts: str | None = None, *, or_fail: bool = False
    ) -> str | None:
        """The ts of this very message, where it reached Slack although its response was lost.

        ``ts`` where it can only be that one; ``or_fail`` raises Unposted where only a thread that
        Slack does not hand out now could tell.
        """
        try:
            thread = read_thread(self.client, self.question.channel, self.question.thread_ts)
        except SLACK_FAILED as error:
            if or_fail and may_heal(error):
                raise Unposted(slack_error(error), uncertain=True) from error
            return None
        for message in thread:
            kind, there = metadata_of(message)
            if (
                kind == EVENT_TYPE
                and ts in (None, message.get("ts"))
                and all(there.get(name) == payload.get(name) for name in _IDENTITY)
            ):
                return str(message["ts"])
        return None


def _smallest(payload: dict[str, Any]) -> dict[str, Any]:
    return {name: payload[name] for name in _IDENTITY if name in payload}
