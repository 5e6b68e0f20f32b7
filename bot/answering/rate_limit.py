"""Limits on the answers that a person and a channel may ask for in a minute.

A question counts, and so does every edit of it and every *Answer again* that makes another answer,
for the person who acts. The journal counts them, so that the limits hold across restarts and for
all replicas together.
"""

import time
import uuid
from dataclasses import dataclass

import sqlalchemy as sa

from bot.journal.claims import Journal
from bot.journal.records import NotedMessage, Rewording
from bot.question.event import Question
from bot.reply.wording import too_often

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Limits of questions per minute, for each person and each channel; 0 means no limit."""

    journal: Journal
    user: int
    channel: int

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

    def _wait(
        self,
        own_ts: str,
        asked: sa.ColumnElement[bool],
        reworded: sa.ColumnElement[bool],
        most: int,
    ) -> float:
        """Return the seconds until there is room. Refused questions do not count."""
        since = time.time() - _MINUTE
        questions = sa.select(NotedMessage.claimed_at).where(
            asked,
            NotedMessage.claimed_at > since,
            NotedMessage.state != "refused",
            NotedMessage.ts != own_ts,
        )
        others = sa.select(Rewording.at).where(reworded, Rewording.at > since)
        with self.journal.session() as session:
            times = [*session.scalars(questions), *session.scalars(others)]
        times = sorted(at for at in times if at is not None)
        return times[-most] - since if len(times) >= most else 0.0

    def _count(self, user: str, channel: str) -> None:
        now = time.time()
        with self.journal.session() as session:
            session.add(Rewording(id=uuid.uuid4().hex, user=user, channel=channel, at=now))
            session.execute(sa.delete(Rewording).where(Rewording.at < now - 2 * _MINUTE))
