"""A reply on its way to Slack: accepted parts stay, the others are sent again.

A part is sent as rendered. If Slack refuses the content, it is sent as plain text, and if Slack
refuses that too, as one short line with the answer's id.
"""

import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent.answer import Answer
from bot.blocks.elements import Block
from bot.question.event import Question
from bot.reading.message import message_text
from bot.reading.plain_form import links_of, plain_parts
from bot.reply.stream import Stream
from bot.slack.identity import MetadataPayload, SlackMessage

log = logging.getLogger(__name__)

MAX_METADATA = 3_000


class NotPosted(Exception):
    """Slack will never accept the reply; ``code`` is Slack's error, for the log only."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ContentRefused(NotPosted):
    """Slack will never accept this content, but may accept a plainer form."""


class Unposted(NotPosted):
    """Slack did not accept the reply, and may accept it later.

    ``uncertain``: only Slack's response may be lost, and the reply may have arrived.
    """

    def __init__(self, code: str, *, uncertain: bool) -> None:
        super().__init__(code)
        self.uncertain = uncertain


@dataclass(frozen=True, slots=True)
class Part:
    """One Slack message of a reply, and the payload of its metadata."""

    message: SlackMessage
    payload: MetadataPayload
    form: Literal["rendered", "plain", "line"] = "rendered"

    def plainer(self) -> "list[Part]":
        """Return the messages to send if Slack refuses the content; empty after the last form."""
        if self.form == "rendered":
            text = message_text(self.message, limit=None)
            return [
                Part({"text": part}, {**self.payload, "piece": piece}, "plain")
                for piece, part in enumerate(plain_parts(text, live=links_of(self.message)))
            ]
        if self.form == "plain":
            reference = self.payload["answer"]
            text = f"I have an answer, but Slack does not accept it. Reference: `{reference}`"
            return [Part({"text": text}, self.payload, "line")]
        return []


Send = Callable[[Part, bool], str]
"""Sends a part and returns its timestamp. The flag tells that the part may have arrived before.

Raises NotPosted, ContentRefused or Unposted.
"""


@dataclass(slots=True)
class Outgoing:
    """The parts of one reply that are still to be sent."""

    parts: deque[Part]
    send: Send
    most_plain: int | None = None
    """Maximum number of plain messages that replace a refused one; None sets no limit."""
    posted: list[str] = field(default_factory=list)
    """Timestamp of each part that Slack has accepted."""
    _uncertain: bool = False

    def post(self) -> str:
        """Send the remaining parts. Return the first part's timestamp.

        Raises Unposted or NotPosted.
        """
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


class ReplyPlace(Protocol):
    """The place of the reply to one question: its thread, or its asker alone."""

    @property
    def question(self) -> Question: ...

    @property
    def is_private(self) -> bool:
        """True if only the asker sees the answer; then no part is shown before the end."""

    def outgoing(
        self,
        answer: Answer,
        messages: Sequence[SlackMessage],
        runbook_ts: str | None = None,
        stream: Stream | None = None,
    ) -> Outgoing:
        """Return an answer that is ready to be sent.

        Its first message completes the ``stream``, or replaces the runbook, if there is one.
        """

    def send(self, part: Part, is_uncertain: bool = False) -> str:
        """Send one message as ``Send`` describes, and return its timestamp."""

    def whisper(self, text: str) -> bool:
        """Show a line to the asker alone. Return False if Slack refuses it."""

    def take_back(self, posted: Iterable[str]) -> None:
        """Delete messages of an answer that will not be completed. A failure is only logged."""

    def post_runbook(self, message: SlackMessage) -> str | None:
        """Post a runbook ahead of the answer. Return its timestamp, or None if it is not posted."""


def answer_parts(
    answer: Answer, question: Question, messages: Sequence[SlackMessage]
) -> deque[Part]:
    """Return the parts that carry an answer, each with the metadata that a later turn reads."""
    count = len(messages)
    return deque(
        Part(message, answer_payload(answer, question, number, count))
        for number, message in enumerate(messages)
    )


def line_part(question: Question, text: str, reference: str, blocks: Sequence[Block] = ()) -> Part:
    """Return a short line instead of an answer, with a reference for its metadata."""
    payload: MetadataPayload = {"answer": reference, "question": question.ts, "part": 0, "parts": 1}
    message: SlackMessage = {"text": text}
    if blocks:
        message["blocks"] = list(blocks)
    return Part(message, payload)


def answer_payload(answer: Answer, question: Question, part: int, parts: int) -> MetadataPayload:
    """Return a message's metadata: ids and hashes, no text, and only as many chunks as fit."""
    cited: list[dict[str, str]] = []
    payload: MetadataPayload = {
        "answer": answer.id,
        "question": question.ts,
        "revision": answer.revision or "",
        "verdict": answer.verdict,
        "part": part,
        "parts": parts,
        "cited": cited,
    }
    if question.origin != "message":  # no message in the thread tells who asked
        payload["asker"] = question.user
    if part == 0:
        size = len(json.dumps(payload))
        for passage in answer.citations:
            entry = {"id": passage.id, "hash": passage.hash}
            size += len(json.dumps(entry)) + 2
            if size > MAX_METADATA:
                break
            cited.append(entry)
    return payload
