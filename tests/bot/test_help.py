"""What ``--help`` says, in a terminal of the usual width."""

import pytest
from typer.testing import CliRunner

from bot.cli import app


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("run", "and FOOTNOTE_DOCS_REPO. footnote doctor says what is missing."),
        ("ingest", "the ingest and this command shows its progress."),
        ("ingest", "• footnote ingest ./docs"),
        ("trace", "Usage: footnote trace [OPTIONS] [ID]"),
    ],
)
def test_paragraphs_flow_and_examples_stand_alone(command: str, line: str) -> None:
    result = CliRunner().invoke(
        app, [command, "--help"], prog_name="footnote", env={"COLUMNS": "80"}
    )
    assert line in [shown.strip() for shown in result.stdout.splitlines()]
