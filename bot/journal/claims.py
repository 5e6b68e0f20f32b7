"""The states of messages that may need an answer; the journal also archives the answers.

A message is noted before Slack gets its acknowledgement, claimed by the one worker that answers it,
and marked when its reply is posted. After a crash the next start, or another replica after the
claim's lease has run out, continues from the recorded state.

    note          claim            finish
     ──> noted ─────────> claimed ────────> answered | refused | failed | stopped

    from                          to        by
    new                           noted     note
    new                           ignored   note: its gesture has another ts already; never claimed
    noted, ignored, lapsed        claimed   claim, MAX_ATTEMPTS times at most
    answered                      claimed   claim_again: somebody asks for another answer
    claimed                       noted     release, reopen; the start of a process that is alone
    failed, given up              noted     reopen: Slack refused the line that says so
    noted, ignored, claimed       outcome   finish: answered, refused, failed or stopped
    noted, ignored, lapsed        answered  found_answered: its reply is in the thread
    noted, claimed                failed    give_up, after MAX_ATTEMPTS claims
    noted, lapsed                 ignored   ignore: it needs no answer
    ignored                       noted     edited: its new words may need one
    noted, claimed                ignored   withdraw: after an edit it is not a question
    new, noted, ignored, claimed  deleted   delete

Lapsed means claimed with a lease that has run out; such a message can be claimed like a noted one.
Only the process that holds a claim releases or reopens it. While an answer waits for Slack, its
question stays claimed.
"""

import os
import socket
import time
import uuid
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from bot.journal.archive import Archive
from bot.journal.clock import Now
from bot.journal.database import explained, insert, mend_file, open_database
from bot.journal.leases import Leases, lapsed
from bot.journal.not_taken import NotTaken
from bot.journal.records import NotedMessage, noted_row
from bot.journal.retention import TIDY_SECONDS, delete_old, forget_addresses
from bot.journal.standby import Standby, kept
from bot.question.event import Key, Question

LEASE_SECONDS = 80.0  # four rounds of renewal
MAX_ATTEMPTS = 3
_RECOVER_SECONDS = 86_400.0
"""Seconds after which an unanswered question is not answered any more."""
_NOTED_SECONDS = 60.0
"""Seconds that another process gets to claim a message it has noted."""

_GIVEN_UP = "given up"
_UNPOSTED = "unposted: "

FinalState = Literal["answered", "refused", "failed", "stopped"]


class Journal(Archive):
    """The journal, shared by threads, and by replicas through a database server."""

    def __init__(
        self,
        engine: sa.Engine,
        *,
        alone: bool,
        store_text: bool = False,
        answer_days: float | None = 0.0,
        has_standby: bool = False,
    ) -> None:
        super().__init__(engine, store_text=store_text)
        self._alone, self._answer_days = alone, answer_days
        self._me = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._leases = Leases()
        self._tidy_at = time.monotonic() + TIDY_SECONDS
        with self.session() as session:
            delete_old(session, answer_days)
            if alone:  # this process owns the data folder, so the holders of claims are dead
                session.execute(
                    sa.update(NotedMessage)
                    .where(NotedMessage.state == "claimed")
                    .values(state="noted", owner=None)
                )
        if has_standby:
            self.standby = Standby(self._write_back, is_shared=not alone)

    def tidy(self) -> None:
        """Delete what is older than the journal may keep; most of it once an hour."""
        if self.is_away:
            return
        with self.session() as session:
            forget_addresses(session)
        if time.monotonic() < self._tidy_at:
            return
        self._tidy_at = time.monotonic() + TIDY_SECONDS
        with self.session() as session:
            delete_old(session, self._answer_days)

    def _write_back(self, standby: Standby) -> None:
        mend_file(self._engine)
        with explained(self._engine), Session(self._engine) as session, session.begin():
            session.execute(sa.select(sa.func.count()).select_from(NotedMessage))
            standby.write(session, self._me, LEASE_SECONDS)

    @kept
    def note(self, question: Question) -> None:
        """Store a message that may need an answer; a repeated call only adds missing facts."""
        with self.session() as session:
            is_new = insert(session, NotedMessage, **noted_row(question))
            row = session.get(NotedMessage, _primary(question.key))
            if is_new:
                return
            if row is None:  # another ts has this gesture already
                twin = {"gesture": None, "state": "ignored", "attempts": MAX_ATTEMPTS}
                insert(session, NotedMessage, **{**noted_row(question), **twin})
                return
            row.is_mention = row.is_mention or question.is_mention
            with suppress(IntegrityError), session.begin_nested():  # another ts may have it
                row.gesture = row.gesture or question.gesture

    def claim(self, key: Key) -> bool:
        """Claim a message; return True for one caller only, across all replicas."""
        has_attempts = NotedMessage.attempts < MAX_ATTEMPTS
        free = self._leases.free(key, LEASE_SECONDS) & has_attempts
        return self._claim(key, free, attempts=NotedMessage.attempts + 1)

    def claim_again(self, key: Key, payer: str | None = None) -> bool:
        """Claim an answered message again, because ``payer`` asked for another answer.

        For the limits a minute it stays claimed when it was, by whoever wrote it.
        """
        values = {"payer": payer, "reply_ts": None, "claimed_at": NotedMessage.claimed_at}
        return self._claim(key, NotedMessage.state == "answered", attempts=1, **values)

    def _claim(self, key: Key, where: sa.ColumnElement[bool], **values: object) -> bool:
        # Of two threads, one may work in the database while the other works in memory.
        if not self._leases.begin(key, LEASE_SECONDS):
            return False
        now, is_mine = Now(), False
        lease = {"owner": self._me, "lease_until": now + LEASE_SECONDS, "claimed_at": now}
        try:
            is_mine = self._change(key, where, state="claimed", reason=None, **{**lease, **values})
        finally:
            if not is_mine:
                self._leases.end(key)
        return is_mine

    @kept
    def holds(self, key: Key) -> bool:
        """Return True unless the question was deleted or another process has claimed it."""
        with self.session() as session:
            row = session.get(NotedMessage, _primary(key))
            return row is not None and row.state == "claimed" and row.owner == self._me

    def release(self, key: Key) -> None:
        """Release a claim without an answer, so that the next start answers the question."""
        values = {"owner": None, "reason": None, "attempts": NotedMessage.attempts - 1}
        self._change(key, self._mine(), state="noted", **values)

    def reopen(self, key: Key) -> None:
        """Reopen a question whose final line Slack refused, so that the recovery posts it later."""
        given_up = (NotedMessage.state == "failed") & (NotedMessage.reason == _GIVEN_UP)
        self._change(key, self._mine() | given_up, state="noted", owner=None, reason=None)

    def unposted(self, key: Key, code: str) -> None:
        """Record that Slack does not accept an answer; ``code`` is Slack's error."""
        self._change(key, self._mine(), reason=f"{_UNPOSTED}{code}")

    @kept
    def replies_not_taken(self, since: float) -> list[NotTaken]:
        """Return replies that wait for Slack, and those that Slack refused after ``since``."""
        waiting = (NotedMessage.state == "claimed") & NotedMessage.reason.startswith(_UNPOSTED)
        refused = (NotedMessage.state == "failed") & (NotedMessage.reason != _GIVEN_UP)
        recently = refused & (NotedMessage.finished_at >= since)
        query = sa.select(NotedMessage).where(waiting | recently).order_by(NotedMessage.noted_at)
        with self.session() as session:
            return [NotTaken.of(row, _UNPOSTED) for row in session.scalars(query)]

    def _mine(self) -> sa.ColumnElement[bool]:
        return (NotedMessage.state == "claimed") & (NotedMessage.owner == self._me)

    def begin_reply(self, key: Key, reply_ts: str) -> None:
        """Record the timestamp of an incomplete reply; the next attempt continues that reply."""
        self._change(key, NotedMessage.state == "claimed", reply_ts=reply_ts)

    def give_up(self, key: Key) -> bool:
        """End a question after too many attempts; return True for one caller, who reports it."""
        open_ = NotedMessage.state.in_(("noted", "claimed"))
        is_exhausted = NotedMessage.attempts >= MAX_ATTEMPTS
        return self._change(
            key, open_ & is_exhausted, state="failed", reason=_GIVEN_UP, finished_at=Now()
        )

    def finish(
        self,
        key: Key,
        outcome: FinalState,
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
            finished_at=Now(),
        )

    def found_answered(self, key: Key, reply_ts: str) -> None:
        """Record a reply that a dead process posted before it could record it."""
        values = {"reply_ts": reply_ts, "finished_at": Now()}
        self._change(key, self._leases.free(key, LEASE_SECONDS), state="answered", **values)

    def ignore(self, key: Key, reason: str) -> None:
        """Record that a message needs no answer; a later event of it may still get one."""
        undecided = (NotedMessage.state == "noted") | self._leases.abandoned(key, LEASE_SECONDS)
        self._change(key, undecided, state="ignored", reason=reason)

    def edited(self, key: Key) -> None:
        """Record that a message that needed no answer was edited."""
        ignored = (NotedMessage.state == "ignored") & (NotedMessage.attempts < MAX_ATTEMPTS)
        self._change(key, ignored, state="noted", noted_at=Now())

    def delete(self, key: Key) -> None:
        """Record a deleted question: pending answers are dropped, late events are ignored."""
        pending = NotedMessage.state.in_(("noted", "ignored", "claimed"))
        if not self._change(key, pending, state="deleted", owner=None) and not self.message(key):
            self.note(Question(key.team, key.channel, key.ts, key.ts, None, "", "", False))
            self._change(key, pending, state="deleted", owner=None)

    def withdraw(self, key: Key, reason: str) -> None:
        """Drop the claim on an edited message: it asks nothing now, or it asks in other words.

        It may be claimed again."""
        open_ = NotedMessage.state.in_(("noted", "claimed"))
        self._change(key, open_, state="ignored", reason=reason, owner=None)

    @kept
    def message(self, key: Key) -> NotedMessage | None:
        with self.session() as session:
            return session.get(NotedMessage, _primary(key))

    @kept
    def in_thread(self, team: str, channel: str, thread_ts: str) -> list[NotedMessage]:
        """Return the messages of a thread that are claimed or answered."""
        messages = sa.select(NotedMessage).where(
            NotedMessage.team == team,
            NotedMessage.channel == channel,
            NotedMessage.thread_ts == thread_ts,
            NotedMessage.state.in_(("claimed", "answered")),
        )
        with self.session() as session:
            return list(session.scalars(messages))

    @kept
    def renew(self, keys: Collection[Key]) -> None:
        """Extend the leases of these claims of this process."""
        these = sa.tuple_(NotedMessage.team, NotedMessage.channel, NotedMessage.ts).in_(
            [_primary(key) for key in keys]
        )
        with self.session() as session:
            session.execute(
                sa.update(NotedMessage)
                .where(NotedMessage.state == "claimed", NotedMessage.owner == self._me, these)
                .values(lease_until=Now() + LEASE_SECONDS)
            )
        self._leases.extend(keys, LEASE_SECONDS)

    @kept
    def unfinished(self, *, at_start: bool) -> list[NotedMessage]:
        """Return messages that a dead process left unanswered, oldest first.

        They include messages without attempts left, whose askers still need a reply.
        """
        now = Now()
        noted = NotedMessage.state == "noted"
        if not (at_start and self._alone):
            # A clock that was put back has left times in the future.
            noted &= (NotedMessage.noted_at < now - _NOTED_SECONDS) | (NotedMessage.noted_at > now)
        is_unanswered = noted if self.is_away else noted | lapsed(LEASE_SECONDS)
        query = (
            sa.select(NotedMessage)
            .where(is_unanswered, NotedMessage.noted_at > now - _RECOVER_SECONDS)
            .order_by(NotedMessage.noted_at)
        )
        with self.session() as session:
            rows = list(session.scalars(query))
        return [row for row in rows if row.state == "noted" or not self._leases.holds(row.key)]

    @kept
    def _change(self, key: Key, where: sa.ColumnElement[bool], /, **values: object) -> bool:
        state = values.get("state")
        if state not in (None, "noted", "claimed"):
            values["response_url"] = None
        if state not in (None, "claimed"):
            self._leases.end(key)
        change = sa.update(NotedMessage).where(
            NotedMessage.team == key.team,
            NotedMessage.channel == key.channel,
            NotedMessage.ts == key.ts,
            where,
        )
        with self.session() as session:
            changed = session.scalars(
                change.values(**values)
                .returning(NotedMessage)
                .execution_options(synchronize_session=False)
            )
            return bool(changed.all())


def open_journal(
    database_url: str | None,
    data_dir: Path,
    *,
    alone: bool = True,
    store_text: bool = False,
    answer_days: float = 0.0,
    has_standby: bool = False,
) -> Journal:
    """Open the journal in this database, or in the data folder for None.

    ``alone=False`` leaves all rows of a bot that runs beside this process untouched. With
    ``has_standby``, messages are kept in memory while the database cannot be used. Answers are
    kept for ``answer_days`` if that is longer than all else. Raises JournalError, SettingsError
    and DataFolderError.
    """
    engine = open_database(database_url, data_dir, is_brief=has_standby)
    return Journal(
        engine,
        alone=alone and database_url is None,
        store_text=store_text,
        answer_days=answer_days if alone else None,
        has_standby=has_standby,
    )


def _primary(key: Key) -> tuple[str, str, str]:
    return (key.team, key.channel, key.ts)
