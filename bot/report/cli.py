"""``footnote report``: the journal of some days -> the terminal, JSON, or a page of its own."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from bot.journal.claims import Journal
from bot.report import Asked, Report
from bot.report.collect import read_report
from bot.report.page import report_page
from bot.report.question_links import permalinks
from bot.report.words import counted, told_cost, told_seconds, told_verdict
from bot.settings import BotSettings
from bot.slack.clients import open_clients
from ingest.errors import FootnoteError
from ingest.index import open_index
from ingest.settings import IndexSettings, read_settings

_SHOWN = 10


def report(journal: Journal, days: int) -> tuple[Report, dict[str, str]]:
    """The report of the last days, and the addresses of its questions in Slack."""
    end = datetime.now(UTC)
    index = open_index(read_settings(IndexSettings))
    try:
        made = read_report(journal, index, end - timedelta(days=days), end)
    finally:
        index.close()
    return made, _links(made)


def _links(made: Report) -> dict[str, str]:
    settings = read_settings(BotSettings)
    if settings.bot_token is None:
        return {}
    return permalinks(listed(made), open_clients(settings).read)


def listed(made: Report) -> Iterator[Asked]:
    """The questions that a report names, each once."""
    gaps = (asked for gap in made.gaps for asked in gap.asked)
    complaints = (complaint.asked for complaint in made.complaints)
    yield from {asked.answer_id: asked for asked in (*gaps, *complaints)}.values()


def write_page(made: Report, links: dict[str, str], file: Path) -> None:
    try:
        file.write_text(report_page(made, links), encoding="utf-8")
    except OSError as error:
        raise FootnoteError(
            f"{file} cannot be written ({error.strerror}). Name another file with --html."
        ) from error


def print_report(made: Report, links: dict[str, str], console: Console) -> None:
    for line in _lines(made, links):
        # Paths and ids are printed as they are; none of them may speak to the terminal.
        shown = "".join(c for c in line if c.isprintable() or c == "\n")
        console.print(shown, markup=False)


def _lines(made: Report, links: dict[str, str]) -> Iterator[str]:
    yield f"{made.begin:%Y-%m-%d} to {made.end:%Y-%m-%d}: {counted(made.answers, 'answer')}"
    if not made.answers:
        return
    yield "  " + ", ".join(
        f"{count} {told_verdict(verdict)}" for verdict, count in made.verdicts.items()
    )
    yield (
        f"  {told_seconds(made.p50)} median, {told_seconds(made.p95)} p95; "
        f"{made.searches_per_answer:.1f} searches an answer; "
        f"{told_cost(made.cost_usd, made.unpriced)}"
    )
    yield (
        f"  {counted(made.thumbs_up, 'thumb')} up, {len(made.complaints)} down; "
        f"a human was called {counted(made.humans_called, 'time')}"
    )
    if made.gaps:
        yield "\nThe docs had no answer to"
    for gap in made.gaps[:_SHOWN]:
        yield f"  {len(gap.asked)} x  {gap.topic}"
        for asked in gap.asked[:3]:
            yield f"       {asked.at:%Y-%m-%d %H:%M}  {place(asked, links)}"
    if made.complaints:
        yield "\nThumbs down"
    for complaint in made.complaints[:_SHOWN]:
        about = ", ".join(complaint.pages) or complaint.asked.words or complaint.asked.verdict
        yield f"  {complaint.reason or '(no reason given)'}"
        yield f"       on {about}  {place(complaint.asked, links)}"
    if made.stale:
        yield "\nOld pages that answers rest on"
    for page in made.stale[:_SHOWN]:
        owner = f", owner {page.info.owner}" if page.info.owner else ""
        yield f"  {page.answers} x  {page.info.path}, unchanged for {page.days} days{owner}"


def place(asked: Asked, links: dict[str, str]) -> str:
    return links.get(asked.answer_id) or f"{asked.channel} {asked.ts}".strip()
