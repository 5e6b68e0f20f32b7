"""Journal and index -> the report of a period."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from bot.journal.claims import Journal
from bot.journal.records import AnswerRecord, Vote
from bot.report import AskedQuestion, Complaint, Day, Report, StalePage
from bot.report.gaps import group
from bot.report.traces import searches
from bot.report.words import VERDICTS, one_line
from ingest.documents import DocumentInfo
from ingest.errors import IndexMissing
from ingest.index import Index

UNANSWERED = ("not_in_docs", "uncited")
"""Verdicts for questions that the docs did not answer."""
STALE_AFTER = timedelta(days=180)
_STALE_SHOWN = 20


def read_report(journal: Journal, index: Index, begin: datetime, end: datetime) -> Report:
    """Read the report from ``begin`` up to, but without, ``end``."""
    since, until = begin.timestamp(), end.timestamp()
    records = [r for r in journal.answers(since=since, limit=None) if r.at < until]
    votes = [vote for vote in journal.votes() if since <= vote.at < until]
    voted = [(vote, journal.answer(vote.answer_id)) for vote in votes]
    texts = {r.id: journal.text(r.id) for r in records if r.verdict in UNANSWERED}
    try:
        documents = index.documents()
    except IndexMissing:
        documents = []
    return make_report(
        records,
        [(vote, record) for vote, record in voted if record is not None],
        documents,
        begin=begin,
        end=end,
        questions={ident: text.question for ident, text in texts.items() if text},
        humans_called=journal.humans_called(since),
    )


def make_report(
    records: Sequence[AnswerRecord],
    votes: Sequence[tuple[Vote, AnswerRecord]],
    documents: Sequence[DocumentInfo],
    *,
    begin: datetime,
    end: datetime,
    questions: Mapping[str, str] | None = None,
    humans_called: int = 0,
) -> Report:
    """Make the report of a period from its answers, and from its votes with their answers.

    ``questions`` has the text of a question by answer id, if it is stored.
    """
    words = questions or {}
    down = [(vote, record) for vote, record in votes if vote.vote == "down"]
    return Report(
        begin=begin,
        end=end,
        days=tuple(_days(records, begin, end)),
        verdicts=_verdict_counts(records),
        askers=len({(record.team, record.user) for record in records}),
        gaps=group([_question(r, words) for r in records if r.verdict in UNANSWERED]),
        complaints=tuple(
            Complaint(_question(record, words), one_line(vote.reason or ""), _cited_paths(record))
            for vote, record in sorted(down, key=lambda pair: -pair[0].at)
        ),
        thumbs_up=sum(vote.vote == "up" for vote, _ in votes),
        humans_called=humans_called,
        stale=tuple(_stale(records, documents, end)),
        cost_usd=sum(record.cost_usd or 0.0 for record in records),
        unpriced=sum(record.cost_usd is None for record in records),
        seconds=tuple(sorted(record.seconds for record in records)),
        searches=sum(len(searches(record.trace)) for record in records),
    )


def _question(record: AnswerRecord, questions: Mapping[str, str]) -> AskedQuestion:
    all_searches = searches(record.trace)
    # A search with the text of the question has no query.
    queries = "; ".join(dict.fromkeys(str(s["query"]) for s in all_searches if s["query"]))
    nearest = next((str(s["ids"][0]) for s in all_searches if s["ids"]), None)
    return AskedQuestion(
        record.id,
        datetime.fromtimestamp(record.at, UTC),
        record.channel,
        record.ts,
        record.verdict,
        one_line(questions.get(record.id) or queries),
        nearest,
    )


def _verdict_counts(records: Sequence[AnswerRecord]) -> dict[str, int]:
    counts = Counter(record.verdict for record in records)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, *counts) if counts[verdict]}


def _days(records: Sequence[AnswerRecord], begin: datetime, end: datetime) -> Iterator[Day]:
    by_day: dict[date, list[AnswerRecord]] = {}
    for record in records:
        by_day.setdefault(datetime.fromtimestamp(record.at, UTC).date(), []).append(record)
    for number in range((end.date() - begin.date()).days + 1):
        day = begin.date() + timedelta(days=number)
        yield Day(day.isoformat(), _verdict_counts(by_day.get(day, [])))


def _cited_paths(record: AnswerRecord) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(cited["path"]) for cited in record.citations))


def _stale(
    records: Sequence[AnswerRecord], documents: Sequence[DocumentInfo], now: datetime
) -> list[StalePage]:
    cited = Counter(path for record in records for path in _cited_paths(record))
    pages = [
        StalePage(info, cited[info.path], (now - info.updated_at).days)
        for info in documents
        if cited[info.path] and info.updated_at and now - info.updated_at > STALE_AFTER
    ]
    return sorted(pages, key=lambda p: (-p.answers, -p.days, p.info.path))[:_STALE_SHOWN]
