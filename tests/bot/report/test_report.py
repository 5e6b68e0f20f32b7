"""What the docs team gets to see of the last days: in the terminal, as JSON, as a page."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from bot.cli import app
from bot.journal.claims import Journal, open_journal
from bot.report import AskedQuestion, percentile
from bot.report.collect import make_report
from bot.report.gaps import group
from bot.report.page import report_page
from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from ingest.documents import DocumentInfo
from ingest.errors import FootnoteError
from tests.bot.journal.past import answered, cited, voted
from tests.bot.stage import Slack

NOW = datetime.now(UTC)
YESTERDAY = NOW - timedelta(days=1)
HOSTILE = "<script>alert(1)</script> \x1b[31m*<!channel>* \"'&"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = open_journal(None, tmp_path / ".footnote")
    yield opened
    opened.close()


def told(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["report", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def asked(words: str, hours: int = 0) -> AskedQuestion:
    return AskedQuestion(words, NOW - timedelta(hours=hours), "C1", "1.1", "not_in_docs", words)


def test_questions_alike_are_one_gap_and_the_most_asked_comes_first(journal: Journal) -> None:
    for number, query in enumerate(("rotate the signing key", "signing key rotation staging")):
        answered(journal, f"a{number}", YESTERDAY, "not_in_docs", queries=(query,))
    answered(journal, "a2", YESTERDAY, "uncited", queries=("vpn access", "vpn for contractors"))
    answered(journal, "a3", YESTERDAY, "answered", queries=("vpn access",))
    answered(journal, "old", NOW - timedelta(days=9), "not_in_docs", queries=("vpn access",))
    gaps = json.loads(told("--json"))["gaps"]
    assert [(gap["topic"], gap["count"]) for gap in gaps] == [
        ("signing key rotation staging", 2),
        ("vpn access; vpn for contractors", 1),
    ]
    assert gaps[0]["asked"][0]["nearest"] == "near-0"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("rotate signing key", "key rotation for signing", True),
        ("PAY-4031", "pay-4031 meaning", True),
        ("kafka", "kafka", True),
        ("kafka", "kafka partition rebalance", False),
        ("refund limit Brazil", "vpn limit contractor", False),
        ("", "kafka", False),
        ("", "", True),
        ("署名鍵の更新", "署名鍵 更新", True),
    ],
)
def test_alike_means_most_words_shared(one: str, other: str, alike: bool) -> None:
    assert len(group([asked(one), asked(other, 1)])) == (1 if alike else 2)


@given(st.lists(st.text(max_size=40), max_size=12))
def test_grouping_loses_no_question(words: list[str]) -> None:
    gaps = group([asked(text, hour) for hour, text in enumerate(words)])
    assert sorted(a.words for gap in gaps for a in gap.questions) == sorted(words)


def test_verdicts_cost_latency_and_searches_are_counted(journal: Journal) -> None:
    for number in range(20):
        more: dict[str, Any] = {"seconds": number + 1.0, "cost_usd": 0.5 if number else None}
        answered(
            journal, f"a{number}", YESTERDAY, queries=("one", "two"), user=f"U{number % 3}", **more
        )
    answered(journal, "talk", YESTERDAY, "no_search", seconds=100.0, cost_usd=0.0)
    voted(journal, "a1", YESTERDAY, "up")
    voted(journal, "a2", YESTERDAY, "down", "wrong\nregion")
    journal.call_human("a3", "U1")
    report = json.loads(told("--json"))
    assert report["answers"] == 21
    assert report["askers"] == 4
    assert report["verdicts"] == {"answered": 20, "no_search": 1}
    assert (report["seconds_p50"], report["seconds_p95"]) == (11.0, 20.0)
    assert report["searches_per_answer"] == 1.9
    assert (report["cost_usd"], report["unpriced"]) == (9.5, 1)
    assert (report["thumbs_up"], report["humans_called"]) == (1, 1)
    assert [(c["id"], c["reason"]) for c in report["thumbs_down"]] == [("a2", "wrong region")]


def test_pages_cited_although_old_are_named_with_their_owner() -> None:
    old, new = NOW - timedelta(days=400), NOW - timedelta(days=3)
    documents = [
        DocumentInfo("old.md", "Old", old, "payments"),
        DocumentInfo("older.md", "Older", old - timedelta(days=1)),
        DocumentInfo("new.md", "New", new),
        DocumentInfo("never-cited.md", "Never", old),
    ]
    journal = open_journal(None, Path("data"))
    for number, pages in enumerate((("old",), ("old", "older", "new", "gone"))):
        citations = tuple(cited(f"{page}-0", f"{page}.md") for page in pages)
        answered(journal, f"a{number}", YESTERDAY, citations=citations)
    records = journal.answers()
    journal.close()
    made = make_report(records, [], documents, begin=YESTERDAY - timedelta(1), end=NOW)
    stale = [(page.info.path, page.answers, page.days, page.info.owner) for page in made.stale]
    assert stale == [("old.md", 2, 400, "payments"), ("older.md", 1, 401, None)]


def test_a_period_without_answers_is_no_error(tmp_path: Path) -> None:
    assert "0 answers" in told()
    told("--html", "page.html")
    assert "Nobody asked a question" in (tmp_path / "page.html").read_text()


def test_the_page_runs_nothing_loads_nothing_and_shows_every_word_as_text(
    journal: Journal, tmp_path: Path
) -> None:
    page = (cited("x-0", f"{HOSTILE}.md"),)
    answered(journal, "a1", YESTERDAY, "not_in_docs", queries=(HOSTILE,), channel=HOSTILE)
    answered(journal, "a2", YESTERDAY, "answered", citations=page)
    voted(journal, "a2", YESTERDAY, "down", HOSTILE)
    told("--html", "page.html")
    source = (tmp_path / "page.html").read_text()
    found = Elements()
    found.feed(source)
    assert not found.names & {"script", "img", "link", "iframe", "object", "form", "svg"}
    assert not re.search(r"(src|href)=|url\(|@import", source)
    assert "default-src 'none'" in source
    assert found.text.count("<script>alert(1)</script>") == 4
    assert "\x1b" not in source + told()


@given(st.text(), st.text())
def test_links_and_topics_never_leave_their_place(topic: str, link: str) -> None:
    gaps = group([asked(topic)])
    made = make_report([], [], [], begin=YESTERDAY, end=NOW)
    made = type(made)(
        **{name: getattr(made, name) for name in made.__slots__}
        | {"gaps": gaps, "verdicts": {"not_in_docs": 1}}
    )
    plain, other = Elements(), Elements()
    plain.feed(report_page(made, {topic: "x"}))
    other.feed(report_page(made, {topic: link or "x"}))
    assert other.tags == plain.tags


def test_questions_are_linked_to_slack_where_there_is_a_token(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = Sandbox(manifest=Manifest())
    sandbox.start()
    slack = Slack(sandbox.url)
    said = {"channel": "C0GENERAL", "user": "U0ONCALL", "text": "how do I rotate it?"}
    ts = slack.post("say", **said)["ts"]
    answered(journal, "a1", YESTERDAY, "not_in_docs", queries=("rotate key",), ts=ts)
    answered(journal, "a2", YESTERDAY, "not_in_docs", queries=("deleted words",), ts="1.000001")
    try:
        assert json.loads(told("--json"))["gaps"][0]["asked"][0]["link"] is None
        monkeypatch.setenv("SLACK_API_URL", sandbox.api_url)
        monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-sandbox")
        gaps = json.loads(told("--json"))["gaps"]
        links = {gap["topic"]: gap["asked"][0]["link"] for gap in gaps}
        assert "C0GENERAL" in links["rotate key"]
        assert links["deleted words"] is None
    finally:
        sandbox.stop()
    assert "rotate key" in told()


def test_a_file_that_cannot_be_written_is_one_line() -> None:
    with pytest.raises(FootnoteError, match=r"nowhere/page.html cannot be written"):
        told("--html", "nowhere/page.html")


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile((), 0.5) is None
    assert percentile((3.0,), 0.95) == 3.0
    assert percentile((1.0, 2.0, 3.0, 4.0), 0.5) == 2.0


class Elements(HTMLParser):
    """The elements and the text that a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[str]]] = []
        self.text = ""

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.tags}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [name for name, _ in attrs]))

    def handle_data(self, data: str) -> None:
        self.text += data
