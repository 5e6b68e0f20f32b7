"""``footnote.toml`` and the docs' own questions, as ``search`` and ``status`` show them."""

from pathlib import Path

import pytest

from ingest.errors import IndexDamaged, SettingsError, UnknownCollection
from tests.ingest.test_cli import PAGES, run, run_json

CONFIG = """
[collections.money]
paths = ["pay.md", "ledger.md"]
description = "Payments and the ledger"
[collections.oncall]
paths = ["oncall/**"]
description = "Who is paged"
"""


@pytest.fixture(autouse=True)
def _docs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pages in two collections, ingested."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")
    for path, text in PAGES.items():
        Path("docs", path).parent.mkdir(parents=True, exist_ok=True)
        Path("docs", path).write_text(text)
    Path("docs/.footnote").mkdir()
    Path("docs/.footnote/questions.jsonl").write_text(
        '{"question": "restart payouts", "path": "pay.md"}\n{"question": "?", "path": "gone.md"}\n'
    )
    Path("footnote.toml").write_text(CONFIG)


def test_one_collection_is_searched() -> None:
    run("ingest", "docs")
    found = run_json("search", "page the secondary", "--collection", "money")
    assert {p["path"] for p in found["passages"]} == {"pay.md", "ledger.md"}
    with pytest.raises(UnknownCollection, match=r"^There is no collection 'handbook'; ") as caught:
        run("search", "x", "--collection", "handbook")
    assert caught.value.exit_code == 2


def test_status_lists_collections_the_self_test_and_warnings() -> None:
    empty = run_json("status")
    assert [c["documents"] for c in empty["collections"]] == [0, 0]
    assert (empty["self_test"], empty["warnings"]) == (None, [])
    assert "self-test 1 of 1 questions found their page" in run("ingest", "docs")
    state = run_json("status")
    assert state["collections"] == [
        {"name": "money", "description": "Payments and the ledger", "documents": 2},
        {"name": "oncall", "description": "Who is paged", "documents": 1},
    ]
    assert state["self_test"] == {"found": 1, "questions": 1, "share": 1.0}
    warning = ".footnote/questions.jsonl, line 2 was left out: there is no page gone.md."
    assert state["warnings"] == [warning]
    shown = run("status").splitlines()
    assert "           money: 2 documents. Payments and the ledger" in shown
    assert "self-test  1 of 1 questions found their page" in shown
    assert f"warning    {warning}" in shown


def test_a_mistake_in_the_file_is_one_line_for_every_command() -> None:
    Path("footnote.toml").write_text(CONFIG.replace("paths", "path", 1))
    for command in (["status"], ["search", "x"], ["ingest", "docs"]):
        with pytest.raises(SettingsError, match=r"^footnote\.toml, line 3: .*mean paths\?$"):
            run(*command)


def test_damage_that_was_mended_is_a_warning_of_one_line() -> None:
    run("ingest", "docs")
    file = next(Path(".footnote").glob("index-*")) / "pages.sqlite"
    with file.open("r+b") as database:
        database.seek(4096)
        database.write(bytes(range(256)) * 40)
    with pytest.raises(IndexDamaged, match="run `footnote ingest` to rebuild it"):
        run("search", "payout")
    assert "\nwarning  The keyword index cannot be read (" in run("ingest", "docs")
    [damage] = [line for line in run("status").splitlines() if "The keyword index" in line]
    assert damage.endswith("): the index was rebuilt.")
