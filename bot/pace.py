"""How many questions a person and a channel may have answered in a minute.

Counted in the journal, so that it holds over restarts and for all replicas together.
"""

import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from bot.events import Question
from bot.journal import Journal
from bot.records import AnswerRecord, NotedMessage
from bot.wording import too_often

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Limits a minute; 0 is none."""

    journal: Journal
    user: int
    channel: int

    def refusal(self, question: Question) -> str | None:
        """What to tell the asker; None where the question may be answered."""
        if self.user and question.user:
            columns = (NotedMessage.user, AnswerRecord.user)
            if wait := self._wait(question, columns, question.user, self.user):
                return too_often(wait, "you")
        if self.channel:
            columns = (NotedMessage.channel, AnswerRecord.channel)
            if wait := self._wait(question, columns, question.channel, self.channel):
                return too_often(wait, "this channel")
        return None

    def _wait(
        self,
        question: Question,
        columns: tuple[InstrumentedAttribute[Any], InstrumentedAttribute[Any]],
        value: str,
        most: int,
    ) -> float:
        """Seconds until there is room. Private answers count; what was refused does not."""
        since = time.time() - _MINUTE
        noted, answered = columns
        asked = sa.select(NotedMessage.claimed_at.label("at")).where(
            noted == value,
            NotedMessage.claimed_at > since,
            NotedMessage.state != "refused",
            NotedMessage.ts != question.ts,
        )
        private = sa.select(AnswerRecord.at.label("at")).where(
            answered == value, AnswerRecord.at > since, AnswerRecord.ts == ""
        )
        with self.journal.session() as session:
            times = sorted(session.scalars(sa.union_all(asked, private)))
        return times[-most] - since if len(times) >= most else 0.0
