"""How many questions a person and a channel may have answered in a minute.

Counted in the journal, so that it holds over restarts and for all replicas together.
"""

import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from bot.journal.claims import Journal
from bot.journal.records import NotedMessage
from bot.question.event import Question
from bot.reply.wording import too_often

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Limits a minute; 0 is none."""

    journal: Journal
    user: int
    channel: int

    def refusal(self, question: Question) -> str | None:
        """What to tell the asker; None where the question may be answered."""
        limits = (
            (NotedMessage.user, question.user, self.user, "you"),
            (NotedMessage.channel, question.channel, self.channel, "this channel"),
        )
        for column, value, most, whose in limits:
            if value and most and (wait := self._wait(question, column, value, most)):
                return too_often(wait, whose)
        return None

    def _wait(
        self, question: Question, column: InstrumentedAttribute[Any], value: str, most: int
    ) -> float:
        """Seconds until there is room; what was refused does not count."""
        since = time.time() - _MINUTE
        asked = sa.select(NotedMessage.claimed_at).where(
            column == value,
            NotedMessage.claimed_at > since,
            NotedMessage.state != "refused",
            NotedMessage.ts != question.ts,
        )
        with self.journal.session() as session:
            times = sorted(at for at in session.scalars(asked) if at is not None)
        return times[-most] - since if len(times) >= most else 0.0
