"""An answer on its way to Slack: parts that Slack has taken stay, the others are sent again.

The ladder, a part: as rendered; when Slack refuses the content, once more as plain text; when it
refuses that too, one short line with the answer's id. Where and how a part is sent, its ``Send``
knows.
"""

import json
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.answer import Answer
from bot.question.event import Question
from bot.reading.message import message_text
from bot.reading.mrkdwn import plain_parts

log = logging.getLogger(__name__)

MAX_METADATA = 3_000


class NotPosted(Exception):
    """Slack will not take the reply; ``code`` says why. For the log, never for a channel."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ContentRefused(NotPosted):
    """Slack will not take this content; in a plainer form it may."""


class Unposted(NotPosted):
    """Slack did not take the reply now, and may take it later.

    ``uncertain``: the reply may have arrived all the same, only Slack's response did not.
    """

    def __init__(self, code: str, *, uncertain: bool) -> None:
        super().__init__(code)
        self.uncertain = uncertain


@dataclass(frozen=True, slots=True)
class Part:
    """One Slack message of a reply, with what its metadata says."""

    message: dict[str, Any]
    payload: dict[str, Any]
    form: Literal["rendered", "plain", "line"] = "rendered"

    def plainer(self) -> "list[Part]":
        """What is sent instead where Slack refuses the content; empty after the last form."""
        if self.form == "rendered":
            return [
                Part({"text": text}, {**self.payload, "piece": piece}, "plain")
                for piece, text in enumerate(plain_parts(message_text(self.message)))
            ]
        if self.form == "plain":
            reference = self.payload["answer"]
            text = f"I have an answer, but Slack does not take it. Reference: `{reference}`"
            return [Part({"text": text}, self.payload, "line")]
        return []


Send = Callable[[Part, bool], str]
"""Sends a part and returns its ts; the flag says that it may have arrived before. Raises NotPosted,
ContentRefused or Unposted."""


@dataclass(slots=True)
class Outgoing:
    """The parts of one answer that are still to be sent."""

    parts: deque[Part]
    send: Send
    most_plain: int | None = None
    """How many plain messages may take the place of one that is refused; None for all."""
    posted: list[str] = field(default_factory=list)
    """The ts of each part that Slack has taken."""
    _uncertain: bool = False

    def post(self) -> str:
        """Send what is left; the ts of the first part. Raises Unposted or NotPosted."""
        while self.parts:
            part = self.parts[0]
            try:
                ts = self.send(part, self._uncertain)
            except Unposted as error:
                self._uncertain = error.uncertain
                raise
            except ContentRefused as error:
                self._degrade(part, error)
            else:
                self.posted.append(ts)
                self.parts.popleft()
            self._uncertain = False
        return self.posted[0]

    def _degrade(self, part: Part, error: ContentRefused) -> None:
        log.warning("answer %s: Slack refused the content: %s", part.payload["answer"], error.code)
        if not (plainer := part.plainer()[: self.most_plain]):
            raise error
        while self.parts and self.parts[0].payload["part"] == part.payload["part"]:
            self.parts.popleft()
        self.parts.extendleft(reversed(plainer))


def answer_parts(
    answer: Answer, question: Question, messages: Sequence[dict[str, Any]]
) -> deque[Part]:
    """The parts that carry an answer, each with the metadata that a later turn reads back."""
    count = len(messages)
    return deque(
        Part(message, answer_payload(answer, question, number, count))
        for number, message in enumerate(messages)
    )


def line_part(
    question: Question, text: str, reference: str, blocks: Sequence[dict[str, Any]] = ()
) -> Part:
    """A short line instead of an answer: help, or what went wrong and under which id."""
    payload = {"answer": reference, "question": question.ts, "part": 0, "parts": 1}
    message: dict[str, Any] = {"text": text}
    if blocks:
        message["blocks"] = list(blocks)
    return Part(message, payload)


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
