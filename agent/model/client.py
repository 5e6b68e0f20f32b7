"""Request -> Claude -> whole message. The only module that builds an API client."""

import logging
import random
import weakref
from dataclasses import dataclass, replace
from typing import Any, Protocol

import httpx2
from anthropic import Anthropic
from anthropic.types import Message

from agent.errors import ModelUnavailable, ParameterRefused
from agent.model.breaker import Admission, Breaker, Outcome
from agent.model.deadline import Deadline, DeadlinePassed
from agent.model.failures import ended_early, names_parameter, unavailable
from agent.model.http_call import Call, CallFailed, Listener, received
from agent.model.profiles import COMPAT, Profile, profile_for
from agent.settings import AgentSettings

log = logging.getLogger(__name__)

_CONNECT_TIMEOUT = 5.0
_SILENT = 10.0
"""Seconds of silence before a deadline from which the model counts as failing."""


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
        self._breaker = Breaker(name)
        # The connections are closed when the model is garbage-collected.
        weakref.finalize(self, self._client.close)

    def respond(self, request: Request, deadline: Deadline, listener: Listener) -> Message:
        """Send ``request``, and send it again after a transient failure: then the text begins
        again.
        """
        attempt = 1
        admission = self._breaker.admit()
        while True:
            try:
                return self._admitted(admission, request, deadline, listener)
            except ModelUnavailable as error:
                wait = error.retry_after or _pause(attempt)
                if not error.retryable or attempt == request.attempts or wait >= deadline.left:
                    raise
                listener.retried(error, wait)
                deadline.sleep(wait)
                attempt += 1
                try:
                    admission = self._breaker.admit()
                except ModelUnavailable:
                    raise error from None  # it says more than that the breaker is open

    def _admitted(
        self, admission: Admission, request: Request, deadline: Deadline, listener: Listener
    ) -> Message:
        """Send ``request`` once, and record what it says about the model's state."""
        outcome: Outcome = "unclear"
        profile = request.profile or self.profile
        try:
            parameters = self._parameters(request, profile, deadline)
            listener.sending()
            call = Call(self._client, parameters, whole_blocks=profile.native_citations)
            try:
                message = received(call, deadline, listener)
            except DeadlinePassed:
                if call.seconds_silent >= min(_SILENT, self._settings.call_timeout / 2):
                    outcome = "failed"
                raise
            except CallFailed as failed:
                failure = self._translated(failed.error, request, profile)
                outcome = "failed" if failure.is_outage else "answered"
                raise failure from failed.error
            finally:
                call.hang_up()
            outcome = "answered"
            if message.stop_reason is None:
                outcome = "failed"
                raise ended_early()
            return message
        finally:
            self._breaker.record(admission, outcome)

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
