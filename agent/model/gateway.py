"""Stream events of gateways -> the events that the API would have sent.

The SDK sums up the events and fails if a field is missing. An answer must not be lost because a
gateway leaves out the usage.
"""

from collections.abc import Iterator

import httpx2
from anthropic import Stream
from anthropic.types import Message, MessageDeltaUsage, RawMessageStreamEvent, Usage

from agent.model.characters import encodable


class Filled:
    """A stream whose missing fields are filled in."""

    def __init__(self, stream: "Stream[RawMessageStreamEvent]") -> None:
        self._stream = stream

    @property
    def response(self) -> httpx2.Response:
        return self._stream.response

    def __iter__(self) -> Iterator[RawMessageStreamEvent]:
        for event in self._stream:
            _fill(event)
            yield event

    def close(self) -> None:
        self._stream.close()


def _fill(event: RawMessageStreamEvent) -> None:
    if event.type == "message_start":
        if not isinstance(getattr(event.message, "usage", None), Usage):
            event.message.usage = Usage(input_tokens=0, output_tokens=0)
    elif event.type == "message_delta":
        if not isinstance(getattr(event, "usage", None), MessageDeltaUsage):
            event.usage = MessageDeltaUsage(output_tokens=0)
    elif event.type == "content_block_start" and event.content_block.type == "text":
        event.content_block.text = event.content_block.text or ""
    elif event.type == "content_block_delta" and event.delta.type == "text_delta":
        event.delta.text = event.delta.text or ""


def sendable(message: Message) -> Message:
    """The message in a form that can be sent back: encodable texts, and an object as each call's
    input.
    """
    for block in message.content:
        if block.type == "tool_use" and not isinstance(block.input, dict):
            block.input = {}
    sent = message.to_dict()
    mended = encodable(sent)
    return message if mended == sent else Message.construct(**mended)
