"""Bookings of requests to models -> rows without any text, and the dollars of today.

The rows outlive their question and its answer. All replicas share them through the database.
"""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from agent.model.budget import Booking, Spent
from bot.journal.archive import Archive
from bot.journal.clock import Now
from bot.journal.records import BookedRequest

_DAY = 86_400.0
_LOCK = 7_203_312
"""Number of the database lock under which one process at a time books a request."""


class Bookings:
    """The bookings in the journal's database."""

    def __init__(self, journal: Archive) -> None:
        self._journal = journal

    def spent(self, payer: str) -> Spent:
        """Return the known cost since midnight UTC in dollars: of everybody, and of one person."""
        with self._journal.session() as session:
            return _spent(session, payer)

    def book(self, booking: Booking) -> Spent:
        """Add a booking, and return the dollars of today without it, in one transaction."""
        row = {
            "id": booking.id,
            "answer_id": booking.answer,
            "payer": booking.payer,
            "model": booking.model,
            "usd": booking.usd,
            "at": Now(),
        }
        with self._journal.session() as session:
            # SQLite has one writer at a time anyway.
            if session.get_bind().dialect.name == "postgresql":
                session.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            spent = _spent(session, booking.payer)
            session.execute(sa.insert(BookedRequest).values(row))
        return spent

    def correct(self, booking_id: str, usd: float | None) -> None:
        """Replace the estimated cost of a booking by the known one."""
        booked = sa.update(BookedRequest).where(BookedRequest.id == booking_id)
        with self._journal.session() as session:
            session.execute(booked.values(usd=usd))


def _spent(session: Session, payer: str) -> Spent:
    now = session.scalar(sa.select(Now())) or 0.0
    today = now - now % _DAY
    cost = sa.func.coalesce(sa.func.sum(BookedRequest.usd), 0.0)
    everybody = sa.select(cost).where(BookedRequest.at >= today)
    return Spent(
        session.scalar(everybody) or 0.0,
        session.scalar(everybody.where(BookedRequest.payer == payer)) or 0.0,
    )
