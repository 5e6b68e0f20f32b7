"""When many of the pages were left out, everybody hears it for as long as it is true."""

from pathlib import Path

import pytest

from bot.doctor import examine
from bot.listeners.home import left_out_lines
from ingest.documents import Skipped
from ingest.errors import DocsRepoError
from ingest.pipeline.left_out import left_out
from ingest.runs.record import IngestRuns
from ingest.runs.runner import Runner
from ingest.runs.state import read_state
from tests.ingest.pipeline.docs import PAY, Docs

SENTENCE = (
    "4 files look like pages, 3 were left out: .tex (2), .md (1). `footnote ingest --dry-run` says"
    " why: save them in a format that is read, such as Markdown, or name them in"
    " FOOTNOTE_DOCS_EXCLUDE."
)


@pytest.fixture
def docs(tmp_path: Path) -> Docs:
    docs = Docs(tmp_path)
    docs.write("pay.md", PAY)
    docs.write("ports.tex", "The relay listens on 7444.\n")
    docs.write("limits.tex", "31 megabytes.\n")
    docs.write("values.yaml", "replicas: 3\n")
    (docs.folder / "old.md").write_bytes(b"\x89PNG\x00\x01")
    (docs.folder / "logo.png").write_bytes(b"\x89PNG")
    return docs


def test_the_report_status_doctor_and_app_home_say_what_was_left_out(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = IngestRuns(docs.settings.data_dir)
    runner = Runner(docs.settings, docs.index, runs, docs.embedder)
    for _ in range(2):  # a run that changes nothing says it, too
        report = runner.run(runs.begin("command"))
        assert report.left_out == SENTENCE
        assert SENTENCE in report.warnings
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(docs.settings.data_dir))
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")
    [index] = [finding for finding in examine() if finding.name == "index"]
    assert (index.state, index.said) == ("note", f"1 documents, 1 chunks. {SENTENCE}")
    # A failed run does not make it untrue.
    with pytest.raises(DocsRepoError):
        runner.run(runs.begin("command"), {"docs_repo": "no-such-folder"})
    state = read_state(docs.settings)
    assert (state["left_out"], state["warnings"]) == (SENTENCE, [SENTENCE])
    assert left_out_lines(runs.left_out()) == [f":warning: {SENTENCE}"]


def test_nothing_is_said_of_pages_that_the_settings_exclude(docs: Docs) -> None:
    exclude = {"docs_exclude": ("*.tex", "old.md")}
    docs.settings = docs.settings.model_copy(update=exclude)
    report = docs.ingest()
    assert (report.left_out, report.warnings) == ("", ())
    assert left_out_lines("") == []


def test_a_tenth_may_be_left_out() -> None:
    lost = [Skipped("a.docx", "unsupported: no reader for .docx")]
    assert left_out(lost, 9) == ""
    assert "9 files look like pages, 1 was left out: .docx (1)." in left_out(lost, 8)


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
