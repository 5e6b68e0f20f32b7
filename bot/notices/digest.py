"""The weekly message to the docs channel about questions that the docs could not answer.

Questions in private channels and direct messages are counted, but never quoted.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.blocks.elements import code, context, header, link, section
from bot.journal.claims import Journal
from bot.notices.once import Announcements
from bot.reading.block_text import SlackJson
from bot.reading.mrkdwn import escape
from bot.report import AskedQuestion, Complaint, Gap, Report
from bot.report.collect import read_report
from bot.report.question_links import permalinks
from bot.report.words import cost_words, counted, seconds_words, verdict_words
from bot.settings import BotSettings
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from ingest.index import Index
from ingest.runs.cron import read_times
from ingest.shorten import shorten_end

log = logging.getLogger(__name__)

GRACE = timedelta(hours=24)
"""A late digest is sent up to this long after its time."""
PERIOD = timedelta(days=7)
_MOST_LINES = 8
"""Maximum number of lines in each part of the digest."""
_LINKED = 3
"""Maximum number of questions of a gap that get a link."""
_TEXT = 140
"""Maximum number of characters of a topic, a reason or a path."""


class Digest:
    """Sends the digest when it is due."""

    def __init__(
        self,
        clients: Clients,
        journal: Journal,
        index: Index,
        announcements: Announcements,
        settings: BotSettings,
        timezone: str,
    ) -> None:
        self._clients, self._journal, self._index = clients, journal, index
        self._announcements = announcements
        self._channel = settings.digest_channel
        self._times = read_times(settings.digest_at, timezone, "FOOTNOTE_DIGEST_AT")

    def tend(self, now: datetime | None = None) -> None:
        """Send the newest due digest, unless it was sent already or has no content."""
        due = self._times.last_due(now or datetime.now(UTC), GRACE)
        if self._channel is None or due is None:
            return
        due = due.astimezone(UTC)
        name = f"digest {self._channel} {due.isoformat()}"
        if not self._announcements.claim(name):
            return
        report = read_report(self._journal, self._index, due - PERIOD, due)
        if not report.answers:
            self._announcements.finish(name)
            return
        public = _Public(self._clients)
        questions = [asked for asked in _listed(report) if public(asked.channel)]
        message = digest_message(report, public, permalinks(questions, self._clients.hint))
        self._announcements.post(name, self._channel, message, None)


class _Public:
    """Tells if everybody in the workspace may read a channel; if unknown, it is private."""

    def __init__(self, clients: Clients) -> None:
        self._client = clients.hint
        self._known: dict[str, bool] = {}

    def __call__(self, channel: str) -> bool:
        if channel not in self._known:
            self._known[channel] = channel.startswith("C") and self._ask(channel)
        return self._known[channel]

    def _ask(self, channel: str) -> bool:
        try:
            info: SlackJson = self._client.conversations_info(channel=channel).get("channel") or {}
        except SLACK_FAILED as error:
            log.info("%s counts as private: %s", channel, slack_error(error))
            return False
        kinds = ("is_private", "is_im", "is_mpim", "is_group")
        return bool(info.get("is_channel")) and not any(info.get(kind) for kind in kinds)


def _listed(report: Report) -> Iterator[AskedQuestion]:
    for gap in report.gaps:
        yield from gap.questions[:_LINKED]
    for complaint in report.complaints[:_MOST_LINES]:
        yield complaint.question


def digest_message(
    report: Report, public: Callable[[str], bool], links: Mapping[str, str]
) -> dict[str, Any]:
    """Return the message. ``links`` has addresses of questions by answer id. Pure."""
    unanswered = sum(len(gap.questions) for gap in report.gaps)
    days = f"{report.begin:%d %b} to {report.end - timedelta(seconds=1):%d %b}"
    sections = [
        _numbers(report),
        "\n".join(_gaps(report.gaps, public, links)),
        "\n".join(_complaints(report.complaints, public, links)),
        "\n".join(_stale(report)),
    ]
    tail = "`footnote report --html FILE` shows all of it, with plots."
    answers = counted(report.answers, "answer")
    return {
        "text": f"Docs digest, {days}: {answers}, {unanswered} not in the docs",
        "blocks": [
            header(f"Docs digest, {days}"),
            *map(section, filter(None, sections)),
            context("footnote_digest", tail),
        ],
    }


def _numbers(report: Report) -> str:
    verdicts = ", ".join(
        f"{count} {verdict_words(verdict)}" for verdict, count in report.verdicts.items()
    )
    return (
        f"*{counted(report.answers, 'answer')}* to {counted(report.askers, 'person', 'people')}: "
        f"{verdicts}. "
        f"{seconds_words(report.p50)} median, {seconds_words(report.p95)} p95. "
        f"{cost_words(report.cost_usd, report.unpriced)}. "
        f"{counted(report.thumbs_up, 'thumb')} up, {len(report.complaints)} down."
    )


def _gaps(
    gaps: Sequence[Gap], public: Callable[[str], bool], links: Mapping[str, str]
) -> Iterator[str]:
    if not gaps:
        return
    visible = [
        replace(gap, questions=questions)
        for gap in gaps
        if (questions := tuple(one for one in gap.questions if public(one.channel)))
    ]
    visible.sort(key=lambda gap: -len(gap.questions))
    yield "*The docs had no answer to*"
    for gap in visible[:_MOST_LINES]:
        where = "".join(f" · {_place(question, links)}" for question in gap.questions[:_LINKED])
        yield f"• {len(gap.questions)} × {_short(gap.topic)}{where}"
    if len(visible) > _MOST_LINES:
        yield f"• and {len(visible) - _MOST_LINES} more"
    hidden = sum(len(gap.questions) for gap in gaps) - sum(len(gap.questions) for gap in visible)
    if hidden:
        yield f"• {hidden} × asked in private"


def _complaints(
    complaints: Sequence[Complaint], public: Callable[[str], bool], links: Mapping[str, str]
) -> Iterator[str]:
    visible = [complaint for complaint in complaints if public(complaint.question.channel)]
    if not visible:
        return
    yield "*Thumbs down*"
    for complaint in visible[:_MOST_LINES]:
        pages = ", ".join(_code(page) for page in complaint.pages[:3])
        about = f" · {pages}" if pages else ""
        reason = _short(complaint.reason) or "_no reason given_"
        yield f"• {reason}{about} · {_place(complaint.question, links)}"


def _stale(report: Report) -> Iterator[str]:
    if not report.stale:
        return
    yield "*Old pages that answers cite*"
    for page in report.stale[:_MOST_LINES]:
        owner = f", owner {_short(page.info.owner)}" if page.info.owner else ""
        yield (
            f"• {_code(page.info.path)}: cited by {counted(page.answers, 'answer')}, "
            f"unchanged for {page.days} days{owner}"
        )


def _place(asked: AskedQuestion, links: Mapping[str, str]) -> str:
    return link(f"{asked.at:%d %b %H:%M}", links.get(asked.id))


def _short(text: str) -> str:
    return escape(shorten_end(text, _TEXT))


def _code(path: str) -> str:
    return code(shorten_end(path, _TEXT))
