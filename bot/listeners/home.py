"""App Home and prompts in the agent view: state of the docs, and how to ask.

The same lines answer ``/footnote status``.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from bot.blocks.around import ago
from bot.blocks.elements import code, header, link, section
from bot.journal.claims import Journal
from bot.journal.not_taken import NotTaken
from bot.journal.records import AnswerRecord
from bot.listeners.bolt import BoltListener
from bot.reading.block_text import SlackJson, string
from bot.reading.mrkdwn import escape
from bot.report.words import counted, verdict_words
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from bot.slack.message_links import permalink
from ingest.documents import CollectionInfo
from ingest.errors import IngestError
from ingest.index import Index, IndexStatus
from ingest.runs.outage import Outage
from ingest.runs.record import IngestRun

log = logging.getLogger(__name__)

LastRun = Callable[[], IngestRun | None]
"""Returns the newest finished ingest, or None before the first one."""

HomeView = dict[str, object]
"""The view of a home tab, as Slack accepts it."""

EXAMPLES = (
    ("What do the docs cover?", "What can you tell me about, from the docs?"),
    ("Find a runbook", "Which runbooks are there, and for which alerts?"),
    ("How do I …?", "How do I roll back a deploy?"),
)
"""Questions that fit any docs."""
_RECENT = 5
_DAY = 86_400.0
_SKIPPED = 5
_WHY = "`footnote status`"
_USED = (".footnote/", "CODEOWNERS")
"""Beginning or end of the paths of Footnote's settings, which are not documents."""


class Home:
    def __init__(
        self,
        clients: Clients,
        journal: Journal,
        index: Index,
        last_run: LastRun,
        stale_after: timedelta,
        refusal: Callable[[str], str | None] = lambda _user: None,
        outage: Callable[[], Outage | None] = lambda: None,
    ) -> None:
        """``refusal`` returns why a person may not see the home tab, in words for them, or None."""
        self._refusal = refusal
        self._clients = clients
        self._journal = journal
        self._index = index
        self._last_run = last_run
        self._stale_after = stale_after
        self._outage = outage

    def listeners(self) -> list[BoltListener]:
        return [BoltListener("event", "app_home_opened", self._opened)]

    def status_lines(self) -> list[str]:
        return [
            *self._index_lines(),
            *run_lines(self._last_run()),
            *outage_lines(self._outage()),
            *reply_lines(self._journal.replies_not_taken(time.time() - _DAY)),
        ]

    def _index_lines(self) -> list[str]:
        try:
            return [
                *index_lines(self._index.status(), self._stale_after, datetime.now(UTC)),
                *collection_lines(self._index.collections()),
            ]
        except IngestError as error:
            log.warning("index: %s", error)
            return [f":warning: {error.spoken}"]

    def _opened(self, event: SlackJson) -> None:
        user, tab = string(event.get("user")), event.get("tab")
        refusal = self._refusal(user)
        try:
            if tab == "messages" and not refusal:
                self._suggest(string(event.get("channel")))
            elif tab == "home":
                view = self._view(user) if refusal is None else refusal_view(refusal)
                self._clients.read.views_publish(user_id=user, view=view)
        except SLACK_FAILED as error:
            log.info("could not show the home of a person: %s", slack_error(error))

    def _view(self, user: str) -> HomeView:
        return home_view(self.status_lines(), self._recent(user))

    def _suggest(self, channel: str) -> None:
        """Offer prompts in the agent view. Raises what Slack fails with.

        Not every plan has that view.
        """
        prompts = [{"title": title, "message": message} for title, message in EXAMPLES]
        self._clients.hint.assistant_threads_setSuggestedPrompts(
            channel_id=channel, prompts=prompts
        )

    def _recent(self, user: str) -> list[str]:
        return [self._line(record) for record in self._journal.answers(user=user, limit=_RECENT)]

    def _line(self, record: AnswerRecord) -> str:
        when = datetime.fromtimestamp(record.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        pages = ", ".join(dict.fromkeys(code(str(c["path"])) for c in record.citations))
        reply = None
        if record.reply_ts:
            reply = permalink(self._clients.hint, record.channel, record.reply_ts)
        return f"{link(when, reply)} · {pages or verdict_words(record.verdict)}"


def index_lines(status: IndexStatus, stale_after: timedelta, now: datetime) -> list[str]:
    """Describe the state of the index."""
    growth = [f":hourglass_flowing_sand: {status.growth.words}"] if status.growth else []
    if status.revision is None or status.ingested_at is None:
        return growth or [":warning: Nothing is indexed yet: the first ingest has not finished."]
    age = now - status.ingested_at
    lines = [
        f"*Docs*: {counted(status.documents, 'page')} in {counted(status.chunks, 'chunk')}, at "
        f"{code(status.revision.label)}, read {ago(age)}.",
        *growth,
    ]
    if age > stale_after:
        lines.append(":warning: That is long ago, so newer changes are missing.")
    return lines


def collection_lines(collections: Sequence[CollectionInfo]) -> list[str]:
    """List the collections of the docs."""
    return [
        f"• {code(each.name)} ({counted(each.documents, 'page')}): {escape(each.description)}"
        for each in collections
    ]


def run_lines(last_run: IngestRun | None) -> list[str]:
    """Describe the last ingest, with the first files that it left out.

    Errors and warnings can hold words of git, hosts and addresses, so only operators read them.
    """
    if last_run is None:
        return []
    if last_run.error:
        return [f":warning: *Last ingest*: {last_run.state}. Operators see why: {_WHY}."]
    report = last_run.report or {}
    skipped = [s for s in report.get("skipped") or () if not _is_used(str(s["path"]))]
    lines = [
        f"*Last ingest*: {counted(report.get('added', 0), 'chunk')} added, "
        f"{report.get('updated', 0)} updated, {report.get('deleted', 0)} deleted, "
        f"{counted(len(skipped), 'file')} skipped."
    ]
    lines += [f"• {code(str(s['path']))}: {escape(str(s['reason']))}" for s in skipped[:_SKIPPED]]
    if len(skipped) > _SKIPPED:
        lines.append(f"• and {len(skipped) - _SKIPPED} more: `footnote status`")
    if test := report.get("self_test"):
        lines.append(
            f"*Self-test*: {test['found']} of {test['questions']} questions found their page."
        )
    if warnings := report.get("warnings"):
        lines.append(f":warning: {counted(len(warnings), 'warning')}. Operators see them: {_WHY}.")
    return lines


def outage_lines(outage: Outage | None) -> list[str]:
    """Describe failed ingests: the cause, the time since when, and the next try."""
    if outage is None:
        return []
    runs = counted(outage.attempts, "failed ingest")
    next_try = outage.next_try_at or "with the next ingest"
    return [
        f":warning: {runs} since {outage.since}, because {outage.cause}. Next try: {next_try}.",
    ]


def reply_lines(replies: Sequence[NotTaken]) -> list[str]:
    """Count replies that Slack has not accepted, by Slack's error; channels stay hidden."""
    lines = []
    for is_waiting, which in ((True, "wait for Slack"), (False, "were refused in the last day")):
        codes = Counter(reply.code for reply in replies if reply.is_waiting is is_waiting)
        if codes:
            reasons = ", ".join(f"{code(name)} {count}" for name, count in codes.most_common())
            lines.append(f":warning: *Replies* that {which}: {reasons}.")
    return lines


def _is_used(path: str) -> bool:
    return path.startswith(_USED) or path.endswith(_USED)


def refusal_view(refusal: str) -> HomeView:
    """Return the home tab of a person who may not use Footnote."""
    return {"type": "home", "blocks": [section(refusal)]}


def home_view(status: Sequence[str], recent: Sequence[str]) -> HomeView:
    """Return the home tab of one person."""
    help_lines = [
        "• Mention me in a channel, or write to me here. In a thread I read the earlier messages.",
        "• `/footnote QUESTION` answers only to you; `/footnote help` explains the rest.",
        *(f"• _{message}_" for _title, message in EXAMPLES),
    ]
    return {
        "type": "home",
        "blocks": [
            header("What I know"),
            section("\n".join(status)),
            header("How to ask"),
            section("\n".join(help_lines)),
            header("Your last answers"),
            section("\n".join(recent) or "None yet."),
        ],
    }
