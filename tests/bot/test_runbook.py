"""Alerts, and the part of the docs that belongs to them."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.alerts import message_text
from bot.blocks import render_runbook
from bot.runbook import Alert, Runbook, find_runbook, read_alert
from ingest.index import Index, open_index
from ingest.pipeline import run_ingest
from ingest.settings import IndexSettings
from tests.bot.shown import shown
from tests.ingest.hashing import HashingEmbedder

TO_DO = "## What to do\n\nRun `drain`."
FILLER = "\n\n".join(
    f"Background sentence {n} about the design of the queue. " * 8 for n in range(9)
)
PAGES = {
    "alerts/DiskFull.md": "# DiskFull\n\n## Mitigation\n\nRun `prune --old` on the node.\n",
    "queues/queue-depth.md": f"# Queue depth\n\n## Design\n\n{FILLER}\n\n{TO_DO}\n",
    "other/queue-depth.md": "# Another\n\nNot this one.\n",
    "errors.md": "# Errors\n\n## ERR-77\n\nRotate the key.\n\n## Others\n\nNo ERR-77.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("runbooks")
    for path, text in PAGES.items():
        (folder / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / path).write_text(text, encoding="utf-8")
    chosen = IndexSettings(docs_repo=str(folder / "docs"), data_dir=folder / "data")
    embedder = HashingEmbedder()
    index = open_index(chosen, embedder)
    run_ingest(chosen, index, embedder)
    yield index
    index.close()


def found(text: str, index: Index) -> Runbook | None:
    alert = read_alert(text)
    return find_runbook(alert, index) if alert else None


def test_an_alert_is_read_out_of_an_attachment() -> None:
    attachment = {
        "title": "[FIRING:1] DiskFull (db-1)",
        "text": "Labels:\n - alertname = DiskFull\n - service = db\n"
        " - runbook_url = https://rb.test/queues/queue-depth#what-to-do",
    }
    assert read_alert(message_text({"attachments": [attachment]})) == Alert(
        ("DiskFull",), ("db",), ("https://rb.test/queues/queue-depth#what-to-do",)
    )


def test_talk_is_no_alert() -> None:
    assert read_alert("can somebody look at the queue please?") is None
    assert read_alert("*Alert:* Node node-01 is unready") is None


def test_a_runbook_link_opens_its_page_at_the_section_that_says_what_to_do(index: Index) -> None:
    runbook = found("Runbook: https://rb.test/x/queues/queue_depth.html", index)
    assert runbook
    assert [p.heading[-1] for p in runbook.passages] == ["What to do"]
    assert runbook.found_by == "its runbook link"


def test_a_runbook_link_that_fits_two_pages_is_not_guessed(index: Index) -> None:
    assert found("Runbook: https://rb.test/queue-depth", index) is None


def test_a_page_called_like_the_alert_is_shown(index: Index) -> None:
    runbook = found("[FIRING:2] DiskFull (db-1)", index)
    assert runbook
    assert {p.path for p in runbook.passages} == {"alerts/DiskFull.md"}


def test_an_error_code_is_found_where_a_heading_names_it(index: Index) -> None:
    runbook = found("payments failed with ERR-77", index)
    assert runbook
    assert "Rotate the key." in runbook.passages[0].text


def test_a_runbook_link_that_is_no_address_is_passed_over(index: Index) -> None:
    assert read_alert("Runbook: https://[abc]/runbook/x and http://") is None
    assert found("DiskFull fired, runbook: https://[abc]/DiskFull", index)


def test_an_alert_that_the_docs_do_not_know_finds_nothing(index: Index) -> None:
    assert found("[FIRING:1] SomethingElse (x)", index) is None


def test_a_runbook_is_posted_with_its_citation_and_without_buttons(index: Index) -> None:
    runbook = found("alertname: DiskFull", index)
    assert runbook
    message = render_runbook(runbook.passages, runbook.found_by)
    assert shown([message]).codes == ["prune --old"]
    assert "[alerts/DiskFull-0]" in shown([message]).text
    assert not {"actions", "context_actions"} & {block["type"] for block in message["blocks"]}


@given(st.text(st.sampled_from("AbC-7 :=/[]#.\nrunbookhttps"), max_size=200))
def test_any_text_can_be_read_for_an_alert(text: str) -> None:
    read_alert(text)


@given(st.text(st.sampled_from("aF:]/[.%@#?1"), max_size=20))
def test_any_runbook_address_can_be_looked_up(index: Index, rest: str) -> None:
    found(f"runbook: https://{rest}", index)
