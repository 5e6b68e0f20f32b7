"""Every command tells of a `.env` that cannot be read in one line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from ingest.errors import SettingsError


@pytest.mark.parametrize(
    "command",
    [
        ["run"],
        ["ingest", "docs"],
        ["search", "words"],
        ["status"],
        ["ask", "question"],
        ["chat"],
        ["trace"],
        ["replay", "1"],
        ["report"],
        ["try"],
    ],
    ids=lambda command: command[0],
)
def test_a_dotenv_that_is_no_text_is_one_line_for_every_command(command: list[str]) -> None:
    Path("docs").mkdir()
    Path(".env").write_bytes(b"FOOTNOTE_MODEL=\xff\xfe\n")
    result = CliRunner().invoke(app, command, input="")
    assert isinstance(result.exception, SettingsError), result.output
    assert str(result.exception) == ".env is not UTF-8 text. Save it as UTF-8."


def test_doctor_lists_it_among_its_findings() -> None:
    Path(".env").write_bytes(b"FOOTNOTE_MODEL=\xff\xfe\n")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert ".env is not UTF-8 text. Save it as UTF-8." in result.stdout
