"""Settings of the agent, read from the environment and ``.env``."""

import re
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from ingest.settings import EnvironmentSettings, HttpAddress, Listed

_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")


class AgentSettings(EnvironmentSettings):
    """The model that answers, and its limits."""

    api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    auth_token: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_AUTH_TOKEN")
    base_url: HttpAddress | None = Field(default=None, validation_alias="ANTHROPIC_BASE_URL")
    model: str = "claude-opus-5-5"
    fallback_model: str | None = None
    profile: Literal["auto", "compat"] = "auto"
    """``compat`` sends only basic parameters, for an Anthropic-compatible gateway."""
    citations: Literal["auto", "native", "brackets"] = "auto"
    route: Literal["agent", "auto", "single"] = "agent"
    effort: Literal["low", "medium", "high"] = "low"
    max_tokens: int = Field(default=8_000, ge=256)
    max_searches: int = Field(default=4, ge=1)
    max_steps: int = Field(default=8, ge=2)
    deadline: float = Field(default=90.0, gt=0)
    """Seconds for a whole answer."""
    call_timeout: float = Field(default=30.0, gt=0)
    """Seconds without a byte from the model before a call counts as lost."""
    conversation_tokens: int = Field(default=20_000, ge=1_000)
    """Budget for earlier turns; beyond it only the root and the newest turns are sent."""
    daily_usd: float | None = Field(default=None, ge=0)
    """Dollars a day (UTC) for all answers; beyond it they are passages only."""
    daily_usd_per_user: float | None = Field(default=None, ge=0)
    self_check: bool = False
    """Let the model judge the result of its first search in a separate request."""
    web_search: bool = False
    """Search the web if the docs have no answer."""
    web_domains: Listed = ()
    """Search only these domains and their subdomains; empty means all."""

    @property
    def has_key(self) -> bool:
        """True if a key for a model is set."""
        return bool(self.api_key or self.auth_token)

    @field_validator("web_domains")
    @classmethod
    def _bare(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        domains = tuple(domain.lower() for domain in value)
        for domain in domains:
            if not _DOMAIN.fullmatch(domain):
                raise ValueError(f"{domain!r} is not a bare domain such as docs.python.org")
        return domains
