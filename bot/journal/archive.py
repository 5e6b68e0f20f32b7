"""Stores answers, votes and costs, and reads them. Texts are stored only if configured."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy.orm import Session

from agent.answer import Answer
from agent.conversation import Turn
from bot.journal.database import JournalError, check_file, explained, insert
from bot.journal.records import (
    AnswerRecord,
    AnswerText,
    HumanCall,
    JournalSession,
    Vote,
    answer_record,
)
from bot.journal.standby import Standby, kept
from bot.question.event import Question


class Archive:
    """Answers in the journal's database, shared by threads and processes."""

    def __init__(self, engine: sa.Engine, *, store_text: bool) -> None:
        self._engine = engine
        self._store_text = store_text
        self.standby: Standby | None = None
        """The place of messages while the database cannot be used."""

    def close(self) -> None:
        if self.standby:
            self.standby.close()
        self._engine.dispose()

    @property
    def is_away(self) -> bool:
        """True while the database cannot be used, so that messages are kept in memory."""
        return self.standby is not None and self.standby.is_away

    @property
    def is_apart(self) -> bool:
        """True while this process does not see what others have claimed, and they may not see it.

        Other processes may notice a little later that the database can be used again.
        """
        return self.standby is not None and self.standby.is_apart

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield a session inside one transaction. Raises JournalError."""
        standby = self.standby
        if standby and standby.is_here:
            with standby.session() as session:
                yield session
            return
        if standby:
            standby.check()
        try:
            with (
                explained(self._engine),
                JournalSession(self._engine, expire_on_commit=False) as session,
            ):
                check_file(self._engine)
                with session.begin():
                    yield session
                if standby:
                    standby.copy(session)
        except JournalError as error:
            if standby:
                standby.went_away(error)
            raise

    @kept
    def record(
        self,
        question: Question,
        answer: Answer,
        reply_ts: str | None,
        thread: Sequence[Turn] = (),
    ) -> None:
        """Store the record of an answer, and if configured its words and the thread before it."""
        with self.session() as session:
            session.merge(answer_record(question, answer, reply_ts))
            if self._store_text:
                session.merge(
                    AnswerText(
                        answer_id=answer.id,
                        question=answer.question,
                        text=answer.text,
                        thread=[asdict(turn) for turn in thread],
                        at=time.time(),
                    )
                )

    @kept
    def place(self, answer_id: str, reply_ts: str) -> None:
        """Store the timestamp of the reply that carries an answer."""
        with self.session() as session:
            if record := session.get(AnswerRecord, answer_id):
                # A private answer may have been shared a moment ago.
                record.reply_ts = record.reply_ts or reply_ts

    def share(self, answer_id: str, ts: str, reply_ts: str) -> None:
        """Store that a private answer was shared in the thread under ``ts``, as ``reply_ts``."""
        with self.session() as session:
            if record := session.get(AnswerRecord, answer_id):
                record.ts = record.thread_ts = ts
                record.reply_ts = reply_ts

    def text(self, answer_id: str) -> AnswerText | None:
        """Return the words of an answer, or None if they are not stored."""
        with self.session() as session:
            return session.get(AnswerText, answer_id)

    def answer(self, answer_id: str) -> AnswerRecord | None:
        with self.session() as session:
            return session.get(AnswerRecord, answer_id)

    def answers(
        self, *, user: str | None = None, since: float | None = None, limit: int | None = 100
    ) -> list[AnswerRecord]:
        """Return the newest answers of one person or of everybody, newest first."""
        query = sa.select(AnswerRecord).order_by(AnswerRecord.at.desc()).limit(limit)
        if user is not None:
            query = query.where(AnswerRecord.user == user)
        if since is not None:
            query = query.where(AnswerRecord.at >= since)
        with self.session() as session:
            return list(session.scalars(query))

    def vote(self, answer_id: str, user: str, vote: str, reason: str | None = None) -> None:
        """Store a person's vote, which replaces an earlier one."""
        values = {"vote": vote, "reason": reason, "at": time.time()}
        with self.session() as session:
            if not insert(session, Vote, answer_id=answer_id, user=user, **values):
                session.merge(Vote(answer_id=answer_id, user=user, **values))

    def votes(self, answer_id: str | None = None) -> list[Vote]:
        query = sa.select(Vote).order_by(Vote.at)
        if answer_id is not None:
            query = query.where(Vote.answer_id == answer_id)
        with self.session() as session:
            return list(session.scalars(query))

    def call_human(self, answer_id: str, user: str) -> bool:
        """Store that a human was called; return False if one was called before."""
        with self.session() as session:
            return insert(session, HumanCall, answer_id=answer_id, user=user, at=time.time())

    def uncall_human(self, answer_id: str) -> None:
        """Delete a call that reached nobody, so that it can be repeated."""
        with self.session() as session:
            session.execute(sa.delete(HumanCall).where(HumanCall.answer_id == answer_id))

    def humans_called(self, since: float) -> int:
        calls = sa.select(sa.func.count()).select_from(HumanCall).where(HumanCall.at >= since)
        with self.session() as session:
            return session.scalar(calls) or 0
