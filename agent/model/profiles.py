"""Model id -> the parameters that the model accepts; one model's required parameter is another's
error.

The ids are those of the Claude API. An unlisted id gets the parameters of every current Claude
model. On a gateway it gets only the basic ones (``COMPAT``).
"""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from agent.settings import AgentSettings


@dataclass(frozen=True, slots=True)
class Profile:
    """The features of one model."""

    thinking: bool = False
    """True if requests ask for adaptive thinking; other models always think, or never."""
    effort: bool = False
    system_notes: bool = False
    """Accepts messages with the role ``system`` between the turns."""
    native_citations: bool = True
    """Accepts ``search_result`` blocks and cites them."""
    strict_tools: bool = True
    structured: bool = True
    """``output_config.format``: an answer that follows a schema."""
    server_tools: bool = True
    """Web search on the API's side."""
    cache: bool = True
    context: int = 1_000_000
    max_output: int = 128_000


_NEWEST = Profile(effort=True, system_notes=True)
_FOURTH = Profile(thinking=True, effort=True)
_OLD = Profile(context=200_000, max_output=64_000)

PROFILES: dict[str, Profile] = {
    "claude-opus-5-5": _NEWEST,
    "claude-sonnet-5-5": _NEWEST,
    "claude-haiku-5-5": _NEWEST,
    "claude-fable-5-2": _NEWEST,
    "claude-fable-5-1": _NEWEST,
    "claude-mythos-5-2": _NEWEST,
    "claude-mythos-5-1": _NEWEST,
    "claude-opus-5": _NEWEST,
    "claude-fable-5": _NEWEST,
    "claude-mythos-5": _NEWEST,
    "claude-sonnet-5": Profile(effort=True),
    "claude-opus-4-8": replace(_FOURTH, system_notes=True),
    "claude-opus-4-7": _FOURTH,
    "claude-opus-4-6": _FOURTH,
    "claude-sonnet-4-6": replace(_FOURTH, max_output=64_000),
    "claude-haiku-4-5": _OLD,
    "claude-haiku-4-5-20251001": _OLD,
    "claude-opus-4-5": _OLD,
    "claude-opus-4-5-20251101": _OLD,
    "claude-sonnet-4-5": _OLD,
    "claude-sonnet-4-5-20250929": _OLD,
}

UNKNOWN = Profile()

COMPAT = Profile(
    native_citations=False,
    strict_tools=False,
    structured=False,
    server_tools=False,
    cache=False,
    context=128_000,
    max_output=8_192,
)


def profile_for(model: str, settings: AgentSettings) -> Profile:
    """The profile of ``model`` at the address in ``settings``."""
    foreign = _is_foreign(settings.base_url)
    if settings.profile == "compat" or (foreign and model not in PROFILES):
        return COMPAT
    profile = PROFILES.get(model, UNKNOWN)
    if settings.citations == "brackets" or (settings.citations == "auto" and foreign):
        # Some gateways silently drop search_result blocks, but never brackets, which are text.
        return replace(profile, native_citations=False)
    return profile


def _is_foreign(base_url: str | None) -> bool:
    host = urlsplit(base_url or "").hostname
    return host is not None and host != "anthropic.com" and not host.endswith(".anthropic.com")
