"""Report -> one HTML file without scripts, which loads nothing from anywhere. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from bot.report import Day, Report
from bot.report.words import VERDICTS, counted, one_line, seconds_words, verdict_words
from ingest.html_templates import open_templates

_BUCKETS = (2.0, 5.0, 10.0, 20.0, 40.0)
_LABELLED_DAYS = 14
_MOST_ASKED = 6
"""Maximum number of questions that are shown for one gap."""
_WIDE_DAYS = 45
"""Maximum number of days for which each bar has room for a number."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One horizontal bar."""

    label: str
    count: int
    percent: float
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class _DayBar:
    """One day's answers as a stack of bars, one per verdict, in the order of VERDICTS."""

    summary: str
    total: int
    bars: tuple[tuple[str, float], ...]
    """Verdict and height in percent, from the top."""
    label: str


def report_page(report: Report, links: Mapping[str, str]) -> str:
    """``links``: answer id -> address of its question in Slack."""
    return _TEMPLATES.get_template("report.html").render(
        report=report,
        links={id_: link for id_, link in links.items() if link},
        verdicts=VERDICTS,
        tiles=_tiles(report) if report.answers else (),
        days=_day_bars(report.days),
        wide=len(report.days) <= _WIDE_DAYS,
        verdict_rows=_rows([(verdict_words(v), n, v) for v, n in report.verdicts.items()]),
        latency_rows=_rows(_histogram(report.seconds)),
        most_asked=_MOST_ASKED,
    )


def _tiles(report: Report) -> tuple[tuple[str, str], ...]:
    answered = report.verdicts.get("answered", 0) / report.answers
    unpriced = f"; {report.unpriced} without a price" if report.unpriced else ""
    return (
        (str(report.answers), f"answers to {counted(report.askers, 'person', 'people')}"),
        (f"{answered:.0%}", "answered from the docs"),
        (str(sum(len(gap.questions) for gap in report.gaps)), "had no answer in the docs"),
        (f"{report.thumbs_up} / {len(report.complaints)}", "thumbs up / down"),
        (f"{seconds_words(report.p50)}", f"median; p95 {seconds_words(report.p95)}"),
        (f"{report.searches_per_answer:.1f}", "searches an answer"),
        (f"${report.cost_usd:.2f}", f"model cost{unpriced}"),
        (str(report.humans_called), "calls for a human"),
    )


def _day_bars(days: Sequence[Day]) -> list[_DayBar]:
    most = max((sum(day.verdicts.values()) for day in days), default=0) or 1
    wide = len(days) <= _WIDE_DAYS
    step = max(1, len(days) // (_LABELLED_DAYS if wide else _LABELLED_DAYS // 2))
    return [
        _DayBar(
            f"{day.day}: {_counts(day) or 'none'}",
            sum(day.verdicts.values()),
            tuple((v, 85 * count / most) for v, count in reversed(list(day.verdicts.items()))),
            day.day[8 if wide else 5 :] if number % step == 0 else "",
        )
        for number, day in enumerate(days)
    ]


def _counts(day: Day) -> str:
    return ", ".join(f"{count} {verdict_words(verdict)}" for verdict, count in day.verdicts.items())


def _rows(counts: Sequence[tuple[str, int, str]]) -> list[_Row]:
    most = max((count for _, count, _ in counts), default=0) or 1
    return [_Row(label, count, 100 * count / most, verdict) for label, count, verdict in counts]


def _histogram(seconds: Sequence[float]) -> list[tuple[str, int, str]]:
    edges = (0.0, *_BUCKETS, float("inf"))
    rows = []
    for low, high in pairwise(edges):
        label = f"over {low:g} s" if high == float("inf") else f"{low:g} to {high:g} s"
        rows.append((label, sum(low <= value < high for value in seconds), ""))
    return rows


def _visible(value: Any) -> Any:
    """Words of people, documents and models without line ends and invisible characters."""
    is_words = isinstance(value, str) and not isinstance(value, Markup)
    return one_line(value) if is_words else value


_TEMPLATES = open_templates("bot.report", finalize=_visible)
_TEMPLATES.filters["verdict"] = verdict_words
