"""Settings of the agent, read from the environment and ``.env``."""

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class AgentSettings(BaseSettings):
    """Which model answers, and the limits it answers within."""

    model_config = SettingsConfigDict(
        env_prefix="FOOTNOTE_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    auth_token: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_AUTH_TOKEN")
    base_url: str | None = Field(default=None, validation_alias="ANTHROPIC_BASE_URL")
    model: str = "claude-opus-5-5"
    fallback_model: str | None = None
    profile: Literal["auto", "compat"] = "auto"
    """``compat`` speaks plainly to an Anthropic-compatible gateway."""
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
    """Budget for earlier turns; the root and the newest turns are kept."""
