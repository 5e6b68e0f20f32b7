"""The docs channel hears once a week what the docs could not answer, and nothing private."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from bot.journal.claims import Journal, open_journal
from bot.journal.records import Announcement
from bot.notices.digest import Digest, digest_message
from bot.notices.once import Announcements
from bot.report import AskedQuestion
from bot.report.collect import make_report
from bot.report.gaps import group
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.slack.clients import open_clients
from ingest.errors import SettingsError
from ingest.index import open_index
from ingest.settings import IndexSettings
from tests.bot.blocks.limits import broken_limits
from tests.bot.journal.past import answered, cited, voted
from tests.bot.stage import Json, Slack

DUE = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""A Monday."""
MIDWEEK = DUE - timedelta(days=4)

Process = Callable[..., Digest]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = open_journal(None, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def process(
    slack: Slack, workspace: Sandbox, journal: Journal, tmp_path: Path
) -> Iterator[Process]:
    """A process's worth of digest over the same journal."""
    index = open_index(IndexSettings(data_dir=tmp_path))

    def process(**settings: Any) -> Digest:
        given: dict[str, Any] = {"digest_channel": "C0GENERAL", **settings}
        known = BotSettings(bot_token="xoxb-sandbox", slack_api_url=workspace.api_url, **given)
        clients = open_clients(known)
        return Digest(clients, journal, index, Announcements(journal, clients.post), known, "UTC")

    yield process
    index.close()


def a_week(journal: Journal, slack: Slack) -> str:
    """Two public gaps, one asked in private; the ts of the newest public one."""
    ask = {"user": "U0ONCALL", "text": "?"}
    ts = str(slack.post("say", channel="C0INCIDENT", **ask)["ts"])
    answered(
        journal,
        "g1",
        MIDWEEK,
        "not_in_docs",
        queries=("rotate signing key",),
        ts=ts,
        channel="C0INCIDENT",
    )
    answered(
        journal,
        "g2",
        MIDWEEK,
        "uncited",
        queries=("signing key rotation secret",),
        channel="D0ONCALL",
    )
    answered(
        journal, "g3", MIDWEEK, "not_in_docs", queries=("layoffs in may",), channel="C0PRIVATE"
    )
    answered(
        journal,
        "ok",
        MIDWEEK,
        citations=(cited("a-0", "a.md"),),
        cost_usd=0.25,
        seconds=4.0,
        channel="C0INCIDENT",
    )
    voted(journal, "ok", MIDWEEK, "down", "wrong <!channel> region")
    return ts


def test_it_says_what_was_asked_in_public_and_only_counts_the_rest(
    journal: Journal, slack: Slack, process: Process
) -> None:
    ts = a_week(journal, slack)
    process().tend(DUE + timedelta(minutes=1))
    [post] = slack.posts()
    shown = json.dumps(post["blocks"], ensure_ascii=False)
    assert post["channel"] == "C0GENERAL"
    assert "4 answers" in shown
    assert "1 × rotate signing key · <http" in shown
    assert f"p{ts.replace('.', '')}" in shown
    assert "2 × asked in private" in shown
    assert "wrong &lt;!channel&gt; region · `a.md`" in shown
    assert "layoffs" not in shown
    assert "secret" not in shown
    assert not broken_limits(post)


def test_it_is_sent_once_whatever_restarts_and_whoever_else_runs(
    journal: Journal, slack: Slack, process: Process
) -> None:
    a_week(journal, slack)
    first = process()
    first.tend(DUE - timedelta(minutes=1))
    assert slack.posts() == []
    first.tend(DUE)
    for minutes in (1, 60, 23 * 60):
        first.tend(DUE + timedelta(minutes=minutes))
        process().tend(DUE + timedelta(minutes=minutes))
    assert len(slack.posts()) == 1
    answered(journal, "next", DUE + timedelta(days=1))
    process().tend(DUE + timedelta(days=7))
    assert len(slack.posts()) == 2


def test_after_a_day_it_is_too_late(journal: Journal, slack: Slack, process: Process) -> None:
    a_week(journal, slack)
    process().tend(DUE + timedelta(hours=25))
    assert slack.posts() == []


def test_a_week_without_questions_is_not_mentioned(slack: Slack, process: Process) -> None:
    process().tend(DUE)
    assert slack.posts() == []


def test_without_a_channel_there_is_none(journal: Journal, slack: Slack, process: Process) -> None:
    a_week(journal, slack)
    process(digest_channel=None).tend(DUE)
    assert slack.posts() == []


def test_when_slack_is_away_it_comes_later(
    journal: Journal, slack: Slack, process: Process
) -> None:
    a_week(journal, slack)
    slack.post("fail", method="chat.postMessage", error="internal_error", times=1)
    digest = process()
    digest.tend(DUE)
    digest.tend(DUE)
    assert slack.posts() == []
    long_ago(journal)
    digest.tend(DUE)
    assert len(slack.posts()) == 1


def test_a_channel_it_may_not_post_to_is_tried_once(
    journal: Journal, slack: Slack, process: Process
) -> None:
    a_week(journal, slack)
    digest = process(digest_channel="C0NOWHERE")
    digest.tend(DUE)
    long_ago(journal)
    digest.tend(DUE)
    assert len(slack.calls("chat.postMessage")) == 1


def test_a_time_that_is_none_is_named(process: Process) -> None:
    with pytest.raises(SettingsError, match="FOOTNOTE_DIGEST_AT: 'monday' is not a time"):
        process(digest_at="monday")


WORDS = st.text(max_size=400)


@given(st.lists(WORDS, max_size=30), WORDS)
def test_whatever_was_asked_slack_takes_it_and_nobody_is_pinged(
    questions: list[str], channel: str
) -> None:
    gaps = group(
        [
            AskedQuestion(str(n), DUE, channel, "1.1", "not_in_docs", q)
            for n, q in enumerate(questions)
        ]
    )
    made = make_report([], [], [], begin=MIDWEEK, end=DUE)
    made = type(made)(**{name: getattr(made, name) for name in made.__slots__} | {"gaps": gaps})
    message: Json = digest_message(made, lambda _: True, {"0": "https://x.example/a|b>c"})
    assert not broken_limits(message)
    for block in Block.parse_all(message["blocks"]):
        block.validate_json()
    for block in message["blocks"][1:-1]:
        assert block["text"]["verbatim"]
        assert block["text"]["text"].count("<") == block["text"]["text"].count("<https://")


def long_ago(journal: Journal) -> None:
    with journal.session() as session:
        for row in session.query(Announcement):
            row.at -= 1_000.0
