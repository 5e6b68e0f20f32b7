"""What was seen, claimed and answered; with it goes the archive of the answers themselves.

A message is noted before Slack gets its acknowledgement, claimed by the one worker that decides to
answer it, and marked when the reply stands in the thread. What a crash leaves between those
points is found again at the next start, or by another replica once the claim's lease runs out.

    note          claim            finish
     ──> noted ─────────> claimed ────────> answered | refused | failed | stopped

    from                          to        by
    new                           noted     note
    new                           ignored   note: its gesture has another ts already; never claimed
    noted, ignored, lapsed        claimed   claim, MAX_ATTEMPTS times at most
    answered                      claimed   claim_again: somebody asks for another answer
    claimed                       noted     release, reopen; the start of a process that is alone
    failed, given up              noted     reopen: Slack has not taken the line that says so
    noted, ignored, claimed       outcome   finish: answered, refused, failed or stopped
    noted, ignored, lapsed        answered  found_answered: its reply is in the thread
    noted, claimed                failed    give_up, after MAX_ATTEMPTS claims
    noted, lapsed                 ignored   ignore: it is not to be answered
    noted, claimed                ignored   withdraw: it was edited into no question
    new, noted, ignored, claimed  deleted   delete

Lapsed is claimed with a lease that has run out: as free as noted. Only the process that holds a
claim releases or reopens it. While an answer waits for Slack, its question stays claimed.
"""

import os
import socket
import time
import uuid
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from bot.journal.archive import Archive
from bot.journal.database import insert, open_database
from bot.journal.records import AnswerText, NotedMessage
from bot.question.event import Key, Question

LEASE_SECONDS = 90.0
MAX_ATTEMPTS = 3
_KEEP_SECONDS = 30 * 86_400.0
_RECOVER_SECONDS = 86_400.0
_NOTED_SECONDS = 60.0

_GIVEN_UP = "given up"
_UNPOSTED = "unposted: "

Outcome = Literal["answered", "refused", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A reply that Slack has not taken."""

    channel: str
    code: str
    """Slack's error."""
    noted_at: float
    """When the question came, in seconds since 1970."""
    is_waiting: bool
    """It is tried again; else Slack's refusal was final."""

    def __str__(self) -> str:
        what = "waits for Slack" if self.is_waiting else "was refused"
        return f"to a question of {self._moment} in {self.channel} {what}: {self.code}"

    def to_json(self) -> dict[str, object]:
        return {
            "channel": self.channel,
            "code": self.code,
            "asked_at": self._moment,
            "waiting": self.is_waiting,
        }

    @property
    def _moment(self) -> str:
        return datetime.fromtimestamp(self.noted_at, UTC).isoformat(timespec="seconds")


class Journal(Archive):
    """Shared by the threads of one process, and by replicas through a server database."""

    def __init__(self, engine: sa.Engine, *, alone: bool, store_text: bool = False) -> None:
        super().__init__(engine, store_text=store_text)
        self._alone = alone
        self._me = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        with self.session() as session:
            old = time.time() - _KEEP_SECONDS
            session.execute(sa.delete(NotedMessage).where(NotedMessage.noted_at < old))
            session.execute(sa.delete(AnswerText).where(AnswerText.at < old))
            if alone:  # the data folder is ours, so whoever held these claims is dead
                session.execute(
                    sa.update(NotedMessage)
                    .where(NotedMessage.state == "claimed")
                    .values(state="noted", owner=None)
                )

    def note(self, question: Question) -> None:
        """Remember a candidate; seeing it again only adds what was not known before."""
        with self.session() as session:
            if insert(session, NotedMessage, **_noted(question)):
                return
            row = session.get(NotedMessage, _primary(question.key))
            if row is None:  # this gesture came under another ts
                twin = {"gesture": None, "state": "ignored", "attempts": MAX_ATTEMPTS}
                insert(session, NotedMessage, **{**_noted(question), **twin})
                return
            row.is_mention = row.is_mention or question.is_mention
            with suppress(IntegrityError), session.begin_nested():  # another ts may have it
                row.gesture = row.gesture or question.gesture

    def claim(self, key: Key) -> bool:
        """Take a message for answering: True for one caller only, over all replicas."""
        untired = NotedMessage.attempts < MAX_ATTEMPTS
        return self._claim(key, _free() & untired, attempts=NotedMessage.attempts + 1)

    def claim_again(self, key: Key) -> bool:
        """Take an answered message once more, because somebody asked for it."""
        return self._claim(key, NotedMessage.state == "answered", attempts=1, reply_ts=None)

    def _claim(self, key: Key, where: sa.ColumnElement[bool], **values: object) -> bool:
        now = time.time()
        held = {"owner": self._me, "lease_until": now + LEASE_SECONDS, "claimed_at": now}
        return self._change(key, where, state="claimed", reason=None, **held, **values)

    def holds(self, key: Key) -> bool:
        """True while the claim stands: the question was not deleted and nobody took over."""
        with self.session() as session:
            row = session.get(NotedMessage, _primary(key))
            return row is not None and row.state == "claimed" and row.owner == self._me

    def release(self, key: Key) -> None:
        """Give a claim back unanswered, so that the next start answers it."""
        values = {"owner": None, "reason": None, "attempts": NotedMessage.attempts - 1}
        self._change(key, self._mine(), state="noted", **values)

    def reopen(self, key: Key) -> None:
        """Slack did not take the line that ends a question: the recovery says it later."""
        given_up = (NotedMessage.state == "failed") & (NotedMessage.reason == _GIVEN_UP)
        self._change(key, self._mine() | given_up, state="noted", owner=None, reason=None)

    def unposted(self, key: Key, code: str) -> None:
        """An answer is ready, and Slack does not take it: ``code`` is Slack's error."""
        self._change(key, self._mine(), reason=f"{_UNPOSTED}{code}")

    def replies_not_taken(self, since: float) -> list[NotTaken]:
        """Replies that wait for Slack, and those that Slack refused since then."""
        waiting = (NotedMessage.state == "claimed") & NotedMessage.reason.startswith(_UNPOSTED)
        refused = (NotedMessage.state == "failed") & (NotedMessage.reason != _GIVEN_UP)
        recently = refused & (NotedMessage.finished_at >= since)
        query = sa.select(NotedMessage).where(waiting | recently).order_by(NotedMessage.noted_at)
        with self.session() as session:
            return [_not_taken(row) for row in session.scalars(query)]

    def _mine(self) -> sa.ColumnElement[bool]:
        return (NotedMessage.state == "claimed") & (NotedMessage.owner == self._me)

    def begin_reply(self, key: Key, reply_ts: str) -> None:
        """A reply stands in the thread that is not complete: whoever answers goes on with it."""
        self._change(key, NotedMessage.state == "claimed", reply_ts=reply_ts)

    def give_up(self, key: Key) -> bool:
        """End a question that was tried too often: True for the one caller that is to say so."""
        open_ = NotedMessage.state.in_(("noted", "claimed"))
        worn = NotedMessage.attempts >= MAX_ATTEMPTS
        return self._change(
            key, open_ & worn, state="failed", reason=_GIVEN_UP, finished_at=time.time()
        )

    def finish(
        self,
        key: Key,
        outcome: Outcome,
        *,
        reason: str | None = None,
        reply_ts: str | None = None,
        answer_id: str | None = None,
    ) -> None:
        self._change(
            key,
            NotedMessage.state.in_(("noted", "ignored", "claimed")),
            state=outcome,
            reason=reason,
            reply_ts=reply_ts,
            answer_id=answer_id,
            finished_at=time.time(),
        )

    def found_answered(self, key: Key, reply_ts: str) -> None:
        """A reply stands in the thread of which nobody who still works on it had told."""
        self._change(key, _free(), state="answered", reply_ts=reply_ts, finished_at=time.time())

    def ignore(self, key: Key, reason: str) -> None:
        """Decide against answering; a later event of the same message may still be answered."""
        undecided = (NotedMessage.state == "noted") | _abandoned()
        self._change(key, undecided, state="ignored", reason=reason)

    def delete(self, key: Key) -> None:
        """The question is gone: a pending answer is not posted, nor one to a late event."""
        pending = NotedMessage.state.in_(("noted", "ignored", "claimed"))
        if not self._change(key, pending, state="deleted", owner=None) and not self.message(key):
            self.note(Question(key.team, key.channel, key.ts, key.ts, None, "", "", False))
            self._change(key, pending, state="deleted", owner=None)

    def withdraw(self, key: Key, reason: str) -> None:
        """The question was changed into none; changed back, it may be answered again."""
        open_ = NotedMessage.state.in_(("noted", "claimed"))
        self._change(key, open_, state="ignored", reason=reason, owner=None)

    def message(self, key: Key) -> NotedMessage | None:
        with self.session() as session:
            return session.get(NotedMessage, _primary(key))

    def in_thread(self, team: str, channel: str, thread_ts: str) -> list[NotedMessage]:
        """Messages of a thread that are being or were answered."""
        with self.session() as session:
            return list(
                session.scalars(
                    sa.select(NotedMessage).where(
                        NotedMessage.team == team,
                        NotedMessage.channel == channel,
                        NotedMessage.thread_ts == thread_ts,
                        NotedMessage.state.in_(("claimed", "answered")),
                    )
                )
            )

    def renew(self, keys: Collection[Key]) -> None:
        """Keep these claims of this process: it still works on them."""
        these = sa.tuple_(NotedMessage.team, NotedMessage.channel, NotedMessage.ts).in_(
            [_primary(key) for key in keys]
        )
        with self.session() as session:
            session.execute(
                sa.update(NotedMessage)
                .where(NotedMessage.state == "claimed", NotedMessage.owner == self._me, these)
                .values(lease_until=time.time() + LEASE_SECONDS)
            )

    def unfinished(self, *, at_start: bool) -> list[NotedMessage]:
        """Messages that a process which is no more left unanswered, oldest first.

        Among them those that were tried too often already: somebody is to be told.
        """
        now = time.time()
        quiet = now if at_start and self._alone else now - _NOTED_SECONDS
        left = ((NotedMessage.state == "noted") & (NotedMessage.noted_at <= quiet)) | (
            (NotedMessage.state == "claimed") & (NotedMessage.lease_until < now)
        )
        with self.session() as session:
            return list(
                session.scalars(
                    sa.select(NotedMessage)
                    .where(
                        left,
                        NotedMessage.noted_at > now - _RECOVER_SECONDS,
                    )
                    .order_by(NotedMessage.noted_at)
                )
            )

    def _change(self, key: Key, where: sa.ColumnElement[bool], **values: object) -> bool:
        with self.session() as session:
            result = session.execute(
                sa.update(NotedMessage)
                .where(
                    NotedMessage.team == key.team,
                    NotedMessage.channel == key.channel,
                    NotedMessage.ts == key.ts,
                    where,
                )
                .values(**values)
            )
            return bool(getattr(result, "rowcount", 0))


def open_journal(
    database_url: str | None, data_dir: Path, *, alone: bool = True, store_text: bool = False
) -> Journal:
    """The journal in the given database, else in the data folder, which is then ours alone.

    ``alone=False`` leaves the claims of a bot that runs beside this process untouched.
    """
    engine = open_database(database_url, data_dir)
    return Journal(engine, alone=alone and database_url is None, store_text=store_text)


def _abandoned() -> sa.ColumnElement[bool]:
    """Claimed by a process that is no more."""
    return (NotedMessage.state == "claimed") & (NotedMessage.lease_until < time.time())


def _free() -> sa.ColumnElement[bool]:
    """Not being answered, and not done with."""
    return NotedMessage.state.in_(("noted", "ignored")) | _abandoned()


def _not_taken(row: NotedMessage) -> NotTaken:
    code = (row.reason or "").removeprefix(_UNPOSTED)
    return NotTaken(row.channel, code, row.noted_at, row.state == "claimed")


def _primary(key: Key) -> tuple[str, str, str]:
    return (key.team, key.channel, key.ts)


def _noted(question: Question) -> dict[str, object]:
    return {
        "team": question.team,
        "channel": question.channel,
        "ts": question.ts,
        "thread_ts": question.thread_ts,
        "user": question.user,
        "channel_type": question.channel_type,
        "is_mention": question.is_mention,
        "is_shared": question.is_shared,
        "gesture": question.gesture,
        "origin": question.origin,
        "about": question.about,
        "state": "noted",
        "noted_at": time.time(),
    }
