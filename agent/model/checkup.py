"""Ask the API whether the configured models exist and accept our parameters.

It costs no tokens (https://platform.claude.com/docs/en/api/models/retrieve). Gateways may lack this
request, or answer it in their own way.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import httpx2
from anthropic import Anthropic, APIError, NotFoundError
from anthropic.types import ModelCapabilities, ModelInfo

from agent.errors import AgentError
from agent.model.client import open_client
from agent.model.cost import price_is_known
from agent.model.failures import unavailable
from agent.model.profiles import PROFILES, profile_for
from agent.settings import AgentSettings

_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The API's description of a model, and its differences from our requests."""

    summary: str
    verified: bool = True
    """False if the API answers without listing its models."""
    differences: tuple[str, ...] = ()


def examine_model(settings: AgentSettings) -> ModelCheck:
    """Make one request for each model. Raises AgentError with cause and cure."""
    with open_client(settings) as client:
        check = _examined(client, settings.model, "FOOTNOTE_MODEL", settings)
        if settings.fallback_model is None:
            return check
        try:
            other = _examined(client, settings.fallback_model, "FOOTNOTE_FALLBACK_MODEL", settings)
        except AgentError as error:
            return replace(check, differences=(*check.differences, str(error)))
    summary = (
        check.summary if other.summary == check.summary else f"{check.summary}, {other.summary}"
    )
    return ModelCheck(
        summary, check.verified and other.verified, (*check.differences, *other.differences)
    )


def _examined(client: Anthropic, model: str, variable: str, settings: AgentSettings) -> ModelCheck:
    price_warning = () if price_is_known(model) else (_no_price(model, settings),)
    try:
        info = client.models.retrieve(model, timeout=_SECONDS)
        # The client accepts any JSON: a missing field is None or raises AttributeError.
        name = info.display_name or model
        differences = _differences(info, model, settings)
        return ModelCheck(f"{name} is available", differences=(*differences, *price_warning))
    except (NotFoundError, AttributeError) as error:
        listed = _listed(client) if settings.base_url else frozenset()
        if model in listed:
            return ModelCheck(f"{model} is available", differences=price_warning)
        if settings.base_url and not listed:
            summary = f"{settings.base_url} answers; whether it has {model} cannot be verified"
            return ModelCheck(summary, verified=False, differences=price_warning)
        raise AgentError(
            f"{model} does not exist. Set {variable} to a current model id, "
            "such as claude-opus-5-5."
        ) from error
    except (APIError, httpx2.HTTPError) as error:
        reason = unavailable(error, model).reason.rstrip(".")
        raise AgentError(
            f"{reason}. Check ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL and the network; until then "
            "answers are the best passages, word for word."
        ) from error


def _listed(client: Anthropic) -> frozenset[str]:
    """Ids of the models that a gateway lists."""
    try:
        return frozenset(info.id for info in client.models.list(timeout=_SECONDS))
    except (APIError, httpx2.HTTPError, AttributeError, TypeError):
        return frozenset()


def _differences(info: ModelInfo, model: str, settings: AgentSettings) -> tuple[str, ...]:
    try:
        return tuple(f"{model}: {difference}" for difference in _compared(info, model, settings))
    except AttributeError:
        return ()  # a gateway describes models in its own way


def _compared(info: ModelInfo, model: str, settings: AgentSettings) -> Iterator[str]:
    profile = profile_for(model, settings)
    if info.lifecycle in ("deprecated", "retired"):
        when = f" and goes away on {info.retires_at:%Y-%m-%d}" if info.retires_at else ""
        yield f"it is {info.lifecycle}{when}: choose a current model"
    if model not in PROFILES:
        yield "Footnote does not know this id and treats it like a current Claude model"
    if info.max_tokens is not None and info.max_tokens < settings.max_tokens:
        yield f"it gives at most {info.max_tokens} tokens, FOOTNOTE_MAX_TOKENS asks for more"
    if info.max_input_tokens is not None and info.max_input_tokens < profile.context:
        yield f"it reads at most {info.max_input_tokens:,} tokens, not {profile.context:,}"
    if info.capabilities is not None:
        yield from _not_capable(info.capabilities, model, settings)


def _not_capable(can: ModelCapabilities, model: str, settings: AgentSettings) -> Iterator[str]:
    profile = profile_for(model, settings)
    if profile.native_citations and not can.citations.supported:
        yield "it has no native citations: set FOOTNOTE_CITATIONS=brackets"
    if profile.effort and not can.effort.supported:
        yield "it has no effort parameter: set FOOTNOTE_PROFILE=compat"
    elif profile.effort and not getattr(can.effort, settings.effort).supported:
        yield f"it does not take FOOTNOTE_EFFORT={settings.effort}"
    if profile.thinking and not can.thinking.types.adaptive.supported:
        yield "it does not think adaptively: set FOOTNOTE_PROFILE=compat"
    if settings.self_check and not can.structured_outputs.supported:
        yield "it has no structured output: FOOTNOTE_SELF_CHECK has no effect"
    if settings.web_search and not can.server_tools.web_search.supported:
        yield "it cannot search the web: FOOTNOTE_WEB_SEARCH has no effect"


def _no_price(model: str, settings: AgentSettings) -> str:
    limited = settings.daily_usd is not None or settings.daily_usd_per_user is not None
    effect = ", so no daily limit counts its answers" if limited else ""
    return f"{model}: its price is unknown{effect}"
