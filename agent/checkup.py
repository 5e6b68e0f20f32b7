"""Asks the API about the configured model: whether it is there, and whether our profile fits it."""

from dataclasses import dataclass

import httpx2
from anthropic import APIError, NotFoundError
from anthropic.types import ModelInfo

from agent.errors import AgentError
from agent.failures import unavailable
from agent.model import open_client
from agent.profiles import PROFILES, profile_for
from agent.settings import AgentSettings


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What the API says of a model, and where it differs from what we send."""

    said: str
    differences: tuple[str, ...] = ()


def examine_model(settings: AgentSettings) -> ModelCheck:
    """One request, no tokens. Raises AgentError with cause and cure.

    https://platform.claude.com/docs/en/api/models/retrieve; gateways may not have it.
    """
    client = open_client(settings)
    try:
        info = client.models.retrieve(settings.model, timeout=15)
    except NotFoundError as error:
        if settings.base_url:
            return ModelCheck(f"{settings.base_url} answers, and does not describe its models")
        raise AgentError(
            f"{settings.model} does not exist. Set FOOTNOTE_MODEL to a current model id, "
            "such as claude-opus-5-5."
        ) from error
    except (APIError, httpx2.HTTPError) as error:
        reason = unavailable(error, settings.model).reason.rstrip(".")
        raise AgentError(
            f"{reason}. Check ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL and the network; until then "
            "answers are the best passages, word for word."
        ) from error
    return ModelCheck(f"{info.display_name} is available", tuple(_differences(info, settings)))


def _differences(info: ModelInfo, settings: AgentSettings) -> list[str]:
    profile = profile_for(settings.model, settings)
    found = []
    if settings.model not in PROFILES:
        found.append("this id is not in our table: it is spoken to like a current Claude model")
    if info.max_tokens is not None and info.max_tokens < settings.max_tokens:
        found.append(
            f"it gives at most {info.max_tokens} tokens, FOOTNOTE_MAX_TOKENS asks for more"
        )
    capabilities = info.capabilities
    if capabilities is not None:
        if profile.native_citations and not capabilities.citations.supported:
            found.append("it has no native citations: set FOOTNOTE_CITATIONS=brackets")
        if profile.effort and not capabilities.effort.supported:
            found.append("it takes no effort parameter: set FOOTNOTE_PROFILE=compat")
    return found
