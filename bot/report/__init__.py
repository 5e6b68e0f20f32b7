"""Answers, votes and pages of some days -> what the docs team wants to know.

What people asked is not stored, so that questions are told apart by the model's own queries: those
that share most of their words are one gap in the docs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from math import ceil
from typing import Any

from bot.journal import Journal
from bot.records import AnswerRecord, Vote
from bot.report.words import VERDICTS, one_line
from bot.traces import searches
from ingest.documents import DocumentInfo
from ingest.errors import IndexMissing
from ingest.index import Index
from ingest.terms import query_terms

UNANSWERED = ("not_in_docs", "uncited")
"""Verdicts that say the docs had no answer."""
STALE_AFTER = timedelta(days=180)
_STALE_SHOWN = 20
_ALIKE = 0.6
_STEM = 5

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, by where it was asked and what was searched for."""

    answer_id: str
    at: datetime
    channel: str
    ts: str
    verdict: str
    words: str
    """The question where it is stored, else the model's queries."""
    nearest: str | None = None
    """Id of the chunk that came nearest."""

    def to_json(self) -> Json:
        return {
            "id": self.answer_id,
            "at": self.at.isoformat(timespec="seconds"),
            "channel": self.channel,
            "ts": self.ts,
            "verdict": self.verdict,
            "words": self.words,
            "nearest": self.nearest,
        }


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions alike that the docs could not answer, newest first."""

    asked: tuple[Asked, ...]

    @property
    def topic(self) -> str:
        return self.asked[0].words or "nothing was searched for"

    @property
    def variants(self) -> list[str]:
        """The same in other words."""
        return [
            words for words in dict.fromkeys(a.words for a in self.asked[1:]) if words != self.topic
        ]


@dataclass(frozen=True, slots=True)
class Complaint:
    """A thumb down."""

    asked: Asked
    reason: str
    pages: tuple[str, ...]
    """What the answer cited."""


@dataclass(frozen=True, slots=True)
class StalePage:
    """A page that is cited although nobody has changed it for long."""

    info: DocumentInfo
    answers: int
    """Answers that cite it."""
    days: int
    """Since the last commit that touched it."""


@dataclass(frozen=True, slots=True)
class Day:
    day: str
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything of one period, most important first in each list."""

    begin: datetime
    end: datetime
    days: tuple[Day, ...]
    verdicts: Mapping[str, int]
    askers: int
    gaps: tuple[Gap, ...]
    complaints: tuple[Complaint, ...]
    thumbs_up: int
    humans_called: int
    stale: tuple[StalePage, ...]
    cost_usd: float
    """Of the answers whose price is known."""
    unpriced: int
    seconds: tuple[float, ...] = field(repr=False, default=())
    """How long each answer took, ascending."""
    searches: int = 0

    @property
    def answers(self) -> int:
        return sum(self.verdicts.values())

    @property
    def p50(self) -> float | None:
        return percentile(self.seconds, 0.5)

    @property
    def p95(self) -> float | None:
        return percentile(self.seconds, 0.95)

    @property
    def searches_per_answer(self) -> float:
        return self.searches / self.answers if self.answers else 0.0

    def to_json(self, links: Mapping[str, str] | None = None) -> Json:
        """``links``: answer id -> address of its question in Slack."""
        links = links or {}

        def told(asked: Asked) -> Json:
            return {**asked.to_json(), "link": links.get(asked.answer_id)}

        return {
            "begin": self.begin.isoformat(timespec="seconds"),
            "end": self.end.isoformat(timespec="seconds"),
            "answers": self.answers,
            "askers": self.askers,
            "verdicts": dict(self.verdicts),
            "days": [{"day": day.day, "verdicts": dict(day.verdicts)} for day in self.days],
            "gaps": [
                {"topic": gap.topic, "count": len(gap.asked), "asked": [told(a) for a in gap.asked]}
                for gap in self.gaps
            ],
            "thumbs_up": self.thumbs_up,
            "thumbs_down": [
                {**told(c.asked), "reason": c.reason, "pages": list(c.pages)}
                for c in self.complaints
            ],
            "humans_called": self.humans_called,
            "stale": [
                {
                    "path": page.info.path,
                    "title": page.info.title,
                    "owner": page.info.owner,
                    "answers": page.answers,
                    "days": page.days,
                }
                for page in self.stale
            ],
            "cost_usd": round(self.cost_usd, 4),
            "unpriced": self.unpriced,
            "seconds_p50": self.p50,
            "seconds_p95": self.p95,
            "searches_per_answer": round(self.searches_per_answer, 2),
        }


def read_report(journal: Journal, index: Index, begin: datetime, end: datetime) -> Report:
    """What happened from ``begin`` up to ``end``."""
    since, until = begin.timestamp(), end.timestamp()
    records = [r for r in journal.answers(since=since, limit=None) if r.at < until]
    votes = [vote for vote in journal.votes() if since <= vote.at < until]
    voted = [(vote, journal.answer(vote.answer_id)) for vote in votes]
    told = {r.id: journal.text(r.id) for r in records if r.verdict in UNANSWERED}
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
        questions={ident: text.question for ident, text in told.items() if text},
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
    """``records`` are the answers of the period, ``votes`` its votes with what they are about.

    ``questions`` has people's own words by answer id, where these are stored.
    """
    words = questions or {}
    down = [(vote, record) for vote, record in votes if vote.vote == "down"]
    return Report(
        begin=begin,
        end=end,
        days=tuple(_days(records, begin, end)),
        verdicts=_counted(records),
        askers=len({(record.team, record.user) for record in records}),
        gaps=group([_asked(r, words) for r in records if r.verdict in UNANSWERED]),
        complaints=tuple(
            Complaint(_asked(record, words), one_line(vote.reason or ""), _cited_paths(record))
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


def group(asked: Sequence[Asked]) -> tuple[Gap, ...]:
    """Questions alike together, the most asked first."""
    groups: list[tuple[list[Asked], set[frozenset[str]]]] = []
    for one in sorted(asked, key=lambda a: a.at, reverse=True):
        stems = _stems(one.words)
        for members, known in groups:
            if any(_alike(stems, other) for other in known):
                members.append(one)
                known.add(stems)
                break
        else:
            groups.append(([one], {stems}))
    gaps = [Gap(tuple(members)) for members, _ in groups]
    return tuple(sorted(gaps, key=lambda gap: (-len(gap.asked), gap.topic)))


def percentile(ascending: Sequence[float], share: float) -> float | None:
    """The smallest value that so large a share does not exceed."""
    return ascending[ceil(share * len(ascending)) - 1] if ascending else None


def _asked(record: AnswerRecord, questions: Mapping[str, str]) -> Asked:
    made = searches(record.trace)
    # A search by the question's own words has no query of its own.
    queries = "; ".join(dict.fromkeys(str(s["query"]) for s in made if s["query"]))
    nearest = next((str(s["ids"][0]) for s in made if s["ids"]), None)
    return Asked(
        record.id,
        datetime.fromtimestamp(record.at, UTC),
        record.channel,
        record.ts,
        record.verdict,
        one_line(questions.get(record.id) or queries),
        nearest,
    )


def _stems(words: str) -> frozenset[str]:
    """Beginnings of words: enough to tell ``rotate the key`` and ``key rotation`` alike."""
    return frozenset(word[:_STEM] for word in query_terms(words).words)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return not one and not other
    shared = len(one & other)
    # One word in common says little, unless it is all that was asked for.
    return shared >= _ALIKE * min(len(one), len(other)) and (shared > 1 or one == other)


def _counted(records: Sequence[AnswerRecord]) -> dict[str, int]:
    counts = Counter(record.verdict for record in records)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, *counts) if counts[verdict]}


def _days(records: Sequence[AnswerRecord], begin: datetime, end: datetime) -> Iterator[Day]:
    by_day: dict[date, list[AnswerRecord]] = {}
    for record in records:
        by_day.setdefault(datetime.fromtimestamp(record.at, UTC).date(), []).append(record)
    for number in range((end.date() - begin.date()).days + 1):
        day = begin.date() + timedelta(days=number)
        yield Day(day.isoformat(), _counted(by_day.get(day, [])))


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
