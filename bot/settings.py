"""Settings of the Slack side, read from the environment and ``.env``."""

from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


class BotSettings(BaseSettings):
    """Slack credentials and how the bot behaves there."""

    model_config = SettingsConfigDict(
        env_prefix="FOOTNOTE_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    bot_token: SecretStr | None = Field(default=None, validation_alias="SLACK_BOT_TOKEN")
    app_token: SecretStr | None = Field(default=None, validation_alias="SLACK_APP_TOKEN")
    signing_secret: SecretStr | None = Field(default=None, validation_alias="SLACK_SIGNING_SECRET")
    slack_api_url: str = Field(default="https://slack.com/api/", validation_alias="SLACK_API_URL")
    database_url: SecretStr | None = Field(default=None, validation_alias="DATABASE_URL")
    """Journal; None keeps it as SQLite in the data folder."""
    port: int = Field(default=3000, validation_alias="PORT", ge=1, le=65535)
    workers: int = Field(default=8, ge=1)
    """Answers made at the same time; more wait in a queue."""
    queue: int = Field(default=200, ge=1)
    """Questions that may wait; beyond that the asker is told to try again."""
    drain_seconds: float = Field(default=20.0, ge=0)
    """How long SIGTERM waits for answers under way."""
    log_level: str = "INFO"
    store_text: bool = False
    """Whether the journal keeps the words of questions and answers, for 30 days."""
    allowed_channels: Annotated[tuple[str, ...], NoDecode] = ()
    """Ids of externally shared channels in which Footnote may answer all the same."""
    allowed_users: Annotated[tuple[str, ...], NoDecode] = ()
    """Ids of people of other organisations, or guests, who may ask all the same."""
    guests: bool = False
    """Whether guest accounts may ask."""
    digest_channel: str | None = None
    """Id of the channel that gets the weekly digest for the docs team; None: no digest."""
    digest_at: str = "0 9 * * 1"
    """When: five cron fields, or a time of day."""
    change_notes_days: int = Field(default=7, ge=0, le=60)
    """Threads so old hear when a page cited in them changes, where ``footnote.toml`` says so."""
    help_group: str | None = None
    """User group (``S…``) or user (``U…``) that *Need a human* calls."""

    @field_validator("allowed_channels", "allowed_users", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value
