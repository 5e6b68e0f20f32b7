"""What Footnote says without being asked is said once: claimed in the journal, then posted.

A claim whose post did not end, because the process died or Slack was away, is taken up again a few
times. After a response that was lost Slack may show it twice; that is better than never.
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
    def __init__(self, journal: Journal, client: WebClient) -> None:
        self._journal = journal
        self._client = client
        with journal.session() as session:
            old = Announcement.at < time.time() - _KEEP_SECONDS
            session.execute(sa.delete(Announcement).where(old))

    def claim(self, name: str, detail: Sequence[str] = ()) -> bool:
        """True for one caller only; later once more, where the post that followed did not end."""
        now = time.time()
        values = {"at": now, "attempts": 1, "done": False, "detail": list(detail)}
        with self._journal.session() as session:
            claimed = insert(session, Announcement, name=name, **values)
        return claimed or self._claim_again(name, now)

    def post(self, name: str, channel: str, message: dict[str, Any], thread_ts: str | None) -> bool:
        """Post what was claimed; False where that failed, for now or for good."""
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
        """Nothing more is to be done about it."""
        self._change(Announcement.name == name, done=True)

    def told(self, prefix: str) -> set[str]:
        """What the announcements whose names begin so were about, but for those still to come."""
        over = Announcement.done.is_(True) | (Announcement.attempts >= MAX_ATTEMPTS)
        named = Announcement.name.startswith(prefix, autoescape=True)
        with self._journal.session() as session:
            rows = session.scalars(sa.select(Announcement.detail).where(named, over))
            return {str(item) for detail in rows for item in detail}

    def unfinished(self, prefix: str) -> bool:
        """Whether a post is still to be tried again."""
        left = Announcement.done.is_(False) & (Announcement.attempts < MAX_ATTEMPTS)
        recent = Announcement.at > time.time() - MAX_ATTEMPTS * 2 * RETRY_SECONDS
        named = Announcement.name.startswith(prefix, autoescape=True)
        with self._journal.session() as session:
            found = sa.select(Announcement.name).where(named, left, recent).limit(1)
            return session.scalar(found) is not None

    def _claim_again(self, name: str, now: float) -> bool:
        left = (
            (Announcement.name == name)
            & Announcement.done.is_(False)
            & (Announcement.attempts < MAX_ATTEMPTS)
            & (Announcement.at < now - RETRY_SECONDS)
        )
        return self._change(left, at=now, attempts=Announcement.attempts + 1)

    def _change(self, where: sa.ColumnElement[bool], **values: object) -> bool:
        with self._journal.session() as session:
            result = session.execute(sa.update(Announcement).where(where).values(**values))
            return bool(getattr(result, "rowcount", 0))
