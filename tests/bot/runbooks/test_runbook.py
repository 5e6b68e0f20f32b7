"""Alerts, and the part of the docs that belongs to them."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.blocks import render_runbook
from bot.reading.message import message_text
from bot.runbooks.alert import Alert, read_alert
from bot.runbooks.find import Runbook, find_runbook
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.bot.blocks.shown import shown
from tests.ingest.embedding.hashing import HashingEmbedder

TO_DO = "## What to do\n\nRun `drain`."
FILLER = "\n\n".join(
    f"Background sentence {n} about the design of the queue. " * 8 for n in range(9)
)
PAGES = {
    "alerts/DiskFull.md": "# DiskFull\n\n## Mitigation\n\nRun `prune --old` on the node.\n",
    "queues/queue-depth.md": f"# Queue depth\n\n## Design\n\n{FILLER}\n\n{TO_DO}\n",
    "other/queue-depth.md": "# Another\n\nNot this one.\n",
    "errors.md": "# Errors\n\n## ERR-77\n\nRotate the key.\n\n## Others\n\nNo ERR-77, SHA-256.\n",
    "payments/alerts/HighErrorRate.md": "# HighErrorRate\n\nRoll back payments.\n",
    "ledger/alerts/HighErrorRate.md": "# HighErrorRate\n\nFail over.\n",
    "ledger/failover.md": "# Failover\n\n## What to do\n\nPromote.\n",
    "alerts/catalogue.md": "# Catalogue\n\n## MailQueueStuck\n\n### Meaning\n\nIt waits.\n\n"
    "### Mitigation\n\nFlush it.\n\n## Watchdog is silent\n\nCheck the pager for a TypeError.\n",
    "tools/GitHub.md": "# GitHub\n\nHow to get an account.\n\n## OutOfSync\n\nPull again.\n",
    "README.md": "# Atlas\n\nWhere everything is. What to do when in doubt: ask.\n",
    "handbook.md": "# Handbook\n\nGood mornings are critical. DiskFull and High are words.\n",
}


@pytest.fixture(scope="module")
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, embedder: HashingEmbedder) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("runbooks")
    for path, text in PAGES.items():
        (folder / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / path).write_text(text, encoding="utf-8")
    chosen = IndexSettings(
        docs_repo=str(folder / "docs"),
        data_dir=folder / "data",
        link_template="https://git.test/acme/docs/blob/main/{path}#L{first}",
    )
    index = open_index(chosen, embedder)
    run_ingest(chosen, index, embedder)
    yield index
    index.close()


def found(text: str, index: Index) -> Runbook | None:
    return find_runbook(read_alert(text), index)


def path_of(text: str, index: Index) -> str | None:
    runbook = found(text, index)
    return runbook.passages[0].path if runbook else None


def test_an_alert_is_read_out_of_an_attachment() -> None:
    attachment = {
        "title": "[FIRING:1] DiskFull (db-1)",
        "text": "Labels:\n - alertname = DiskFull\n - service = db\n"
        " - runbook_url = https://rb.test/queues/queue-depth#what-to-do",
    }
    assert read_alert(message_text({"attachments": [attachment]})) == Alert(
        names=("DiskFull",),
        titles=("DiskFull", "db-1", "Labels", "alertname = DiskFull"),
        identifiers=("DiskFull",),
        services=("db",),
        addresses=("https://rb.test/queues/queue-depth#what-to-do",),
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"labels":{"alertname":"DiskFull","severity":"page"}}',
        "alertname=DiskFull severity=page",
        "*Alarm Name:* `DiskFull`",
        ":fire: *DiskFull* on db-1",
        "Triggered: [P2] disk full (db-1)",
        "Rule name: Disk full | open",
        "[RESOLVED] DiskFull for db-1",
        "#48 (https://pd.test/48): [FIRING:1] DiskFull prod",
    ],
)
def test_an_alert_is_known_by_its_name_however_it_is_written(index: Index, text: str) -> None:
    assert path_of(text, index) == "alerts/DiskFull.md"


@pytest.mark.parametrize(
    "text",
    [
        "can somebody look at the queue please?",
        "*Alert:* Node node-01 is unready",
        "Alert: critical",
        "[FIRING:1] High latency (prod)",
        "[FIRING:1] payments-api down (prod)",
        "Monitor: GitHub",
        "bad SHA-256 sum",
        "*TypeError*: x is not a function",
        "GitHub Actions failed",
        "The deploy is OutOfSync",
        "[FIRING:1] SomethingElse (x)",
    ],
)
def test_words_that_only_stand_somewhere_in_the_docs_show_nothing(index: Index, text: str) -> None:
    assert found(text, index) is None


def test_a_runbook_link_opens_its_page_at_the_section_that_says_what_to_do(index: Index) -> None:
    runbook = found("Runbook: https://rb.test/x/queues/queue_depth.html", index)
    assert runbook
    assert [p.heading[-1] for p in runbook.passages] == ["What to do"]
    assert runbook.found_by == "its runbook link"


@pytest.mark.parametrize(
    "address",
    [
        "https://rb.test/queue-depth",
        "https://rb.test/mail/queue-depth",
        "https://rb.test/payments/failover",
        "https://rb.test/failover",
        "https://rb.test/x/errors",
        "https://git.test/acme/docs/blob/main/maps/atlas.md",
    ],
)
def test_a_runbook_link_that_may_mean_another_page_is_not_guessed(
    index: Index, address: str
) -> None:
    assert found(f"Runbook: {address}", index) is None


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("Runbook: https://rb.test/docs/ledger/failover/", "ledger/failover.md"),
        ("Runbook: https://git.test/acme/docs/raw/v2/errors.md?x=1#L3", "errors.md"),
        ("See https://git.test/acme/docs/blob/0a1b2c/ledger/failover.md", "ledger/failover.md"),
        ("runbook_url = https://rb.test/alerts/Disk%20Full", "alerts/DiskFull.md"),
        ("Runbook: https://rb.test/queue-depth\nservice: queues", "queues/queue-depth.md"),
        ("See https://board.test/ledger/failover", None),
        ("See https://git.test/acme/api/blob/main/ledger/failover.md", None),
    ],
)
def test_a_link_leads_to_the_page_that_it_opens(index: Index, line: str, path: str | None) -> None:
    assert path_of(line, index) == path


def test_a_link_to_a_section_shows_that_section(index: Index) -> None:
    runbook = found("Runbook: https://rb.test/alerts/catalogue#watchdog-is-silent", index)
    assert runbook
    assert [p.heading[-1] for p in runbook.passages] == ["Watchdog is silent"]


def test_of_pages_that_are_called_alike_the_one_of_the_service_is_shown(index: Index) -> None:
    alert = "alertname = HighErrorRate"
    assert found(alert, index) is None
    assert path_of(f"{alert}\nservice = payments-api", index) == "payments/alerts/HighErrorRate.md"
    assert path_of(f"[FIRING:1] HighErrorRate (ledger)\n{alert}", index) == (
        "ledger/alerts/HighErrorRate.md"
    )


def test_a_section_that_is_called_like_the_alert_is_shown_whole(index: Index) -> None:
    runbook = found("[FIRING:1] MailQueueStuck (eu)", index)
    assert runbook
    text = "\n".join(passage.text for passage in runbook.passages)
    assert "It waits." in text
    assert "Flush it." in text
    assert "pager" not in text


def test_a_page_called_like_the_alert_is_shown(index: Index) -> None:
    runbook = found("[FIRING:2] DiskFull (db-1)", index)
    assert runbook
    assert {p.path for p in runbook.passages} == {"alerts/DiskFull.md"}


def test_an_error_code_is_found_where_a_heading_names_it(index: Index) -> None:
    runbook = found("payments failed with ERR-77", index)
    assert runbook
    assert "Rotate the key." in runbook.passages[0].text


def test_a_runbook_link_that_is_no_address_is_passed_over(index: Index) -> None:
    assert read_alert("Runbook: https://[abc]/runbook/x and http://").addresses == ()
    assert found("DiskFull fired, runbook: https://[abc]/DiskFull", index)


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
