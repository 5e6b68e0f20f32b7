"""The note to the admin channel that the ingest fails, and the one that it works again.

Record of runs -> one note when a failure has outlasted its first retry, or will not go away by
itself; another one when a run succeeds again. Neither holds the text of an error.
"""

from datetime import UTC, datetime, timedelta

from bot.blocks.elements import context, section
from bot.notices.once import Announcements
from bot.slack.identity import SlackMessage
from ingest.index import Index
from ingest.runs.outage import Outage
from ingest.runs.record import IngestRuns

_LASTING = 2
"""Number of failed runs from which a failure is more than a blip."""
_REPEATED = timedelta(hours=24)
"""Time after which a replica posts a note although another one posted one."""


class IngestNotice:
    """Posts the notes, one per outage. Of replicas, only the one that posted the first heals it."""

    def __init__(
        self, announcements: Announcements, index: Index, runs: IngestRuns, channel: str | None
    ) -> None:
        self._announcements, self._index, self._runs = announcements, index, runs
        self._channel = channel
        self._failed, self._healed = f"ingest failed {channel} ", f"ingest healed {channel} "

    def tend(self, now: datetime | None = None) -> None:
        """Post the note that is due, if any."""
        if self._channel is None:
            return
        outage, told = self._runs.outage(), self._runs.published("outage_told")
        if outage is None and told:
            self._post_healed(self._channel, told)
        elif outage and not told and (outage.attempts >= _LASTING or not outage.may_heal):
            self._post_failed(self._channel, outage, now or datetime.now(UTC))

    def _post_failed(self, channel: str, outage: Outage, now: datetime) -> None:
        # Replicas fail at the same time when a host is away: the hour is a name that they share.
        begin = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        hour = begin.isoformat(timespec="hours")
        posted = self._announcements.announced(self._failed)
        recent = {one for one in posted if datetime.fromisoformat(one) > now - _REPEATED}
        if recent - self._announcements.announced(self._healed):
            return
        name = self._failed + hour
        if self._announcements.claim(name, [hour]):
            at = self._index.status().ingested_at
            note = failed_note(outage, at, self._runs.published("next_run_at"))
            if self._announcements.post(name, channel, note, None):
                self._runs.publish("outage_told", hour)

    def _post_healed(self, channel: str, told: str) -> None:
        name = self._healed + told
        if self._announcements.claim(name, [told]):
            self._announcements.post(name, channel, healed_note(), None)
        if told in self._announcements.announced(self._healed):
            self._runs.publish("outage_told", None)


def failed_note(
    outage: Outage, ingested_at: datetime | None, next_run_at: str | None
) -> SlackMessage:
    """Return the note on failed runs. Pure."""
    age = f"as they were at {_minute(ingested_at)}" if ingested_at else "from nothing yet"
    next_at = outage.next_try_at or next_run_at
    next_try = f" The next try is at {_minute(datetime.fromisoformat(next_at))}." if next_at else ""
    since = _minute(datetime.fromisoformat(outage.since))
    text = (
        f":warning: The ingest of the docs fails since {since}, because {outage.cause}. Answers "
        f"come from the docs {age}.{next_try}"
    )
    tail = "`footnote status` on its machine shows the error. A note follows when it works again."
    return {"text": text, "blocks": [section(text), context("footnote_ingest", tail)]}


def healed_note() -> SlackMessage:
    """Return the note that a run succeeded again. Pure."""
    text = ":white_check_mark: The ingest of the docs works again: answers come from today's docs."
    return {"text": text, "blocks": [section(text)]}


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
