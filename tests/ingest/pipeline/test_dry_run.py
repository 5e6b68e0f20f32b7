"""``footnote ingest --dry-run``: what an ingest would do, without doing it."""

from pathlib import Path

import pytest

from ingest.data_folder import own_data_folder
from tests.ingest.repo.remotes import DocsRemote
from tests.ingest.test_cli import run, run_json


@pytest.fixture(autouse=True)
def _small_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")


@pytest.fixture
def docs() -> Path:
    folder = Path("docs")
    folder.mkdir()
    (folder / "pay.md").write_text("# Pay\n\nRestart the payout worker first.\n")
    (folder / "ports.adoc").write_text("= Ports\n\nThe relay listens on 7444.\n")
    (folder / "empty.md").write_text("")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    return folder


def test_it_says_what_would_be_read_and_left_out_and_writes_nothing(docs: Path) -> None:
    expected = run_json("ingest", str(docs), "--dry-run")
    assert (expected["documents"], expected["added"], expected["chunks"]) == (2, 2, 2)
    assert list(expected["formats"]) == [".adoc", ".md"]
    assert {(left["reason"], *left["examples"]) for left in expected["reasons"]} == {
        ("empty: the file has no content", "empty.md"),
        ("unsupported: no reader for .png", "logo.png"),
    }
    assert not Path(".footnote").exists()
    shown = run("ingest", str(docs), "--dry-run")
    assert shown.startswith("2 documents would be read, about 2 chunks: 2 new, 0 changed")
    assert "skipped  1: unsupported: no reader for .png\n         logo.png" in shown


@pytest.mark.parametrize("names", [(), ("logo.png", "map.svg")])
def test_a_folder_without_pages_is_a_warning(names: tuple[str, ...]) -> None:
    Path("assets").mkdir()
    for name in names:
        Path("assets", name).write_bytes(b"\x89PNG")
    shown = run("ingest", "assets", "--dry-run")
    assert "warning  0 documents are indexed: the docs root has no readable page" in shown


def test_a_file_that_a_page_includes_is_not_said_to_be_deleted(docs: Path) -> None:
    (docs / "relay.ini").write_text("[relay]\nhold_seconds = 41\n")
    (docs / "relay.md").write_text("# Relay\n\nAll:\n\n```{literalinclude} relay.ini\n```\n")
    assert run_json("ingest", str(docs))["documents"] == 4
    expected = run_json("ingest", str(docs), "--dry-run")
    assert (expected["documents"], expected["deleted"], expected["unchanged"]) == (3, 0, 3)


def test_it_tells_the_difference_to_the_index_while_another_process_owns_it(docs: Path) -> None:
    run("ingest", str(docs))
    before = {path: path.stat().st_mtime_ns for path in Path(".footnote").rglob("*.sqlite")}
    (docs / "pay.md").write_text("# Pay\n\nCall the payments team.\n")
    (docs / "ports.adoc").unlink()
    (docs / "new.md").write_text("# New\n\nA page.\n")
    with own_data_folder(Path(".footnote")):
        expected = run_json("ingest", str(docs), "--dry-run")
    names = ("added", "changed", "deleted", "unchanged", "to_embed")
    assert [expected[name] for name in names] == [1, 1, 1, 0, 2]
    assert {path: path.stat().st_mtime_ns for path in before} == before
    report = run_json("ingest", str(docs))
    assert (report["documents"], report["embedded"]) == (2, 2)


def test_the_index_inside_the_docs_is_not_part_of_them(docs: Path) -> None:
    run("ingest", str(docs), "--data-dir", "docs/data [1]")
    expected = run_json("ingest", str(docs), "--data-dir", "docs/data [1]", "--dry-run")
    assert (expected["documents"], expected["unchanged"]) == (2, 2)


def test_a_remote_is_asked_through_a_copy_of_the_clone(remote: DocsRemote) -> None:
    options = (remote.url, "--root", "docs")
    assert run_json("ingest", *options, "--dry-run")["added"] == 2
    run("ingest", *options)
    clone = Path(".footnote/clone")
    before = sorted(path for path in clone.rglob("*"))
    remote.write("docs/new.adoc", "= New\n\nA page.\n")
    remote.commit()
    expected = run_json("ingest", *options, "--dry-run")
    assert (expected["added"], expected["unchanged"]) == (1, 2)
    assert expected["revision"] == remote.head
    assert sorted(path for path in clone.rglob("*")) == before
