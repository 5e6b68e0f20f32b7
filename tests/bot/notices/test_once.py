"""An announcement is claimed once, and taken up again only where its post did not end."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.journal.claims import Journal, open_journal
from bot.journal.records import Announcement
from bot.notices.once import MAX_ATTEMPTS, Announcements
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.slack.clients import open_clients
from tests.bot.stage import Slack

MESSAGE = {"text": "news"}


@pytest.fixture
def journal(database: str | None, tmp_path: Path) -> Iterator[Journal]:
    opened = open_journal(database, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def announcements(journal: Journal, workspace: Sandbox, slack: Slack) -> Announcements:
    settings = BotSettings(bot_token="xoxb-sandbox", slack_api_url=workspace.api_url)
    return Announcements(journal, open_clients(settings).post)


def later(journal: Journal, seconds: float) -> None:
    with journal.session() as session:
        for row in session.query(Announcement):
            row.at -= seconds


def test_of_many_callers_at_once_one_may_post(announcements: Announcements) -> None:
    won: list[bool] = []
    threads = [
        threading.Thread(target=lambda: won.append(announcements.claim("digest")))
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 11 + [True]


def test_a_claim_left_by_a_crash_is_taken_up_a_few_times(
    announcements: Announcements, journal: Journal
) -> None:
    assert announcements.claim("digest")
    for _ in range(MAX_ATTEMPTS - 1):
        assert not announcements.claim("digest")
        later(journal, 1_000)
        assert announcements.claim("digest")
    later(journal, 1_000)
    assert not announcements.claim("digest")


def test_what_was_told_is_known_and_what_is_still_to_come_is_not(
    announcements: Announcements, slack: Slack
) -> None:
    for name in ("change a 1", "change a 2", "change b 1"):
        announcements.claim(name, [f"of {name}"])
    assert announcements.announced("change a ") == set()
    assert announcements.unfinished("change a ")
    assert announcements.post("change a 1", "C0GENERAL", MESSAGE, None)
    assert announcements.announced("change a ") == {"of change a 1"}
    assert announcements.announced("change b ") == set()
    assert announcements.post("change a 2", "C0GENERAL", MESSAGE, None)
    assert not announcements.unfinished("change a ")
    assert not announcements.announced("change %")


def test_they_are_forgotten_after_months(announcements: Announcements, journal: Journal) -> None:
    announcements.claim("digest")
    later(journal, 200 * 86_400)
    settings = BotSettings(bot_token="xoxb-x")
    Announcements(journal, open_clients(settings).post)
    with journal.session() as session:
        assert session.query(Announcement).count() == 0
