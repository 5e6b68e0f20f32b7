"""Settings of the Slack side, read from the environment and ``.env``."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from ingest.errors import SettingsError
from ingest.settings import EnvironmentSettings, HttpAddress, Listed


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _reindexers(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if value not in ("everyone", "admins") and not re.fullmatch(r"[UW][A-Z0-9]{2,}", value):
            raise ValueError(f"{value!r} is not everyone, admins or the id of a person (U…)")
    return values


LogLevel = Annotated[
    Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], BeforeValidator(_upper)
]


class BotSettings(EnvironmentSettings):
    """Credentials for Slack, and settings of the bot."""

    bot_token: SecretStr | None = Field(default=None, validation_alias="SLACK_BOT_TOKEN")
    app_token: SecretStr | None = Field(default=None, validation_alias="SLACK_APP_TOKEN")
    signing_secret: SecretStr | None = Field(default=None, validation_alias="SLACK_SIGNING_SECRET")
    slack_api_url: HttpAddress = Field(
        default="https://slack.com/api/", validation_alias="SLACK_API_URL"
    )
    database_url: SecretStr | None = Field(default=None, validation_alias="DATABASE_URL")
    """Database of the journal; None: SQLite in the data folder."""
    port: int = Field(default=3000, validation_alias="PORT", ge=1, le=65535)
    workers: int = Field(default=50, ge=1)
    """Answers that are written at the same time; more questions wait in a queue."""
    queue: int = Field(default=200, ge=1)
    """Questions that may wait; further askers are asked to try again."""
    stream: Literal["dm", "all", "off"] = "dm"
    """Channels that show checked paragraphs while the rest is written."""
    user_per_minute: int = Field(default=240, ge=0)
    """Questions per minute and person; 0 sets no limit."""
    channel_per_minute: int = Field(default=0, ge=0)
    """Questions per minute and channel or direct message; 0 sets no limit."""
    drain_seconds: float = Field(default=20.0, ge=0)
    """Seconds that SIGTERM waits for unfinished answers."""
    log_level: LogLevel = "INFO"
    store_text: bool = False
    """Store the words of questions and answers in the journal, for 30 days as all else."""
    allowed_channels: Listed = ()
    """Ids of channels shared with other organisations in which Footnote answers."""
    allowed_users: Listed = ()
    """Ids of guests, and of people of other organisations, who may ask."""
    guests: bool = False
    """Allow guest accounts to ask."""
    reindex: Annotated[Listed, AfterValidator(_reindexers)] = ("everyone",)
    """Who may order an ingest in Slack: ``everyone`` who may ask, ``admins``, or ids of people."""
    digest_channel: str | None = None
    """Id of the channel that gets the weekly digest for the docs team; None: no digest."""
    digest_at: str = "0 9 * * 1"
    """Time of the digest: five cron fields, or a time of day."""
    admin_channel: str | None = None
    """Id of the channel that hears when the nightly ingest fails, and when it works again."""
    change_notes_days: int = Field(default=7, ge=0, le=60)
    """Age in days up to which threads get change notes, in channels that want them."""
    help_group: str | None = None
    """User group (``S…``) or user (``U…``) that *Need a human* calls."""

    @property
    def journal_url(self) -> str | None:
        """Address of the journal's database with its password; None for the data folder."""
        return self.database_url.get_secret_value() if self.database_url else None

    def require_tokens(self, *, http: bool) -> None:
        """Raise SettingsError if the connection to Slack lacks its secret.

        That is the signing secret with ``http``, and otherwise an app token (``xapp-…``).
        """
        if http:
            if self.signing_secret is None:
                raise SettingsError(
                    'SLACK_SIGNING_SECRET is missing. Copy it from "Basic Information" of your '
                    "Slack app: without it anybody could post events to this endpoint."
                )
        elif not (self.app_token and self.app_token.get_secret_value().startswith("xapp-")):
            raise SettingsError(
                "SLACK_APP_TOKEN is missing or not an app token. Create one that begins with xapp- "
                'with connections:write, under "Basic Information" of your Slack app.'
            )
