"""Text in the terminal: nothing in it can control the terminal, whatever it comes from."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.markdown import Markdown
from rich.table import Table
from typer.testing import CliRunner

from bot.cli import app
from ingest.invisible import HIDDEN
from ingest.terminal import VisibleConsole, print_json
from tests.conftest import ROOT

HOSTILE = "a\x1b[31m\x9b2J\u202e\u2066\U000e0041\x07\r\x1b]0;title\x07z"
_OWN = re.compile(r"\x1b\[[0-9;]*m")
"""Colours of the console itself."""


def printed(*values: object, **options: object) -> str:
    """What a terminal receives."""
    out = io.StringIO()
    console = VisibleConsole(file=out, force_terminal=True, color_system="standard", width=200)
    for value in values:
        console.print(value, **options)  # type: ignore[arg-type]
    return out.getvalue()


@given(st.text() | st.text(st.sampled_from(HOSTILE + "\n\t [/]")))
def test_no_character_of_a_text_controls_the_terminal(text: str) -> None:
    table = Table(title="t")
    table.add_column("c")
    for shown in (text, Markdown(text)):
        assert not HIDDEN.search(_OWN.sub("", printed(shown, markup=False, style="bold red")))
    table.add_row(text.replace("[", "("))
    assert not HIDDEN.search(_OWN.sub("", printed(table)))


def test_a_style_of_the_console_itself_stays() -> None:
    assert printed("x", style="red").startswith("\x1b[31m")
    assert HIDDEN.sub("", HOSTILE) in printed(HOSTILE, markup=False, highlight=False)


def test_json_escapes_what_nobody_sees(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({HOSTILE: [HOSTILE]})
    out = capsys.readouterr().out
    assert json.loads(out) == {HOSTILE: [HOSTILE]}
    assert not HIDDEN.search(out)


def test_names_in_the_docs_reach_the_terminal_without_hidden_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "pay.md").write_text(
        '---\ntitle: "Pay\\u202E\\e[31m"\nowner: "Team\\U000E0041 \\x9b"\ntags: ["a\\eb"]\n---\n\n'
        "# Pay &#x202E;&#27;[2J out\n\nRestart the payout worker first.\n"
    )
    copy = '---\nversion: "2\\u202E\\e[31m"\n---\n\n# Pay\n\nRestart the payout worker first.\n'
    for name in ("one", "two"):
        (docs / f"{name}.md").write_text(copy)
    (docs / "a\x1b[2Jb\u202e.md").write_text("# B\n\nThe ledger is append only.\n")
    for arguments in (["ingest", str(docs)], ["search", "payout worker"], ["status"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert not HIDDEN.search(result.stdout), arguments
        assert not HIDDEN.search(result.stderr), arguments
    [report] = [CliRunner().invoke(app, ["ingest", str(docs), "--json"]).stdout]
    [skipped] = json.loads(report)["skipped"]
    assert skipped["reason"].startswith("hidden:")
    found = json.loads(CliRunner().invoke(app, ["search", "payout worker", "--json"]).stdout)
    assert not HIDDEN.search(json.dumps(found, ensure_ascii=False))


def test_only_one_module_opens_a_console() -> None:
    files = [file for room in ("bot", "agent", "ingest") for file in (ROOT / room).rglob("*.py")]
    own = [file.name for file in files if re.search(r"import .*\bConsole\b", file.read_text())]
    assert own == ["terminal.py"]
