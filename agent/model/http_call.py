"""One HTTP call -> its events and its whole message.

The SDK's stream cannot be interrupted by closing it, has no overall deadline and hides pings. So
every call runs in its own thread, and the answer waits on that thread's queue.
"""

import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Protocol, cast

import httpx2
from anthropic import NOT_GIVEN, Anthropic, Stream
from anthropic.lib.streaming import MessageStream, ParsedMessageStreamEvent
from anthropic.types import ContentBlock, Message, RawMessageStreamEvent, TextBlock

from agent.errors import ModelUnavailable
from agent.model.characters import encodable
from agent.model.deadline import Deadline
from agent.model.gateway import Filled, sendable


class Listener(Protocol):
    """Receives the events of a request."""

    def sending(self) -> None:
        """The request is about to go out, for the first time or again. Raises BudgetSpent."""
        ...

    def began(self) -> None:
        """A text begins."""
        ...

    def wrote(self, content: Sequence[TextBlock]) -> None:
        """The text has grown; ``content`` is the whole text of the message so far.

        While a call lasts, further growth is summed up in the next one.
        """
        ...

    def retried(self, error: ModelUnavailable, wait: float) -> None:
        """The request is sent again after ``wait`` seconds."""
        ...


class _Began:
    """A text begins."""


class _Grew:
    """The text has grown since it was read last."""


class CallFailed(Exception):
    """A call has failed with ``error``."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class Call:
    """One HTTP call in its own thread.

    Its events: a text begins, the text has grown, the message, an error. Only the latest text is
    kept, however much of it arrives while nobody reads it.
    """

    def __init__(
        self, client: Anthropic, parameters: dict[str, Any], *, whole_blocks: bool
    ) -> None:
        self.events: SimpleQueue[Message | Exception | _Grew | _Began] = SimpleQueue()
        self._whole_blocks = whole_blocks  # the citations of a block are complete at its end
        self._client = client
        self._parameters = parameters
        self._response: httpx2.Response | None = None
        self._hung_up = False
        self._heard_at = time.monotonic()
        self._written: tuple[Sequence[ContentBlock], int, str] = ((), 0, "")
        """The message's blocks, how many of them are written, and the text of the last one."""
        self._is_announced = False
        threading.Thread(target=self._run, name="model-call", daemon=True).start()

    @property
    def seconds_silent(self) -> float:
        """Seconds since the server has sent something that is part of a message."""
        return time.monotonic() - self._heard_at

    def written(self) -> list[TextBlock]:
        """Return the text so far."""
        self._is_announced = False  # before the text is read: later growth is announced again
        blocks, count, last = self._written
        texts = [(block, block.text) for block in blocks[: count - 1] if block.type == "text"]
        if count and (block := blocks[count - 1]).type == "text":
            texts.append((block, last))
        # Copied, since the SDK keeps changing its objects.
        return [
            TextBlock.construct(
                type="text", text=encodable(text), citations=list(block.citations or ())
            )
            for block, text in texts
        ]

    def _run(self) -> None:
        try:
            raw = self._client.messages.create(**self._parameters, stream=True)
            limited = Filled(raw, self._parameters["max_tokens"])
            filled = cast("Stream[RawMessageStreamEvent]", limited)
            with MessageStream(filled, output_format=NOT_GIVEN) as stream:
                self._response = stream.response
                for event in stream:
                    self._heard_at = time.monotonic()
                    if self._hung_up:
                        return
                    if event.type == "content_block_start" and event.content_block.type == "text":
                        self.events.put(_Began())
                    elif self._is_border(event):
                        self._grow(stream.current_message_snapshot.content)
                # Read to the end: the connection is free for the next request and must stay open.
                self._response = None
                self.events.put(sendable(stream.get_final_message()))
        except Exception as error:  # noqa: BLE001  # anything a gateway sends is a failed call
            self.events.put(error)
        finally:
            self._response = None

    def _is_border(self, event: "ParsedMessageStreamEvent[None]") -> bool:
        if self._whole_blocks:
            return event.type == "content_block_stop" and event.content_block.type == "text"
        return event.type == "text" and "\n" in event.text

    def _grow(self, content: Sequence[ContentBlock]) -> None:
        last = content[-1]
        self._written = (content, len(content), last.text if last.type == "text" else "")
        if not self._is_announced:
            self._is_announced = True
            self.events.put(_Grew())

    def hang_up(self) -> None:
        """End the thread even if the server keeps the connection open, for example with pings."""
        self._hung_up = True
        response = self._response
        if response is None:
            return
        with suppress(KeyError, OSError):
            line = response.extensions["network_stream"].get_extra_info("socket")
            # Shut down the plain socket: a TLS shutdown would break the object that is still read.
            socket.socket.shutdown(line, socket.SHUT_RDWR)


def received(call: Call, deadline: Deadline, listener: Listener) -> Message:
    """Pass on the events of a call, and return its message.

    Raises CallFailed, DeadlinePassed or Cancelled.
    """
    while True:
        event = deadline.take(call.events)
        if isinstance(event, _Began):
            listener.began()
        elif isinstance(event, _Grew):
            listener.wrote(call.written())
        elif isinstance(event, Exception):
            raise CallFailed(event)
        else:
            return event
