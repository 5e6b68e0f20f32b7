"""While the journal's database cannot be used, messages are in memory, and afterwards in it."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import sqlalchemy as sa

from agent.answer import Answer
from bot.journal import database as module
from bot.journal.claims import Journal, open_journal
from bot.journal.database import JournalError
from tests.bot.journal.test_database import spoiling
from tests.bot.journal.test_journal import ASKED, state
from tests.waiting import wait_for

Away = Callable[[str | None, Path], AbstractContextManager[object]]


@pytest.fixture
def journal(
    database: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Journal]:
    monkeypatch.setattr(module, "BRIEF_SECONDS", 0.05)
    monkeypatch.setattr("bot.journal.standby.RETRY_SECONDS", 0.02)
    opened = open_journal(database, tmp_path, has_standby=True)
    yield opened
    opened.close()


@contextmanager
def renamed(database: str | None, folder: Path) -> Iterator[sa.Connection]:
    """Rename the table of messages for a while."""
    with spoiling(database, folder) as connection:
        connection.exec_driver_sql("ALTER TABLE messages RENAME TO away")
        yield connection
        connection.exec_driver_sql("ALTER TABLE away RENAME TO messages")


@contextmanager
def locked(database: str | None, folder: Path) -> Iterator[None]:
    """Hold a lock on the journal's table or file for a while."""
    with spoiling(database, folder) as connection:
        connection.exec_driver_sql("BEGIN EXCLUSIVE")
        yield
        connection.exec_driver_sql("ROLLBACK")


@contextmanager
def gone(_database: str | None, folder: Path) -> Iterator[None]:
    """Remove the data folder."""
    shutil.rmtree(folder)
    yield


@pytest.mark.parametrize("away", [renamed, locked, gone])
def test_a_message_is_answered_once_across_an_outage_and_is_noted_afterwards(
    away: Away, journal: Journal, database: str | None, tmp_path: Path
) -> None:
    if database and away is not renamed:
        pytest.skip("a server has no file in the data folder")
    before, during = ASKED, replace(ASKED, ts="1.5", thread_ts="1.5", gesture="g5")
    journal.note(before)
    assert journal.claim(before.key)
    with away(database, tmp_path):
        assert journal.holds(before.key)
        if away is not gone:
            assert journal.is_away
        for _ in range(2):
            journal.note(during)
        assert [journal.claim(during.key) for _ in range(2)] == [True, False]
        journal.finish(during.key, "answered", reply_ts="1.6", answer_id="a2")
        journal.finish(before.key, "answered", reply_ts="1.2", answer_id="a1")
        journal.record(during, Answer("a2", "", "answered"), "1.6")
    wait_for(lambda: not journal.is_away)
    with spoiling(database, tmp_path) as connection:
        rows = connection.exec_driver_sql("SELECT ts, state, answer_id FROM messages ORDER BY ts")
        assert [tuple(row) for row in rows] == [
            ("1.1", "answered", "a1"),
            ("1.5", "answered", "a2"),
        ]
        assert connection.exec_driver_sql("SELECT id FROM answers").scalar() == "a2"
    assert not journal.claim(during.key)


def test_of_two_threads_of_which_one_works_in_memory_one_claims_a_message(tmp_path: Path) -> None:
    with closing(open_journal(None, tmp_path, has_standby=True)) as journal:
        journal.note(ASKED)
        with ThreadPoolExecutor(1) as threads:
            with locked(None, tmp_path):
                in_database = threads.submit(journal.claim, ASKED.key)
                pool = cast("sa.QueuePool", journal._engine.pool)
                wait_for(lambda: pool.checkedout() == 1)
                assert journal.standby
                journal.standby.went_away(JournalError("locked"))
                in_memory = journal.claim(ASKED.key)
            assert sorted([in_database.result(), in_memory]) == [False, True]


def test_what_another_process_did_meanwhile_is_not_undone(
    journal: Journal, database: str | None, tmp_path: Path
) -> None:
    journal.note(ASKED)
    assert journal.claim(ASKED.key)
    with renamed(database, tmp_path) as connection:
        journal.unposted(ASKED.key, "internal_error")
        assert journal.is_away
        connection.exec_driver_sql("UPDATE away SET state = 'answered', answer_id = 'theirs'")
    wait_for(lambda: not journal.is_away)
    found = journal.message(ASKED.key)
    assert found is not None
    assert (found.state, found.answer_id) == ("answered", "theirs")


def test_a_claim_that_another_process_keeps_alive_meanwhile_is_not_shortened(
    journal: Journal, database: str | None, tmp_path: Path
) -> None:
    journal.note(ASKED)
    assert journal.claim(ASKED.key)
    with spoiling(database, tmp_path) as connection:
        connection.exec_driver_sql("UPDATE messages SET owner = 'theirs'")
    assert not journal.holds(ASKED.key)
    with renamed(database, tmp_path) as connection:
        assert not journal.holds(ASKED.key)
        assert journal.is_away
        connection.exec_driver_sql("UPDATE away SET lease_until = 4000000000")
    wait_for(lambda: not journal.is_away)
    row = journal.message(ASKED.key)
    assert row is not None
    assert row.lease_until == 4000000000


def test_outages_within_a_minute_are_one_line_in_the_log_and_their_end_is_another(
    journal: Journal, database: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for outage in range(2):
        with renamed(database, tmp_path):
            for number in range(20):
                journal.note(replace(ASKED, ts=f"{outage}.{number}", gesture=None))
        wait_for(lambda: not journal.is_away)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
    assert "20 messages are written into it" in caplog.text
    assert "Traceback" not in caplog.text


def test_what_is_in_memory_at_the_end_is_written_if_the_database_is_back(
    journal: Journal, database: str | None, tmp_path: Path
) -> None:
    with renamed(database, tmp_path):
        journal.note(ASKED)
    journal.close()
    again = open_journal(database, tmp_path)
    assert state(again) == "noted"
    again.close()


def test_memory_holds_so_many_messages_and_the_newest_ones(
    journal: Journal, database: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.journal.standby._MOST", 5)
    with renamed(database, tmp_path):
        for number in range(12):
            journal.note(replace(ASKED, ts=f"2.{number:02}", gesture=None))
        keys = [replace(ASKED, ts=f"2.{number:02}").key for number in range(12)]
        is_in_memory = [False] * 7 + [True] * 5
        wait_for(lambda: [journal.message(key) is not None for key in keys] == is_in_memory)


def test_a_journal_that_is_closed_raises_what_is_wrong(
    journal: Journal, database: str | None, tmp_path: Path
) -> None:
    with renamed(database, tmp_path):
        journal.close()
        with pytest.raises(JournalError):
            journal.note(ASKED)
    journal.note(ASKED)
    assert state(journal) == "noted"
