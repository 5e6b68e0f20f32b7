"""The whole system in one process: settings -> index -> agent -> Bolt app -> schedule -> Slack.

``serve`` is ``footnote run``. It connects before the index is ready, and answers questions that a
dead process left behind. On SIGTERM it accepts no more events, finishes the answers under way and
ends.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta

from agent.loop import build_agent
from agent.settings import AgentSettings
from bot.answering.first_ingest import FirstIngestWait
from bot.answering.in_turn import InTurn
from bot.answering.rendering import rendering, runbooks
from bot.build import Parts, build_bot
from bot.channels import SECTIONS, read_channels, read_owners
from bot.journal.claims import Journal, open_journal
from bot.journal.database import JournalError
from bot.journal.spending import Bookings
from bot.notices.notifier import Notices
from bot.settings import BotSettings
from bot.signals import Ending
from bot.slack.clients import identify, open_clients
from bot.slack.endpoint import listen
from bot.slack.socket_mode import SlackSocket
from ingest.config_file import read_collections, read_config_file
from ingest.data_folder import own_data_folder
from ingest.errors import FootnoteError
from ingest.index import open_index
from ingest.runs.record import IngestRuns
from ingest.runs.schedule import Schedule
from ingest.settings import IndexSettings, read_settings

log = logging.getLogger(__name__)

TEND_SECONDS = 20.0
"""Seconds between renewals of claims, and between searches for abandoned claims."""
LISTEN_SECONDS = 5.0
"""Seconds that running listeners get when the bot stops."""


class Service:
    """The bot and all its parts. It receives no event before ``connect``."""

    def __init__(
        self,
        settings: BotSettings,
        index_settings: IndexSettings,
        agent_settings: AgentSettings,
    ) -> None:
        self.settings = settings
        self._stack = ExitStack()
        try:
            self._open(index_settings, agent_settings)
        except BaseException:
            self._stack.close()
            raise
        self._stopping = threading.Event()
        self._is_new = True
        self._disconnect: Callable[[], None] = lambda: None

    def _open(self, index_settings: IndexSettings, agent_settings: AgentSettings) -> None:
        clients = open_clients(self.settings)
        me = identify(clients.read)
        self._stack.enter_context(own_data_folder(index_settings.data_dir))
        self.journal = self._open_journal(index_settings)
        config = read_config_file(index_settings.config, SECTIONS)
        collections = read_collections(config)
        self.index = open_index(index_settings, collections=collections)
        self._stack.callback(self.index.close)
        self.schedule = Schedule(index_settings, self.index)
        self._listening = InTurn(16)
        self._stack.callback(self._listening.shutdown, wait=False, cancel_futures=True)
        runs = IngestRuns(index_settings.data_dir)
        self.index.rebuild_by(runs.request_once)
        stale_after = timedelta(hours=index_settings.stale_after_hours)
        agent = build_agent(self.index, agent_settings, Bookings(self.journal))
        self.bot = build_bot(
            Parts(
                settings=self.settings,
                clients=clients,
                me=me,
                journal=self.journal,
                index=self.index,
                agent=FirstIngestWait(agent, self.index, lambda: self.schedule.is_catching_up),
                render=rendering(self.index, stale_after),
                find_runbook=runbooks(self.index),
                last_run=runs.last,
                reindex=runs.request_once,
                listening=self._listening,
                channels=read_channels(config, collections),
                owners=read_owners(config),
                stale_after=stale_after,
                outage=runs.outage,
                left_out=runs.left_out,
            )
        )
        self.notices = Notices(
            clients,
            self.journal,
            self.index,
            self.settings,
            index_settings.timezone,
            wanted=lambda channel: self.bot.channel(channel).change_notes,
            runs=runs,
        )

    def _open_journal(self, index_settings: IndexSettings) -> Journal:
        journal = open_journal(
            self.settings.journal_url,
            index_settings.data_dir,
            store_text=self.settings.store_text,
            answer_days=self.settings.change_notes_days,
            has_standby=True,
        )
        self._stack.callback(journal.close)
        return journal

    def connect(self, *, http: bool) -> None:
        """Begin to receive Slack's events."""
        if http:
            self._disconnect = listen(self.bot.app, self.settings.port)
        else:
            socket = SlackSocket(self.bot.app, _app_token(self.settings), workers=InTurn(10))
            socket.connect()
            self._disconnect = socket.close

    def start(self) -> None:
        """Bring the index up to date, and answer questions that a dead process left behind."""
        self.schedule.start()
        self.notices.start()
        for work in (self.bot.queue.renew, self._tend):
            threading.Thread(target=self._repeat, args=(work,), name="tend", daemon=True).start()
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def stop(self) -> None:
        """Accept no more events, finish the answers under way, close everything."""
        self._stopping.set()
        self._disconnect()
        # Acknowledged events are decided before the queue closes.
        listening = threading.Thread(target=self._listening.shutdown, daemon=True)
        listening.start()
        listening.join(LISTEN_SECONDS)
        self.bot.queue.drain(self.settings.drain_seconds)
        self.schedule.stop()
        self.notices.stop()
        self._stack.close()

    def _warm(self) -> None:
        """Read the index before the first question needs it."""
        try:
            self.index.warm()
        except FootnoteError as error:
            log.debug("the index is not warm: %s", error)

    def _tend(self) -> None:
        """Take over the questions of dead processes, and delete what is old."""
        self.bot.recovery.recover(at_start=self._is_new)
        self._is_new = False
        self.journal.tidy()

    def _repeat(self, work: Callable[[], None]) -> None:
        """Do the work again and again; one that waits for Slack holds up no other."""
        while not self._stopping.is_set():
            try:
                work()
            except JournalError as error:  # the journal itself logs that
                log.debug("Tending the journal failed: %s", error)
            except FootnoteError as error:
                log.warning("Tending the journal failed: %s", error)
            except Exception:  # any failure: the next round may succeed
                log.exception("tending the journal failed")
            self._stopping.wait(TEND_SECONDS)


def serve(settings: BotSettings, ending: Ending, *, http: bool) -> None:
    """Run until SIGTERM or SIGINT."""
    with ending.interrupting():
        service = Service(settings, read_settings(IndexSettings), read_settings(AgentSettings))
        service.connect(http=http)
    service.start()
    ending.wait()
    log.info("Stopping: answers under way have %.0f s.", settings.drain_seconds)
    service.stop()


def _app_token(settings: BotSettings) -> str:
    return settings.app_token.get_secret_value() if settings.app_token else ""
