"""The admin channel hears once that the ingest fails, and once that it works again."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.journal.claims import Journal, open_journal
from bot.listeners.home import outage_lines, run_lines
from bot.notices.ingest_notice import IngestNotice
from bot.notices.once import Announcements
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.slack.clients import open_clients
from ingest.documents import IngestReport
from ingest.errors import DocsRepoError, IngestError, LargeDeletion
from ingest.index import open_index
from ingest.runs.record import IngestRuns
from ingest.settings import IndexSettings
from tests.bot.stage import Slack

AWAY = DocsRepoError("git fetch on https://git.corp.example/docs failed: no route.", "fetch_failed")
NOW = datetime(2026, 3, 2, 3, 10, tzinfo=UTC)
GOOD = IngestReport("local folder", 1, 1, 1, 0, 0, 0, 1, 0.1)

Replica = Callable[[str], tuple[IngestNotice, IngestRuns]]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = open_journal(None, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def replica(slack: Slack, workspace: Sandbox, journal: Journal, tmp_path: Path) -> Replica:
    """A process with its own data folder, over the same journal."""
    settings = BotSettings(bot_token="xoxb-sandbox", slack_api_url=workspace.api_url)
    clients = open_clients(settings)

    def replica(name: str) -> tuple[IngestNotice, IngestRuns]:
        index = open_index(IndexSettings(data_dir=tmp_path / name))
        runs = IngestRuns(tmp_path / name)
        announcements = Announcements(journal, clients.post)
        return IngestNotice(announcements, index, runs, "C0GENERAL"), runs

    return replica


def fail(runs: IngestRuns, error: IngestError = AWAY) -> None:
    runs.fail(runs.begin("schedule"), error, str(error))


def succeed(runs: IngestRuns) -> None:
    runs.finish(runs.begin("retry"), GOOD)


def posted(slack: Slack) -> list[str]:
    return [post["text"] for post in slack.posts()]


def test_a_failure_that_lasts_is_told_once_and_so_is_its_end(
    slack: Slack, replica: Replica
) -> None:
    notice, runs = replica("a")
    fail(runs)
    notice.tend(NOW)
    assert posted(slack) == []
    for minutes in (0, 5, 30, 90, 2_000):
        fail(runs)
        notice.tend(NOW + timedelta(minutes=minutes))
    [text] = posted(slack)
    assert "the docs repo cannot be read" in text
    assert "corp" not in text
    assert "no route" not in text
    succeed(runs)
    for _ in range(2):
        notice.tend(NOW + timedelta(hours=40))
    assert posted(slack)[1:] == [
        ":white_check_mark: The ingest of the docs works again: answers come from today's docs."
    ]
    fail(runs)
    fail(runs)
    notice.tend(NOW + timedelta(hours=60))
    assert len(posted(slack)) == 3


def test_a_failure_that_needs_somebody_is_told_at_once(slack: Slack, replica: Replica) -> None:
    notice, runs = replica("a")
    fail(runs, LargeDeletion("9 of 10 documents would be deleted.", 9, 10))
    notice.tend(NOW)
    [text] = posted(slack)
    assert "needs a confirmation" in text


def test_a_failure_before_a_restart_is_not_told_again_after_it(
    slack: Slack, replica: Replica
) -> None:
    for _ in range(2):
        notice, runs = replica("a")
        runs.take_over()
        fail(runs)
        fail(runs)
        notice.tend(NOW)
    assert len(posted(slack)) == 1
    succeed(runs)
    notice, _ = replica("a")
    notice.tend(NOW)
    assert len(posted(slack)) == 2


def test_of_replicas_one_tells_of_a_failure_and_of_its_end(slack: Slack, replica: Replica) -> None:
    replicas = [replica(name) for name in ("a", "b", "c")]
    for step in (fail, fail, succeed):
        for number, (notice, runs) in enumerate(replicas):
            step(runs)
            notice.tend(NOW + timedelta(minutes=40 * number))
    assert len(posted(slack)) == 2


def test_a_run_that_somebody_asked_for_tells_nobody(slack: Slack, replica: Replica) -> None:
    notice, runs = replica("a")
    for _ in range(3):
        runs.fail(runs.begin("command"), AWAY, str(AWAY))
    notice.tend(NOW)
    assert posted(slack) == []


def test_the_status_in_slack_names_cause_and_next_try_without_the_error(replica: Replica) -> None:
    _, runs = replica("a")
    fail(runs)
    runs.publish("next_try_at", "2026-03-02T03:15:00+00:00")
    lines = "\n".join([*run_lines(runs.last()), *outage_lines(runs.outage())])
    assert "1 failed ingest since 20" in lines
    assert "the docs repo cannot be read" in lines
    assert "Next try: 2026-03-02T03:15:00+00:00" in lines
    assert "corp" not in lines
