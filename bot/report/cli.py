"""``footnote report``: the journal of some days -> the terminal, JSON or an HTML page."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.journal.claims import Journal
from bot.report import AskedQuestion, Report
from bot.report.collect import read_report
from bot.report.page import report_page
from bot.report.question_links import permalinks
from bot.report.words import cost_words, counted, seconds_words, verdict_words
from bot.settings import BotSettings
from bot.slack.clients import open_clients
from ingest.errors import FootnoteError
from ingest.index import open_index
from ingest.settings import IndexSettings, read_settings
from ingest.terminal import VisibleConsole

_SHOWN = 10


def read_last_days(journal: Journal, days: int) -> tuple[Report, dict[str, str]]:
    """Return the report of the last days, and the addresses of its questions in Slack."""
    end = datetime.now(UTC)
    index = open_index(read_settings(IndexSettings))
    try:
        report = read_report(journal, index, end - timedelta(days=days), end)
    finally:
        index.close()
    return report, _links(report)


def _links(report: Report) -> dict[str, str]:
    settings = read_settings(BotSettings)
    if settings.bot_token is None:
        return {}
    return permalinks(listed(report), open_clients(settings).read)


def listed(report: Report) -> Iterator[AskedQuestion]:
    """Yield the questions that a report names, each once."""
    gaps = (question for gap in report.gaps for question in gap.questions)
    complaints = (complaint.question for complaint in report.complaints)
    yield from {question.id: question for question in (*gaps, *complaints)}.values()


def write_page(report: Report, links: dict[str, str], file: Path) -> None:
    try:
        file.write_text(report_page(report, links), encoding="utf-8")
    except OSError as error:
        raise FootnoteError(
            f"{file} cannot be written ({error.strerror}). Name another file with --html."
        ) from error


def print_report(report: Report, links: dict[str, str], console: VisibleConsole) -> None:
    for line in _lines(report, links):
        console.print(line, markup=False)


def _lines(report: Report, links: dict[str, str]) -> Iterator[str]:
    yield f"{report.begin:%Y-%m-%d} to {report.end:%Y-%m-%d}: {counted(report.answers, 'answer')}"
    if not report.answers:
        return
    yield "  " + ", ".join(
        f"{count} {verdict_words(verdict)}" for verdict, count in report.verdicts.items()
    )
    yield (
        f"  {seconds_words(report.p50)} median, {seconds_words(report.p95)} p95; "
        f"{report.searches_per_answer:.1f} searches an answer; "
        f"{cost_words(report.cost_usd, report.unpriced)}"
    )
    yield (
        f"  {counted(report.thumbs_up, 'thumb')} up, {len(report.complaints)} down; "
        f"a human was called {counted(report.humans_called, 'time')}"
    )
    if report.gaps:
        yield "\nThe docs had no answer to"
    for gap in report.gaps[:_SHOWN]:
        yield f"  {len(gap.questions)} x  {gap.topic}"
        for question in gap.questions[:3]:
            yield f"       {question.at:%Y-%m-%d %H:%M}  {place(question, links)}"
    if report.complaints:
        yield "\nThumbs down"
    for complaint in report.complaints[:_SHOWN]:
        about = ", ".join(complaint.pages) or complaint.question.words or complaint.question.verdict
        yield f"  {complaint.reason or '(no reason given)'}"
        yield f"       on {about}  {place(complaint.question, links)}"
    if report.stale:
        yield "\nOld pages that answers cite"
    for page in report.stale[:_SHOWN]:
        owner = f", owner {page.info.owner}" if page.info.owner else ""
        yield f"  {page.answers} x  {page.info.path}, unchanged for {page.days} days{owner}"


def place(question: AskedQuestion, links: dict[str, str]) -> str:
    return links.get(question.id) or f"{question.channel} {question.ts}".strip()
