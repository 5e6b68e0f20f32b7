"""The journal's tables: messages, answers, feedback, calls for a human.

Message text is in one table only, which stays empty unless FOOTNOTE_STORE_TEXT is on. A new column
has to be nullable or have a ``server_default``: ``bot.journal.database`` then adds it to existing
tables, and an older process beside a newer one can still write.
"""

import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from agent.answer import Answer
from bot.journal.clock import Now
from bot.question.event import Key, Question


class Words(sa.TypeDecorator[str]):
    """Text without characters that a database refuses: NUL, and halves of surrogate pairs."""

    impl = sa.String
    cache_ok = True

    def process_bind_param(self, value: str | None, _dialect: sa.Dialect) -> str | None:
        return value and value.replace("\0", "").encode("utf-8", "replace").decode()


class Base(DeclarativeBase):
    type_annotation_map = {str: Words, list[Any]: sa.JSON}  # noqa: RUF012  # SQLAlchemy reads it as declared


class NotedMessage(Base):
    """A message that may need an answer, and its state."""

    __tablename__ = "messages"
    __table_args__ = (
        sa.UniqueConstraint("team", "channel", "gesture"),
        sa.Index("messages_by_state", "state", "noted_at"),
        sa.Index("messages_by_thread", "team", "channel", "thread_ts"),
        sa.Index("messages_in_session", "session"),
    )

    team: Mapped[str] = mapped_column(primary_key=True)
    channel: Mapped[str] = mapped_column(primary_key=True)
    ts: Mapped[str] = mapped_column(primary_key=True)
    thread_ts: Mapped[str]
    user: Mapped[str | None]
    channel_type: Mapped[str]
    is_mention: Mapped[bool]
    is_shared: Mapped[bool]
    gesture: Mapped[str | None]
    origin: Mapped[str]
    about: Mapped[str | None]
    state: Mapped[str]
    reason: Mapped[str | None]
    owner: Mapped[str | None]
    lease_until: Mapped[float] = mapped_column(default=0.0)
    attempts: Mapped[int] = mapped_column(default=0)
    noted_at: Mapped[float]
    claimed_at: Mapped[float | None]
    finished_at: Mapped[float | None]
    reply_ts: Mapped[str | None]
    answer_id: Mapped[str | None]
    payer: Mapped[str | None]
    """Id of the person who asked for another answer. None: whoever wrote the message."""
    response_url: Mapped[str | None]
    """Address for words to the asker of a command: a credential, emptied when the question ends."""
    session: Mapped[str | None]
    """State that the agent session of the thread still has to get; None if it has ended."""

    @property
    def key(self) -> Key:
        return Key(self.team, self.channel, self.ts)


class AnswerRecord(Base):
    """The record of one answer, with its citations but without its words."""

    __tablename__ = "answers"

    id: Mapped[str] = mapped_column(primary_key=True)
    team: Mapped[str]
    channel: Mapped[str]
    ts: Mapped[str]
    thread_ts: Mapped[str]
    user: Mapped[str | None]
    reply_ts: Mapped[str | None]
    verdict: Mapped[str]
    reason: Mapped[str]
    model: Mapped[str | None]
    revision: Mapped[str | None]
    steps: Mapped[int]
    cost_usd: Mapped[float | None]
    seconds: Mapped[float]
    at: Mapped[float] = mapped_column(index=True)
    citations: Mapped[list[Any]]
    passages: Mapped[list[Any]]
    unsupported: Mapped[int]
    trace: Mapped[list[Any]]

    def is_for(self, user: str, channel: str) -> bool:
        """Return True if a person in a channel sees the answer there.

        A private answer has no thread or no timestamp in Slack; only its asker sees it.
        """
        is_private = not self.thread_ts or self.reply_ts == ""
        return channel == self.channel and (not is_private or user == self.user)


class AnswerText(Base):
    """The words of a question, its answer and, if the thread is not in Slack, the earlier turns."""

    __tablename__ = "texts"

    answer_id: Mapped[str] = mapped_column(primary_key=True)
    question: Mapped[str]
    text: Mapped[str]
    thread: Mapped[list[Any]]
    at: Mapped[float] = mapped_column(index=True)


class BookedRequest(Base):
    """The cost of one request to a model, for the person who caused it. It holds no words."""

    __tablename__ = "bookings"

    id: Mapped[str] = mapped_column(primary_key=True)
    answer_id: Mapped[str]
    payer: Mapped[str]
    model: Mapped[str]
    usd: Mapped[float | None]
    at: Mapped[float] = mapped_column(index=True)


class Rewording(Base):
    """An answer to a question that had one: somebody edited it, or asked for another answer."""

    __tablename__ = "rewordings"

    id: Mapped[str] = mapped_column(primary_key=True)
    user: Mapped[str]
    channel: Mapped[str]
    at: Mapped[float] = mapped_column(index=True)


class Vote(Base):
    """One person's last vote on an answer."""

    __tablename__ = "feedback"

    answer_id: Mapped[str] = mapped_column(primary_key=True)
    user: Mapped[str] = mapped_column(primary_key=True)
    vote: Mapped[str]
    reason: Mapped[str | None]
    at: Mapped[float]


class HumanCall(Base):
    """A press of *Need a human* under an answer."""

    __tablename__ = "human_calls"

    answer_id: Mapped[str] = mapped_column(primary_key=True)
    user: Mapped[str]
    at: Mapped[float]


class Announcement(Base):
    """A notice that is posted once, across restarts and replicas."""

    __tablename__ = "announcements"

    name: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[float] = mapped_column(index=True)
    attempts: Mapped[int]
    done: Mapped[bool]
    detail: Mapped[list[Any]]


class CitedChunkText(Base):
    """Text of a chunk at the time of its citation, in channels with change notes."""

    __tablename__ = "cited_texts"

    hash: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]
    url: Mapped[str | None]
    at: Mapped[float] = mapped_column(index=True)


def noted_row(question: Question) -> dict[str, object]:
    """Return the values of a message that is noted now."""
    return {
        "team": question.team,
        "channel": question.channel,
        "ts": question.ts,
        "thread_ts": question.thread_ts,
        "user": question.user,
        "channel_type": question.channel_type,
        "is_mention": question.is_mention,
        "is_shared": bool(question.is_shared),
        "gesture": question.gesture,
        "origin": question.origin,
        "about": question.about,
        "state": "noted",
        "noted_at": Now(),
        "response_url": question.response_url or None,
    }


def answer_record(question: Question, answer: Answer, reply_ts: str | None) -> AnswerRecord:
    """Return the row of an answer, without its words."""
    private = question.origin == "command"  # a private answer is in no thread before it is shared
    return AnswerRecord(
        id=answer.id,
        team=question.team,
        channel=question.channel,
        ts="" if private else question.about or question.ts,
        thread_ts="" if private else question.thread_ts,
        user=question.user,
        reply_ts=reply_ts,
        verdict=answer.verdict,
        reason=answer.reason,
        model=answer.model,
        revision=answer.revision,
        steps=answer.steps,
        cost_usd=answer.cost_usd,
        seconds=round(answer.seconds, 3),
        at=time.time(),
        citations=[
            {"id": p.id, "path": p.path, "hash": p.hash, "lines": list(p.lines)}
            for p in answer.citations
        ],
        passages=[{"id": p.id, "hash": p.hash} for p in answer.passages[:20]],
        unsupported=len(answer.unsupported),
        trace=answer.trace.to_json(),
    )


class JournalSession(Session):
    """A session that keeps the messages that it has read or written, until it closes."""

    @property
    def messages(self) -> list[NotedMessage]:
        kept: list[NotedMessage] = self.info.setdefault("messages", [])
        return kept


@sa.event.listens_for(JournalSession, "loaded_as_persistent")
def _loaded(session: JournalSession, row: object) -> None:
    if isinstance(row, NotedMessage):
        session.messages.append(row)
