"""What the docs team wants to know of some days: the values of a report.

They are read from the journal (``reading``), where questions alike are put together (``gaps``), and
shown in the terminal, on a page and in the digest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Any

from ingest.documents import DocumentInfo

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


def percentile(ascending: Sequence[float], share: float) -> float | None:
    """The smallest value that so large a share does not exceed."""
    return ascending[ceil(share * len(ascending)) - 1] if ascending else None
