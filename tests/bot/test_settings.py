"""Settings of the Slack side: what cannot be right is told by name, before anything starts."""

from pathlib import Path

import pytest

from agent.settings import AgentSettings
from bot.settings import BotSettings
from ingest.errors import SettingsError
from ingest.settings import read_settings


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FOOTNOTE_LOG_LEVEL", "loud"),
        ("SLACK_API_URL", "garbage"),
        ("SLACK_API_URL", "http://"),
        ("SLACK_API_URL", "ftp://slack.example/api/"),
        ("SLACK_API_URL", "http://slack.example:port/"),
    ],
)
def test_a_value_that_cannot_be_right_is_told_by_name(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=f"^{variable}: ") as refused:
        read_settings(BotSettings)
    assert "\n" not in str(refused.value)


def test_the_address_of_the_model_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "localhost:8080")
    with pytest.raises(
        SettingsError, match=r"^ANTHROPIC_BASE_URL: .*not an address such as https://"
    ):
        read_settings(AgentSettings)


def test_a_log_level_may_be_written_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_LOG_LEVEL", "debug")
    assert read_settings(BotSettings).log_level == "DEBUG"


def test_a_line_of_dotenv_that_cannot_be_read_is_a_mistake() -> None:
    Path(".env").write_text("FOOTNOTE_WORKERS=3\nthis is nonsense\nFOOTNOTE_QUEUE=7\n")
    with pytest.raises(SettingsError, match=r"^\.env, line 2: cannot be read"):
        read_settings(BotSettings)


def test_a_dotenv_of_every_allowed_form_is_read() -> None:
    Path(".env").write_text(
        "# comment\n\nexport FOOTNOTE_WORKERS=3 # more\nFOOTNOTE_QUEUE = '7'\nEMPTY=\nBARE\n"
    )
    settings = read_settings(BotSettings)
    assert (settings.workers, settings.queue) == (3, 7)
