"""Stream events of gateways -> the events that the API would have sent.

The SDK sums up the events and fails if a field is missing. An answer must not be lost because a
gateway leaves out the usage. Nor must a gateway fill the memory with a stream that never ends.
"""

from collections.abc import Iterator

import httpx2
from anthropic import Stream
from anthropic.types import Message, MessageDeltaUsage, RawMessageStreamEvent, Usage

from agent.model.characters import encodable

_FEWEST_CHARACTERS = 20_000
_CHARACTERS = 16
"""Maximum number of characters for each token that was asked for; usual are four."""
_BYTES = 64
"""Maximum number of bytes for each of these characters, with all that a stream puts around it."""


class TooLong(Exception):
    """A stream is longer than any answer of the tokens that were asked for."""


class Filled:
    """A stream whose missing fields are filled in, and whose length is limited."""

    def __init__(self, stream: "Stream[RawMessageStreamEvent]", max_tokens: int) -> None:
        self._stream = stream
        self._most = max(_FEWEST_CHARACTERS, _CHARACTERS * max_tokens)
        response, most = stream.response, self._most * _BYTES
        read = response.iter_bytes
        # The SDK reads a stream by this method, behind the decoder of a compressed one.
        response.iter_bytes = lambda: _limited(read(), most)  # type: ignore[method-assign, misc, assignment]

    @property
    def response(self) -> httpx2.Response:
        return self._stream.response

    def __iter__(self) -> Iterator[RawMessageStreamEvent]:
        length = 0
        for event in self._stream:
            _fill(event)
            length += _length(event)
            if length > self._most:
                raise TooLong(f"a stream of more than {self._most} characters")
            yield event

    def close(self) -> None:
        self._stream.close()


def _limited(stream: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Yield the bytes of a response. Raises TooLong."""
    size = 0
    for data in stream:
        size += len(data)
        if size > most:
            raise TooLong(f"a stream of more than {most} bytes")
        yield data


def _length(event: RawMessageStreamEvent) -> int:
    """Return the length of the texts that an event adds to the message."""
    if event.type == "content_block_start":
        added: object = event.content_block
    elif event.type == "content_block_delta":
        added = event.delta
    else:
        return 0
    texts = (getattr(added, name, None) for name in ("text", "thinking", "partial_json"))
    return sum(len(text) for text in texts if isinstance(text, str))


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
