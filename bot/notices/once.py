"""Notices that are posted once: claimed in the journal, then posted.

A claimed notice that was not posted, because the process died or Slack was down, is retried a few
times. If only Slack's response was lost, the notice appears twice, which is better than never.
"""

import logging
import time
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from slack_sdk import WebClient

from bot.journal.claims import Journal
from bot.journal.database import insert
from bot.journal.records import Announcement
from bot.slack.clients import SLACK_FAILED, is_passing, slack_error
from bot.slack.identity import NOTICE

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
RETRY_SECONDS = 120.0
_KEEP_SECONDS = 120 * 86_400.0


class Announcements:
    """Notices; of all replicas, exactly one posts a notice."""

    def __init__(self, journal: Journal, client: WebClient) -> None:
        self._journal = journal
        self._client = client
        with journal.session() as session:
            old = Announcement.at < time.time() - _KEEP_SECONDS
            session.execute(sa.delete(Announcement).where(old))

    def claim(self, name: str, detail: Sequence[str] = ()) -> bool:
        """Return True for one caller only, and again later if the notice was not posted."""
        now = time.time()
        values = {"at": now, "attempts": 1, "done": False, "detail": list(detail)}
        with self._journal.session() as session:
            claimed = insert(session, Announcement, name=name, **values)
        return claimed or self._claim_again(name, now)

    def post(self, name: str, channel: str, message: dict[str, Any], thread_ts: str | None) -> bool:
        """Post a claimed notice; return False if Slack refused it, temporarily or finally."""
        try:
            self._client.chat_postMessage(
                channel=channel,
                thread_ts=thread_ts,
                unfurl_links=False,
                unfurl_media=False,
                metadata={"event_type": NOTICE, "event_payload": {"notice": name}},
                **message,
            )
        except SLACK_FAILED as error:
            log.warning("could not post a notice into %s: %s", channel, slack_error(error))
            if not is_passing(error):
                self.finish(name)
            return False
        self.finish(name)
        return True

    def finish(self, name: str) -> None:
        """Mark a notice as done."""
        self._change(Announcement.name == name, done=True)

    def announced(self, prefix: str) -> set[str]:
        """Return the details of all notices that are over and whose names begin with ``prefix``.

        A notice is over if it is marked as done, or has had all its attempts.
        """
        is_over = Announcement.done.is_(True) | (Announcement.attempts >= MAX_ATTEMPTS)
        has_prefix = Announcement.name.startswith(prefix, autoescape=True)
        with self._journal.session() as session:
            rows = session.scalars(sa.select(Announcement.detail).where(has_prefix, is_over))
            return {str(item) for detail in rows for item in detail}

    def unfinished(self, prefix: str) -> bool:
        """Return True if a notice with this prefix will be retried."""
        is_open = Announcement.done.is_(False) & (Announcement.attempts < MAX_ATTEMPTS)
        recent = Announcement.at > time.time() - MAX_ATTEMPTS * 2 * RETRY_SECONDS
        has_prefix = Announcement.name.startswith(prefix, autoescape=True)
        query = sa.select(Announcement.name).where(has_prefix, is_open, recent).limit(1)
        with self._journal.session() as session:
            return session.scalar(query) is not None

    def _claim_again(self, name: str, now: float) -> bool:
        is_due = (
            (Announcement.name == name)
            & Announcement.done.is_(False)
            & (Announcement.attempts < MAX_ATTEMPTS)
            & (Announcement.at < now - RETRY_SECONDS)
        )
        return self._change(is_due, at=now, attempts=Announcement.attempts + 1)

    def _change(self, where: sa.ColumnElement[bool], **values: object) -> bool:
        with self._journal.session() as session:
            result = session.execute(sa.update(Announcement).where(where).values(**values))
            return bool(getattr(result, "rowcount", 0))
