"""Agent sessions that still have to end: a mark beside the question until Slack accepts that."""

from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from bot.journal.clock import Now
from bot.journal.records import NotedMessage
from bot.journal.standby import kept
from bot.question.event import Key

if TYPE_CHECKING:
    from bot.journal.claims import Journal
    from bot.journal.standby import Standby

_OPEN_SECONDS = 86_400.0
"""Seconds after which a question is not answered any more, so that its session is over."""
_SECONDS = 7 * _OPEN_SECONDS
"""Seconds after which a session is not ended any more."""
_MOST = 20
"""Maximum number of sessions that one call of ``left`` returns."""


class AgentSessions:
    def __init__(self, journal: "Journal") -> None:
        self._journal = journal

    @property
    def standby(self) -> "Standby | None":
        return self._journal.standby

    @kept
    def mark(self, key: Key, state: str | None) -> None:
        """Record the state that a question's session is in or has to get; None once it is over."""
        with self._journal.session() as session:
            if row := session.get(NotedMessage, (key.team, key.channel, key.ts)):
                row.session = state

    @kept
    def left(self) -> list[NotedMessage]:
        """Return questions that nobody works on, although their session has not ended.

        While another question of the thread is answered, the session goes on.
        """
        other = aliased(NotedMessage)
        now = Now()
        is_over = NotedMessage.state.not_in(("noted", "claimed")) | (
            NotedMessage.noted_at < now - _OPEN_SECONDS
        )
        is_busy = sa.exists().where(
            other.team == NotedMessage.team,
            other.channel == NotedMessage.channel,
            other.thread_ts == NotedMessage.thread_ts,
            other.state.in_(("noted", "claimed")),
            other.noted_at > now - _OPEN_SECONDS,
        )
        query = (
            sa.select(NotedMessage)
            .where(
                NotedMessage.session.is_not(None),
                is_over,
                NotedMessage.noted_at > now - _SECONDS,
                ~is_busy,
            )
            .order_by(NotedMessage.noted_at.desc())
            .limit(_MOST)
        )
        with self._journal.session() as session:
            return list(session.scalars(query))
