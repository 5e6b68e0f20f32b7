"""The thread that posts the weekly digest, and notes on changed documents and failed ingests."""

import logging
import threading
from collections.abc import Callable

from bot.journal.claims import Journal
from bot.journal.database import JournalError
from bot.notices.changes import Changes
from bot.notices.digest import Digest
from bot.notices.ingest_notice import IngestNotice
from bot.notices.once import Announcements
from bot.settings import BotSettings
from bot.slack.clients import Clients
from ingest.errors import FootnoteError
from ingest.index import Index
from ingest.runs.record import IngestRuns

log = logging.getLogger(__name__)

POLL_SECONDS = 20.0
"""Seconds between checks."""
_STOP_SECONDS = 5.0


class Notices:
    """Runs the digest, the change notes and the notes on ingests.

    ``wanted`` tells if a channel wants change notes.
    """

    def __init__(
        self,
        clients: Clients,
        journal: Journal,
        index: Index,
        settings: BotSettings,
        timezone: str,
        wanted: Callable[[str], bool],
        runs: IngestRuns,
    ) -> None:
        announcements = Announcements(journal, clients.post)
        self._tasks = (
            Changes(journal, index, announcements, wanted, settings.change_notes_days).tend,
            Digest(clients, journal, index, announcements, settings, timezone).tend,
            IngestNotice(announcements, index, runs, settings.admin_channel).tend,
        )
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="notices", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _work(self) -> None:
        while not self._stopping.is_set():
            for task in self._tasks:
                try:
                    task()
                except JournalError as error:  # the journal itself logs that
                    log.debug("A notice is delayed: %s", error)
                except FootnoteError as error:
                    log.warning("A notice is delayed: %s", error)
                except Exception:  # any failure: a database may be down for a while
                    log.exception("a notice failed")
            self._stopping.wait(POLL_SECONDS)
