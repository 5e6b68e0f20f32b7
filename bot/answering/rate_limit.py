"""Limits on the questions of a person and of a channel in a minute.

The journal counts the questions, so that the limits hold across restarts and for all replicas
together.
"""

from dataclasses import dataclass

import sqlalchemy as sa

from bot.journal.claims import Journal
from bot.journal.records import NotedMessage
from bot.question.event import Question
from bot.reply.wording import too_often

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Limits of questions per minute, for each person and each channel; 0 means no limit."""

    journal: Journal
    user: int
    channel: int

    def refusal(self, question: Question) -> str | None:
        """Return the reason for a refusal, in words for the asker, or None if there is room."""
        user, channel = question.user, question.channel
        limits = (
            (self.user if user else 0, NotedMessage.user == user, "you"),
            (self.channel, NotedMessage.channel == channel, "this channel"),
        )
        for most, is_same, where in limits:
            if most and (wait := self._wait(question, is_same, most)):
                return too_often(wait, where)
        return None

    def _wait(self, question: Question, is_same: sa.ColumnElement[bool], most: int) -> float:
        """Return the seconds until there is room. Refused questions do not count."""
        counted = (NotedMessage.state != "refused") & (NotedMessage.ts != question.ts)
        ages = self.journal.claim_ages(is_same & counted, _MINUTE)
        return _MINUTE - ages[-most] if len(ages) >= most else 0.0
