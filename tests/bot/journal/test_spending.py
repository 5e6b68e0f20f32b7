"""The dollars of today, from bookings that outlive their questions and hold for all replicas."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from agent.model.budget import Booking, Budget, Spent
from agent.settings import AgentSettings
from bot.journal.claims import Journal, open_journal
from bot.journal.records import Base, BookedRequest
from bot.journal.spending import Bookings
from bot.question.event import Key, by_hand
from tests.bot.journal.test_standby import renamed
from tests.waiting import wait_for

BOOKING = Booking("b1", "a1", "U1", "claude-opus-5-5", 0.25)


@pytest.fixture
def bookings(journal: Journal) -> Bookings:
    return Bookings(journal)


@pytest.fixture
def replica(database: str | None, tmp_path: Path) -> Iterator[Bookings]:
    """Another process with the same database."""
    opened = open_journal(database, tmp_path, alone=False)
    yield Bookings(opened)
    opened.close()


def test_what_was_spent_today_is_told_for_all_and_for_one_to_every_replica(
    journal: Journal, bookings: Bookings, replica: Bookings, monkeypatch: pytest.MonkeyPatch
) -> None:
    bookings.book(replace(BOOKING, id="old", usd=8.0))
    with journal.session() as session:
        session.execute(sa.update(BookedRequest).values(at=BookedRequest.at - 86_400))
    monkeypatch.setattr("time.time", lambda: 0.0)  # only the clock of the database counts
    assert bookings.book(BOOKING) == Spent(0.0, 0.0)
    assert replica.book(replace(BOOKING, id="b2", payer="U2", usd=0.5)) == Spent(0.25, 0.0)
    bookings.book(replace(BOOKING, id="b3", usd=None))
    assert replica.spent("U1") == Spent(0.75, 0.25)
    replica.correct("b1", 0.125)
    assert bookings.spent("U1") == Spent(0.625, 0.125)


def test_the_cost_of_a_deleted_question_stays_without_a_word_of_it(
    journal: Journal, bookings: Bookings
) -> None:
    question = by_hand("message", Key("T1", "C1", "1.1"), "U1", text="the password is sesame")
    journal.note(question)
    assert journal.claim(question.key)
    bookings.book(BOOKING)
    journal.delete(question.key)
    assert bookings.spent("U1") == Spent(0.25, 0.25)
    columns = set(BookedRequest.__table__.columns.keys())
    assert columns == {"id", "answer_id", "payer", "model", "usd", "at"}


def test_requests_at_the_same_time_do_not_pass_a_limit_together(
    bookings: Bookings, replica: Bookings
) -> None:
    settings = AgentSettings(daily_usd=0.5)
    budgets = [Budget(settings, bookings), Budget(settings, replica)]

    def book(number: int) -> str:
        return budgets[number % 2].book(replace(BOOKING, id=f"b{number}"))

    with ThreadPoolExecutor(8) as pool:
        refusals = list(pool.map(book, range(16)))

    assert refusals.count("") == 2
    assert bookings.spent("U1") == Spent(0.5, 0.5)


def test_a_database_that_is_away_refuses_where_a_limit_is_set(
    journal: Journal, bookings: Bookings
) -> None:
    with journal.session() as session:
        Base.metadata.tables["bookings"].drop(session.connection())
    assert Budget(AgentSettings(), bookings).book(BOOKING) == ""
    refusal = Budget(AgentSettings(daily_usd=5), bookings).book(BOOKING)
    assert "cannot be recorded" in refusal


def test_while_the_journal_is_away_a_limit_refuses_without_asking_the_database(
    database: str | None, tmp_path: Path
) -> None:
    journal = open_journal(database, tmp_path, has_standby=True)
    budget = Budget(AgentSettings(daily_usd=5), Bookings(journal))
    assert budget.refusal("U1") == ""
    with renamed(database, tmp_path):  # the table of bookings could be read
        journal.note(by_hand("message", Key("T1", "C1", "1.1"), "U1"))
        assert "cannot be recorded" in budget.refusal("U1")
        assert "cannot be recorded" in budget.book(BOOKING)
    wait_for(lambda: not journal.is_away)
    assert budget.book(BOOKING) == ""
    journal.close()
