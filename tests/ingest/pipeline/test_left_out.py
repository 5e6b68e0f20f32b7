"""When many of the pages were left out, everybody hears it for as long as it is true."""

from pathlib import Path

import pytest

from bot.doctor import examine
from bot.listeners.home import left_out_lines
from ingest.documents import Skipped
from ingest.pipeline.left_out import left_out
from ingest.runs.record import IngestRuns
from tests.ingest.test_cli import run, run_json

SENTENCE = (
    "4 files look like pages, 3 were left out: .tex (2), .md (1). `footnote ingest --dry-run` says"
    " why: save them in a format that is read, such as Markdown, or name them in"
    " FOOTNOTE_DOCS_EXCLUDE."
)


@pytest.fixture
def docs(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")
    folder = Path("docs")
    folder.mkdir()
    (folder / "pay.md").write_text("# Pay\n\nRestart the payout worker first.\n")
    (folder / "ports.tex").write_text("The relay listens on 7444.\n")
    (folder / "limits.tex").write_text("31 megabytes.\n")
    (folder / "old.md").write_bytes(b"\x89PNG\x00\x01")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    (folder / "values.yaml").write_text("replicas: 3\n")
    monkeypatch.setenv("FOOTNOTE_DOCS_REPO", str(folder))
    return folder


def test_the_report_status_doctor_and_app_home_say_what_was_left_out(docs: Path) -> None:
    for _ in range(2):  # a run that changes nothing says it, too
        report = run_json("ingest")
        assert report["left_out"] == SENTENCE
        assert SENTENCE in report["warnings"]
    with pytest.raises(Exception, match="neither a folder"):
        run("ingest", "no-such-folder")
    assert run_json("status")["left_out"] == SENTENCE
    assert f"warning    {SENTENCE}" in run("status")
    [index] = [finding for finding in examine() if finding.name == "index"]
    assert index.state == "fail"
    assert left_out_lines(IngestRuns(Path(".footnote")).left_out()) == [f":warning: {SENTENCE}"]
    run("ingest")
    [index] = [finding for finding in examine() if finding.name == "index"]
    assert (index.state, index.said) == ("note", f"1 documents, 1 chunks. {SENTENCE}")


def test_nothing_is_said_of_pages_that_the_settings_exclude(docs: Path) -> None:
    report = run_json("ingest", "--exclude", "*.tex", "--exclude", "old.md")
    assert (report["left_out"], report["warnings"]) == ("", [])
    assert left_out_lines("") == []


def test_a_tenth_may_be_left_out() -> None:
    lost = [Skipped("a.docx", "unsupported: no reader for .docx")]
    assert left_out(lost, 9) == ""
    assert "9 files look like pages, 1 were left out: .docx (1)." in left_out(lost, 8)


@pytest.mark.parametrize(
    ("path", "reason", "is_lost"),
    [
        ("a.docx", "unsupported: no reader for .docx", True),
        ("a.png", "unsupported: no reader for .png", False),
        ("a.rst", "huge: more than 9 bytes", True),
        ("a.json", "huge: more than 9 bytes", False),
        ("a.md", "encoding: neither UTF-8 nor UTF-16", True),
        ("a.md", "empty: the page has no text", False),
        ("a.docx", "excluded: by FOOTNOTE_DOCS_INCLUDE", False),
        ("a.md", "symlink: links are not followed", False),
        ("a.yaml", "malformed: not valid YAML or JSON", True),
        ("a.yaml", "no page: YAML or JSON", False),
    ],
)
def test_what_looks_like_a_page(path: str, reason: str, *, is_lost: bool) -> None:
    assert bool(left_out([Skipped(path, reason)], 0)) is is_lost
