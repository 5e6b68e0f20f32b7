"""Rows of the journal that are old -> nothing: what names people goes after 30 days."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from bot.journal.clock import Now
from bot.journal.records import (
    AnswerRecord,
    AnswerText,
    BookedRequest,
    HumanCall,
    NotedMessage,
    Rewording,
    Vote,
)

KEEP_DAYS = 30.0
"""Days that each row stays, and answers at least."""
TIDY_SECONDS = 3_600.0
"""Seconds between two deletions of old rows while the bot runs."""
_DAY = 86_400.0
_RESPONSE_URL_SECONDS = 1_800.0
"""Seconds that Slack accepts words through a ``response_url``."""


def delete_old(session: Session, answer_days: float | None) -> None:
    """Delete the rows that are too old; answers and their traces may be kept for longer.

    With None, a bot beside this process deletes them.
    """
    if answer_days is None:
        return
    forget_addresses(session)
    now = Now()
    for at in (
        NotedMessage.noted_at,
        AnswerText.at,
        Vote.at,
        HumanCall.at,
        BookedRequest.at,
        Rewording.at,
    ):
        session.execute(sa.delete(at.class_).where(at < now - KEEP_DAYS * _DAY))
    too_old = AnswerRecord.at < now - max(KEEP_DAYS, answer_days) * _DAY
    session.execute(sa.delete(AnswerRecord).where(too_old))


def forget_addresses(session: Session) -> None:
    """Empty the addresses of private replies that Slack does not accept any more."""
    is_spent = (
        NotedMessage.state.in_(("noted", "claimed"))
        & (NotedMessage.noted_at < Now() - _RESPONSE_URL_SECONDS)
        & NotedMessage.response_url.is_not(None)
    )
    session.execute(sa.update(NotedMessage).where(is_spent).values(response_url=None))
