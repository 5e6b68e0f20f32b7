"""Request -> Claude -> whole message. The only module that builds an API client.

The SDK's stream cannot be interrupted by closing it, has no overall deadline and hides pings. So
every call runs in its own thread, and the answer waits on that thread's queue.
"""

import logging
import random
import socket
import threading
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any, Protocol, cast

import httpx2
from anthropic import NOT_GIVEN, Anthropic, Stream
from anthropic.lib.streaming import MessageStream, ParsedMessageStreamEvent
from anthropic.types import ContentBlock, Message, RawMessageStreamEvent, TextBlock

from agent.errors import ModelUnavailable, ParameterRefused
from agent.model.characters import encodable
from agent.model.deadline import Deadline
from agent.model.failures import names_parameter, unavailable
from agent.model.gateway import Filled, sendable
from agent.model.profiles import COMPAT, Profile, profile_for
from agent.settings import AgentSettings

log = logging.getLogger(__name__)

_CONNECT_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Request:
    """One request, before the model's profile decides on its parameters."""

    system: str
    tools: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    max_tokens: int
    final: bool = False
    """True if the model must answer without calling tools."""
    previous: str | None = None
    """Id of the previous message, so that the API can report why it missed the cache."""
    attempts: int = 3
    aside: bool = False
    """True for a request beside the conversation, which is not cached.

    A parameter that the server refuses here does not change the model's profile.
    """
    schema: dict[str, Any] | None = None
    """JSON schema that the answer must follow."""
    profile: Profile | None = None
    """The profile that the messages were written for; the model's own profile may change."""


class Listener(Protocol):
    """Receives the events of a request."""

    def sending(self) -> None:
        """The request is about to go out, for the first time or again. Raises BudgetSpent."""
        ...

    def began(self) -> None:
        """A text begins."""
        ...

    def wrote(self, content: Sequence[TextBlock]) -> None:
        """The text has grown; ``content`` is the whole text of the message so far."""
        ...

    def retried(self, error: ModelUnavailable, wait: float) -> None:
        """The request is sent again after ``wait`` seconds."""
        ...


class Model(Protocol):
    """Claude, or a substitute in tests and evals."""

    name: str
    profile: Profile

    def respond(self, request: Request, deadline: Deadline, listener: Listener) -> Message:
        """Return the whole message. Raises ModelUnavailable, DeadlinePassed or Cancelled."""
        ...


def open_client(settings: AgentSettings) -> Anthropic:
    """Open a client that neither retries nor reports on its own."""
    return Anthropic(
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        auth_token=settings.auth_token.get_secret_value() if settings.auth_token else None,
        base_url=settings.base_url,
        max_retries=0,
        open_telemetry=False,
    )


class ClaudeModel:
    """One model id of the Messages API or of a compatible gateway."""

    def __init__(self, name: str, settings: AgentSettings) -> None:
        self.name = name
        self.profile = profile_for(name, settings)
        self._settings = settings
        self._client = open_client(settings)
        # The connections are closed when the model is garbage-collected.
        weakref.finalize(self, self._client.close)

    def respond(self, request: Request, deadline: Deadline, listener: Listener) -> Message:
        """Send ``request``, and send it again after a transient failure: then the text begins
        again.
        """
        attempt = 1
        while True:
            try:
                return self._attempt(request, deadline, listener)
            except ModelUnavailable as error:
                wait = error.retry_after or _pause(attempt)
                if not error.retryable or attempt == request.attempts or wait >= deadline.left:
                    raise
                listener.retried(error, wait)
                deadline.sleep(wait)
                attempt += 1

    def _attempt(self, request: Request, deadline: Deadline, listener: Listener) -> Message:
        profile = request.profile or self.profile
        parameters = self._parameters(request, profile, deadline)
        listener.sending()
        call = _Call(self._client, parameters, whole_blocks=profile.native_citations)
        try:
            while True:
                event = deadline.take(call.events)
                if isinstance(event, _Began):
                    listener.began()
                elif isinstance(event, list):
                    listener.wrote(event)
                elif isinstance(event, Exception):
                    raise self._translated(event, request, profile) from event
                elif event.stop_reason is None:
                    raise ModelUnavailable(
                        "the stream ended early", "The model's answer broke off.", retryable=True
                    )
                else:
                    return event
        finally:
            call.hang_up()

    def _translated(self, error: Exception, request: Request, profile: Profile) -> ModelUnavailable:
        """Translate the failure; a refused parameter is not sent again."""
        failure = unavailable(error, self.name)
        parameter = None if request.aside else names_parameter(error)
        if parameter is None or profile == COMPAT:
            return failure
        by_brackets = parameter == "search_result" and profile.native_citations
        if self.profile == profile:  # else another answer has changed it already
            log.warning("%s does not accept %s: sending plainer requests", self.name, parameter)
            self.profile = replace(profile, native_citations=False) if by_brackets else COMPAT
        return ParameterRefused(str(failure), failure.reason, is_billed=failure.is_billed)

    def _parameters(self, request: Request, profile: Profile, deadline: Deadline) -> dict[str, Any]:
        timeout = min(self._settings.call_timeout, max(deadline.left, 0.1))
        parameters: dict[str, Any] = {
            "model": self.name,
            "max_tokens": min(request.max_tokens, profile.max_output),
            "system": request.system,
            "messages": request.messages,
            "timeout": httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_TIMEOUT)),
        }
        if request.tools:
            parameters["tools"] = request.tools
        if request.final:
            parameters["tool_choice"] = {"type": "none"}
        if profile.thinking:
            parameters["thinking"] = {"type": "adaptive"}
        output: dict[str, Any] = {"effort": self._settings.effort} if profile.effort else {}
        if request.schema:
            output["format"] = {"type": "json_schema", "schema": request.schema}
        if output:
            parameters["output_config"] = output
        if profile.cache and not request.aside:
            # The static prefix is cached for an hour, so it outlasts the pauses of a thread.
            system = {"type": "text", "text": request.system}
            parameters["system"] = [{**system, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
            parameters["cache_control"] = {"type": "ephemeral"}
            parameters["diagnostics"] = {"previous_message_id": request.previous}
        return parameters


def _pause(attempt: int) -> float:
    jitter: float = random.uniform(0.75, 1.25)  # noqa: S311  # no secret
    return jitter * 2.0 ** (attempt - 2)


class _Began:
    """A text begins."""


class _Call:
    """One HTTP call in its own thread. Its events: a text begins, the text so far, the message, an
    error.
    """

    def __init__(
        self, client: Anthropic, parameters: dict[str, Any], *, whole_blocks: bool
    ) -> None:
        self.events: SimpleQueue[Message | Exception | list[TextBlock] | _Began] = SimpleQueue()
        self._whole_blocks = whole_blocks  # the citations of a block are complete at its end
        self._client = client
        self._parameters = parameters
        self._response: httpx2.Response | None = None
        self._hung_up = False
        threading.Thread(target=self._run, name="model-call", daemon=True).start()

    def _run(self) -> None:
        try:
            raw = self._client.messages.create(**self._parameters, stream=True)
            filled = cast("Stream[RawMessageStreamEvent]", Filled(raw))
            with MessageStream(filled, output_format=NOT_GIVEN) as stream:
                self._response = stream.response
                for event in stream:
                    if self._hung_up:
                        return
                    if event.type == "content_block_start" and event.content_block.type == "text":
                        self.events.put(_Began())
                    elif self._is_border(event):
                        self.events.put(_copied(stream.current_message_snapshot.content))
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


def _copied(content: Iterable[ContentBlock]) -> list[TextBlock]:
    """Copy the present texts, since the SDK keeps changing its objects."""
    return [
        TextBlock.construct(
            type="text", text=encodable(block.text), citations=list(block.citations or ())
        )
        for block in content
        if block.type == "text"
    ]
