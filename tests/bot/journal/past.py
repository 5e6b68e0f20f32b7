"""Answers of the past, put into a real journal the way the bot records them."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from agent.answer import Answer, Verdict
from agent.trace import Trace
from bot.journal.claims import Journal
from bot.journal.records import AnswerRecord, Vote
from bot.question.event import Question
from ingest.documents import Passage


def cited(id_: str, path: str, hash_: str = "h", text: str = "") -> Passage:
    return Passage(id_, path, "Title", ("Heading",), (3, 9), text, hash_)


def answered(
    journal: Journal,
    id_: str,
    at: datetime,
    verdict: Verdict = "answered",
    *,
    queries: tuple[str, ...] = (),
    citations: tuple[Passage, ...] = (),
    channel: str = "C0GENERAL",
    user: str = "U0ONCALL",
    ts: str = "1700000000.000100",
    **more: Any,
) -> None:
    trace = Trace()
    for query in queries:
        detail = {"query": query, "ids": ["near-0"], "distances": [0.9], "weak": True}
        trace.add(1.0, "tool_result", name="search_docs", **detail)
    question = Question("T0SANDBOX", channel, ts, ts, user, "", "channel", is_mention=True)
    answer = Answer(id_, "the question", verdict, (), citations, trace=trace, **more)
    journal.record(question, answer, ts)
    with journal.session() as session:
        row = session.get(AnswerRecord, id_)
        assert row is not None
        row.at = at.timestamp()


def voted(
    journal: Journal, id_: str, at: datetime, vote: str, reason: str | None = None, user: str = "U1"
) -> None:
    journal.vote(id_, user, vote, reason)
    with journal.session() as session:
        session.execute(
            sa.update(Vote)
            .where(Vote.answer_id == id_, Vote.user == user)
            .values(at=at.timestamp())
        )
