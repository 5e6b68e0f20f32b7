"""Messages -> the thread: posted once, or in a plainer form, or not at all and then logged.

The ladder, a message: as rendered; when Slack refuses the content, once more as plain parts; when
it refuses those too, one short line with the answer's id. A channel that cannot be posted to ends
it. After a lost response the thread is read before anything is posted again.
"""

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from agent.answer import Answer
from bot.alerts import message_text
from bot.clients import CONTENT, METADATA, SLACK_FAILED, is_passing, slack_error
from bot.events import Message, Question, metadata_of
from bot.markup import plain_parts
from bot.stream import Stream
from bot.thread import EVENT_TYPE, read_thread

log = logging.getLogger(__name__)

MAX_METADATA = 3_000

_ATTEMPTS = 3
_NO_ANSWER = {"answer": "runbook", "question": "", "part": 0, "parts": 1}


class NotPosted(Exception):
    """Slack will not take the reply; ``code`` says why. For the log, never for a channel."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Replier:
    """Posts into the thread of one question."""

    client: WebClient
    question: Question

    def post_answer(
        self,
        answer: Answer,
        messages: Sequence[dict[str, Any]],
        over: str | None = None,
        stream: Stream | None = None,
    ) -> str:
        """Post all messages of an answer; the ts of the first.

        That one ends the ``stream`` where one was begun, or takes the place of ``over``.
        """
        posted: list[str] = []
        for number, message in enumerate(messages):
            payload = answer_payload(answer, self.question, number, len(messages))
            if number == 0 and (ts := self._in_place(message, payload, over, stream)):
                posted.append(ts)
            else:
                posted += self._post_or_degrade(message, payload, answer.id)
        return posted[0]

    def post_runbook(self, message: dict[str, Any]) -> str | None:
        """Post what is there before an answer is; its ts, or None: the answer comes anyway."""
        try:
            return self._post(message, {"runbook": self.question.ts, **_NO_ANSWER})
        except (NotPosted, SlackApiError) as error:
            log.info("no runbook posted in %s: %s", self.question.channel, error)
            return None

    def _in_place(
        self,
        message: dict[str, Any],
        payload: dict[str, Any],
        over: str | None,
        stream: Stream | None,
    ) -> str | None:
        """The ts of the message that is there already, when it now is the first of the answer."""
        ts = stream.ts if stream else None
        if stream and ts:
            metadata = {"event_type": EVENT_TYPE, "event_payload": payload}
            if stream.finish(message, metadata) or self._update(ts, message, payload):
                return ts
            stream.remove()
        elif over and self._update(over, message, payload):
            return over
        return None

    def _update(self, ts: str, message: dict[str, Any], payload: dict[str, Any]) -> bool:
        try:
            self.client.chat_update(
                channel=self.question.channel,
                ts=ts,
                metadata={"event_type": EVENT_TYPE, "event_payload": payload},
                **message,
            )
        except SLACK_FAILED as error:
            if is_passing(error) and self._posted(payload, ts):
                return True
            log.info("posting instead of updating: %s", slack_error(error))
            return False
        return True

    def post_line(self, text: str, reference: str, blocks: Sequence[dict[str, Any]] = ()) -> str:
        """Post a short line: help, or what went wrong and under which id."""
        payload = {"answer": reference, "question": self.question.ts, "part": 0, "parts": 1}
        message: dict[str, Any] = {"text": text}
        if blocks:
            message["blocks"] = list(blocks)
        return self._post(message, payload)

    def take_back(self, messages: Sequence[Message]) -> None:
        """Delete what was posted of an answer that was never completed; best effort."""
        for message in messages:
            try:
                self.client.chat_delete(channel=self.question.channel, ts=str(message["ts"]))
            except SLACK_FAILED as error:
                log.warning(
                    "half an answer stays in %s: %s", self.question.channel, slack_error(error)
                )

    def whisper_answer(self, messages: Sequence[dict[str, Any]]) -> None:
        """Show an answer to the asker alone; Slack keeps no copy of it in the thread."""
        for message in messages:
            try:
                self._whisper(message)
            except SlackApiError as error:
                log.warning("Slack refused the content: %s", slack_error(error))
                for part in plain_parts(message_text(message)):
                    self._whisper({"text": part})

    def _whisper(self, message: dict[str, Any]) -> None:
        """Content errors are raised, every other one is NotPosted."""
        question = self.question
        try:
            self.client.chat_postEphemeral(
                channel=question.channel,
                user=question.user or "",
                thread_ts=question.thread_ts if question.in_thread else None,
                **message,
            )
        except SLACK_FAILED as error:
            if slack_error(error) in CONTENT:
                raise
            raise NotPosted(slack_error(error)) from error

    def whisper(self, text: str) -> None:
        """A line that only the asker sees; best effort."""
        question = self.question
        if question.user is None:
            return
        thread_ts = question.thread_ts if question.in_thread else None
        try:
            self.client.chat_postEphemeral(
                channel=question.channel, user=question.user, text=text, thread_ts=thread_ts
            )
        except SLACK_FAILED as error:
            log.warning("could not tell the asker in %s: %s", question.channel, slack_error(error))

    def _post_or_degrade(
        self, message: dict[str, Any], payload: dict[str, Any], reference: str
    ) -> list[str]:
        try:
            return [self._post(message, payload)]
        except SlackApiError as error:
            log.warning("answer %s: Slack refused the content: %s", reference, slack_error(error))
        try:
            return [
                self._post({"text": part}, payload) for part in plain_parts(message_text(message))
            ]
        except SlackApiError as error:
            log.warning("answer %s: refused as plain text: %s", reference, slack_error(error))
        try:
            line = f"I have an answer, but Slack does not take it. Reference: `{reference}`"
            return [self._post({"text": line}, payload)]
        except SlackApiError as error:
            raise NotPosted(slack_error(error)) from error

    def _post(self, message: dict[str, Any], payload: dict[str, Any]) -> str:
        """Post one message; content errors are raised, every other final error is NotPosted."""
        metadata: dict[str, Any] | None = {"event_type": EVENT_TYPE, "event_payload": payload}
        for attempt in range(_ATTEMPTS):
            try:
                return str(
                    self.client.chat_postMessage(
                        channel=self.question.channel,
                        thread_ts=self.question.thread_ts,
                        unfurl_links=False,
                        unfurl_media=False,
                        metadata=metadata,
                        **message,
                    )["ts"]
                )
            except SLACK_FAILED as error:
                code = slack_error(error)
                if code in CONTENT:
                    raise
                if code in METADATA and metadata is not None:
                    metadata = {"event_type": EVENT_TYPE, "event_payload": _smallest(payload)}
                elif not is_passing(error):
                    raise NotPosted(code) from error
                else:
                    log.warning("posting into %s: %s", self.question.channel, code)
                    time.sleep(attempt)
                    if posted := self._posted(payload):
                        return posted
        raise NotPosted("no answer from Slack")

    def _posted(self, payload: dict[str, Any], ts: str | None = None) -> str | None:
        """The ts of this very message, where it reached Slack although its response was lost.

        ``ts`` where it can only be that one.
        """
        try:
            thread = read_thread(self.client, self.question.channel, self.question.thread_ts)
        except SLACK_FAILED:
            return None
        for message in thread:
            kind, there = metadata_of(message)
            if (
                kind == EVENT_TYPE
                and ts in (None, message.get("ts"))
                and all(there.get(name) == payload[name] for name in ("answer", "question", "part"))
            ):
                return str(message["ts"])
        return None


def answer_payload(answer: Answer, question: Question, part: int, parts: int) -> dict[str, Any]:
    """What a later turn reads back: ids and hashes, no text; only as many chunks as fit."""
    payload: dict[str, Any] = {
        "answer": answer.id,
        "question": question.ts,
        "revision": answer.revision or "",
        "verdict": answer.verdict,
        "part": part,
        "parts": parts,
        "cited": [],
    }
    if question.origin != "message":  # no message of theirs says who wants it
        payload["asker"] = question.user
    if part == 0:
        size = len(json.dumps(payload))
        for passage in answer.citations:
            entry = {"id": passage.id, "hash": passage.hash}
            size += len(json.dumps(entry)) + 2
            if size > MAX_METADATA:
                break
            payload["cited"].append(entry)
    return payload


def _smallest(payload: dict[str, Any]) -> dict[str, Any]:
    return {name: payload[name] for name in ("answer", "question", "part", "parts")}
