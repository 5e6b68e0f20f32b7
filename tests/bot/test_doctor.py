"""``footnote doctor``: each cause in one line with its cure, and nothing asked twice."""

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.doctor import examine
from bot.sandbox.server import Sandbox
from tests.bot.stage import Slack
from tests.conftest import ROOT


@pytest.fixture(autouse=True)
def _sound(workspace: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with which everything is found well."""
    for name, value in {
        "SLACK_API_URL": workspace.api_url,
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_APP_TOKEN": "xapp-sandbox",
        "FOOTNOTE_DOCS_REPO": str(ROOT / "examples" / "docs"),
        "FOOTNOTE_EMBEDDER_INT8": "false",
    }.items():
        monkeypatch.setenv(name, value)


def failures() -> list[tuple[str, str]]:
    return [(finding.name, finding.said) for finding in examine() if not finding.ok]


def test_with_sound_settings_nothing_fails_and_slack_is_greeted_once(slack: Slack) -> None:
    assert failures() == []
    assert [call["method"] for call in slack.calls("auth.test", "apps.connections.open")] == [
        "auth.test",
        "apps.connections.open",
    ]
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 0


@pytest.mark.parametrize(
    ("variable", "value", "name", "said"),
    [
        ("SLACK_BOT_TOKEN", "xoxb-wrong", "slack", "refuses SLACK_BOT_TOKEN (invalid_auth)"),
        ("SLACK_APP_TOKEN", "xapp-wrong", "app token", "refuses SLACK_APP_TOKEN"),
        ("SLACK_API_URL", "http://127.0.0.1:1/api/", "slack", "cannot be reached at"),
        ("SLACK_API_URL", "nonsense", "settings", "SLACK_API_URL: 'nonsense' is not an address"),
        ("FOOTNOTE_DOCS_REPO", "/nowhere", "docs repo", "neither a folder nor a git address"),
        ("FOOTNOTE_DOCS_ROOT", "nowhere", "docs repo", "Set FOOTNOTE_DOCS_ROOT"),
        ("FOOTNOTE_DATA_DIR", "/dev/null/x", "data folder", "set FOOTNOTE_DATA_DIR"),
        ("FOOTNOTE_EMBEDDER", "/nowhere", "embedder", "model.onnx"),
        ("FOOTNOTE_INGEST_AT", "25:99", "schedule", "is not a time"),
        ("FOOTNOTE_CONFIG", "/nowhere.toml", "footnote.toml", "there is no file"),
        ("DATABASE_URL", "postgresql://u:sesame@127.0.0.1:1/x", "journal", "Connection refused"),
        ("DATABASE_URL", "postgresql://u:sesame@h:port/x", "journal", "%2F for a /"),
        ("CHROMA_HOST", "http://127.0.0.1:1", "chroma", "No Chroma server answers"),
    ],
)
def test_each_cause_is_one_line(
    variable: str, value: str, name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    [(found, line)] = failures()
    assert found == name
    assert said in line
    assert "\n" not in line
    assert "sesame" not in line
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 1
