"""Once a week: what the docs could not answer -> one message to the docs channel.

What was asked in private channels and direct messages is counted there, and never quoted.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.blocks.elements import code, context, header, link, section
from bot.journal.claims import Journal
from bot.notices.once import Announcements
from bot.reading.mrkdwn import escape
from bot.report import AskedQuestion, Complaint, Gap, Report
from bot.report.collect import read_report
from bot.report.question_links import permalinks
from bot.report.words import cost_words, counted, seconds_words, verdict_words
from bot.settings import BotSettings
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from ingest.index import Index
from ingest.runs.schedule import last_due, read_trigger

log = logging.getLogger(__name__)

GRACE = timedelta(hours=24)
"""A digest that nobody could send on time is sent so much later at the latest."""
PERIOD = timedelta(days=7)
_SHOWN = 8
_LINKED = 3
_WORDS = 140

Json = dict[str, Any]


class Digest:
    """Looks now and then whether a digest is due, and sends it."""

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
        self._trigger = read_trigger(settings.digest_at, timezone, "FOOTNOTE_DIGEST_AT")

    def tend(self, now: datetime | None = None) -> None:
        """Send the newest digest that is due, unless it was sent or there is nothing to tell."""
        due = last_due(self._trigger, now or datetime.now(UTC), GRACE)
        if self._channel is None or due is None:
            return
        due = due.astimezone(UTC)
        name = f"digest {self._channel} {due.isoformat()}"
        if not self._announcements.claim(name):
            return
        made = read_report(self._journal, self._index, due - PERIOD, due)
        if not made.answers:
            self._announcements.finish(name)
            return
        public = _Public(self._clients)
        shown = [asked for asked in _listed(made) if public(asked.channel)]
        message = digest_message(made, public, permalinks(shown, self._clients.hint))
        self._announcements.post(name, self._channel, message, None)


class _Public:
    """Whether everybody in the workspace may read a channel; one that is not told is private."""

    def __init__(self, clients: Clients) -> None:
        self._client = clients.hint
        self._known: dict[str, bool] = {}

    def __call__(self, channel: str) -> bool:
        if channel not in self._known:
            self._known[channel] = channel.startswith("C") and self._ask(channel)
        return self._known[channel]

    def _ask(self, channel: str) -> bool:
        try:
            info: Json = self._client.conversations_info(channel=channel).get("channel") or {}
        except SLACK_FAILED as error:
            log.info("%s counts as private: %s", channel, slack_error(error))
            return False
        kinds = ("is_private", "is_im", "is_mpim", "is_group")
        return bool(info.get("is_channel")) and not any(info.get(kind) for kind in kinds)


def _listed(made: Report) -> Iterator[AskedQuestion]:
    for gap in made.gaps:
        yield from gap.questions[:_LINKED]
    for complaint in made.complaints[:_SHOWN]:
        yield complaint.question


def digest_message(
    made: Report, public: Callable[[str], bool], links: Mapping[str, str]
) -> dict[str, Any]:
    """The message; ``links`` has the address of a question by answer id. Pure."""
    unanswered = sum(len(gap.questions) for gap in made.gaps)
    days = f"{made.begin:%d %b} to {made.end - timedelta(seconds=1):%d %b}"
    sections = [
        _numbers(made),
        "\n".join(_gaps(made.gaps, public, links)),
        "\n".join(_complaints(made.complaints, public, links)),
        "\n".join(_stale(made)),
    ]
    tail = "`footnote report --html FILE` shows all of it, with plots."
    answers = counted(made.answers, "answer")
    return {
        "text": f"Docs digest, {days}: {answers}, {unanswered} not in the docs",
        "blocks": [
            header(f"Docs digest, {days}"),
            *map(section, filter(None, sections)),
            context("footnote_digest", tail),
        ],
    }


def _numbers(made: Report) -> str:
    verdicts = ", ".join(
        f"{count} {verdict_words(verdict)}" for verdict, count in made.verdicts.items()
    )
    return (
        f"*{counted(made.answers, 'answer')}* to {counted(made.askers, 'person', 'people')}: "
        f"{verdicts}. "
        f"{seconds_words(made.p50)} median, {seconds_words(made.p95)} p95. "
        f"{cost_words(made.cost_usd, made.unpriced)}. "
        f"{counted(made.thumbs_up, 'thumb')} up, {len(made.complaints)} down."
    )


def _gaps(
    gaps: Sequence[Gap], public: Callable[[str], bool], links: Mapping[str, str]
) -> Iterator[str]:
    if not gaps:
        return
    shown = [
        replace(gap, questions=questions)
        for gap in gaps
        if (questions := tuple(one for one in gap.questions if public(one.channel)))
    ]
    shown.sort(key=lambda gap: -len(gap.questions))
    yield "*The docs had no answer to*"
    for gap in shown[:_SHOWN]:
        where = "".join(f" · {_place(asked, links)}" for asked in gap.questions[:_LINKED])
        yield f"• {len(gap.questions)} × {_short(gap.topic)}{where}"
    if len(shown) > _SHOWN:
        yield f"• and {len(shown) - _SHOWN} more"
    hidden = sum(len(gap.questions) for gap in gaps) - sum(len(gap.questions) for gap in shown)
    if hidden:
        yield f"• {hidden} × asked in private"


def _complaints(
    complaints: Sequence[Complaint], public: Callable[[str], bool], links: Mapping[str, str]
) -> Iterator[str]:
    shown = [complaint for complaint in complaints if public(complaint.question.channel)]
    if not shown:
        return
    yield "*Thumbs down*"
    for complaint in shown[:_SHOWN]:
        pages = ", ".join(_code(page) for page in complaint.pages[:3])
        about = f" · {pages}" if pages else ""
        reason = _short(complaint.reason) or "_no reason given_"
        yield f"• {reason}{about} · {_place(complaint.question, links)}"


def _stale(made: Report) -> Iterator[str]:
    if not made.stale:
        return
    yield "*Old pages that answers cite*"
    for page in made.stale[:_SHOWN]:
        owner = f", owner {_short(page.info.owner)}" if page.info.owner else ""
        yield (
            f"• {_code(page.info.path)}: cited by {counted(page.answers, 'answer')}, "
            f"unchanged for {page.days} days{owner}"
        )


def _place(asked: AskedQuestion, links: Mapping[str, str]) -> str:
    return link(f"{asked.at:%d %b %H:%M}", links.get(asked.id))


def _short(text: str) -> str:
    return escape(_cut(text))


def _code(path: str) -> str:
    return code(_cut(path))


def _cut(text: str) -> str:
    return text if len(text) <= _WORDS else f"{text[: _WORDS - 1]}…"
