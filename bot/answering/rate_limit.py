"""Limits on the answers that a person and a channel may ask for in a minute.

A question counts, and so does every edit of it and every *Answer again* that makes another answer,
for the person who acts. The journal counts them, so that the limits hold across restarts and for
all replicas together.
"""

import uuid
from dataclasses import dataclass

import sqlalchemy as sa

from bot.journal.claims import Journal
from bot.journal.clock import Now
from bot.journal.records import NotedMessage, Rewording
from bot.journal.standby import Standby, kept
from bot.question.event import Question
from bot.reply.wording import too_often

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Limits of questions per minute, for each person and each channel; 0 means no limit."""

    journal: Journal
    user: int
    channel: int

    @property
    def standby(self) -> Standby | None:
        return self.journal.standby

    def refusal(self, question: Question, *, is_another: bool = False) -> str | None:
        """Return the reason for a refusal, in words for the asker, or None if there is room.

        ``is_another``: the question had an answer, or has one under way. If there is room, the new
        one counts from now on.
        """
        user, channel = question.payer or question.user, question.channel
        limits = (
            (self.user if user else 0, NotedMessage.user == user, Rewording.user == user, "you"),
            (
                self.channel,
                NotedMessage.channel == channel,
                Rewording.channel == channel,
                "this channel",
            ),
        )
        own_ts = "" if is_another else question.ts
        for most, asked, reworded, where in limits:
            if most and (wait := self._wait(own_ts, asked, reworded, most)):
                return too_often(wait, where)
        if is_another and user and (self.user or self.channel):
            self._count(user, channel)
        return None

    @kept
    def _wait(
        self,
        own_ts: str,
        asked: sa.ColumnElement[bool],
        reworded: sa.ColumnElement[bool],
        most: int,
    ) -> float:
        """Return the seconds until there is room. Refused questions do not count."""
        age = Now() - NotedMessage.claimed_at
        questions = sa.select(age).where(
            asked,
            NotedMessage.state != "refused",
            NotedMessage.ts != own_ts,
            age >= 0,
            age < _MINUTE,
        )
        age = Now() - Rewording.at
        others = sa.select(age).where(reworded, age >= 0, age < _MINUTE)
        with self.journal.session() as session:
            ages = [*session.scalars(questions), *session.scalars(others)]
        ages.sort(reverse=True)
        return _MINUTE - ages[-most] if len(ages) >= most else 0.0

    @kept
    def _count(self, user: str, channel: str) -> None:
        row = {"id": uuid.uuid4().hex, "user": user, "channel": channel, "at": Now()}
        with self.journal.session() as session:
            session.execute(sa.insert(Rewording).values(row))
