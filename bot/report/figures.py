"""The values of a report about some days, for the docs team.

``collect`` reads them from the journal, ``gaps`` groups similar questions, and the terminal, a page
and the digest show them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Annotated, Any

from pydantic import PlainSerializer, TypeAdapter

from ingest.documents import DocumentInfo

Json = dict[str, Any]


def _seconds_precise(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question: where it was asked, and the search queries for it."""

    id: str
    """Id of the answer."""
    at: Annotated[datetime, PlainSerializer(_seconds_precise)]
    channel: str
    ts: str
    verdict: str
    words: str
    """Text of the question if it is stored, else the model's queries."""
    nearest: str | None = None
    """Id of the chunk at the top of the first search that found something."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Similar questions that the docs could not answer, newest first."""

    questions: tuple[AskedQuestion, ...]

    @property
    def topic(self) -> str:
        return self.questions[0].words or "nothing was searched for"

    @property
    def variants(self) -> list[str]:
        """Other wordings of the topic."""
        wordings = dict.fromkeys(question.words for question in self.questions[1:])
        return [words for words in wordings if words != self.topic]


@dataclass(frozen=True, slots=True)
class Complaint:
    """A thumb down."""

    question: AskedQuestion
    reason: str
    pages: tuple[str, ...]
    """Paths of the documents that the answer cited."""


@dataclass(frozen=True, slots=True)
class StalePage:
    """A document that answers cite although nobody has changed it for months."""

    info: DocumentInfo
    answers: int
    """Number of answers that cite the document."""
    days: int
    """Days since the last commit that changed the document."""


@dataclass(frozen=True, slots=True)
class Day:
    day: str
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """The report of one period.

    Gaps are sorted by their number of questions, and stale pages by their number of answers, the
    largest first; complaints begin with the newest, and days with the oldest.
    """

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
    """Dollars for the answers whose price is known."""
    unpriced: int
    seconds: tuple[float, ...] = field(repr=False, default=())
    """Seconds that each answer took, ascending."""
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

        def question_json(question: AskedQuestion) -> Json:
            return {**_QUESTION.dump_python(question), "link": links.get(question.id)}

        return {
            "begin": _seconds_precise(self.begin),
            "end": _seconds_precise(self.end),
            "answers": self.answers,
            "askers": self.askers,
            "verdicts": dict(self.verdicts),
            "days": [{"day": day.day, "verdicts": dict(day.verdicts)} for day in self.days],
            "gaps": [
                {
                    "topic": gap.topic,
                    "count": len(gap.questions),
                    "asked": [question_json(question) for question in gap.questions],
                }
                for gap in self.gaps
            ],
            "thumbs_up": self.thumbs_up,
            "thumbs_down": [
                {**question_json(c.question), "reason": c.reason, "pages": list(c.pages)}
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


_QUESTION = TypeAdapter(AskedQuestion)


def percentile(ascending: Sequence[float], share: float) -> float | None:
    """Return the smallest value that is not exceeded by this share of the values, or None."""
    return ascending[ceil(share * len(ascending)) - 1] if ascending else None
