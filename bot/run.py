"""The whole system in one process: settings -> index -> agent -> Bolt app -> schedule -> Slack.

``serve`` is ``footnote run``. It connects before the index is ready, answers what an earlier
process left behind, and on SIGTERM takes nothing more, finishes what is under way and goes.
"""

import functools
import logging
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler

from agent.answer import Answer
from agent.conversation import Conversation
from agent.loop import Agent, Progress, build_agent
from agent.settings import AgentSettings
from bot.access import Visit
from bot.alert_names import read_alert
from bot.answering import Answering
from bot.app import Interaction, Listener, build_app, catch_all, event_listeners
from bot.blocks import render_answer, render_runbook
from bot.channels import Channel, read_channels, read_owners
from bot.clients import SLACK_FAILED, SlackRefused, identify, open_clients, slack_error
from bot.commands import Commands
from bot.delivery import Runbook
from bot.edits import Edits
from bot.endpoint import listen
from bot.feedback import Feedback
from bot.home import Home
from bot.journal import open_journal
from bot.notices import Notices
from bot.recovery import Recovery
from bot.runbook import find_runbook
from bot.settings import BotSettings
from ingest.config_file import read_collections, read_config_file
from ingest.errors import FootnoteError, IngestError, SettingsError
from ingest.index import Index, open_index
from ingest.ownership import own_data_folder
from ingest.runs import Runs
from ingest.schedule import Schedule
from ingest.settings import IndexSettings, read_settings

log = logging.getLogger(__name__)

TEND_SECONDS = 20.0
"""How often claims are renewed and abandoned ones looked for."""
CONNECT_SECONDS = 15.0
FIRST_INGEST_SECONDS = 120.0
"""How long after the start a question waits for the very first index."""


class Bot:
    """Everything that runs, in the order in which it was opened; ``close`` undoes it."""

    def __init__(
        self,
        settings: BotSettings,
        index_settings: IndexSettings,
        agent_settings: AgentSettings,
    ) -> None:
        self.settings = settings
        self._stack = ExitStack()
        try:
            self._open(settings, index_settings, agent_settings)
        except BaseException:
            self._stack.close()
            raise

    def _open(
        self, settings: BotSettings, index_settings: IndexSettings, agent_settings: AgentSettings
    ) -> None:
        clients = open_clients(settings)
        me = identify(clients.read)
        self._stack.enter_context(own_data_folder(index_settings.data_dir))
        url = settings.database_url.get_secret_value() if settings.database_url else None
        self.journal = open_journal(url, index_settings.data_dir, store_text=settings.store_text)
        self._stack.callback(self.journal.close)
        config = read_config_file(index_settings)
        collections = read_collections(config)
        self.index = open_index(index_settings, collections=collections)
        self._stack.callback(self.index.close)
        runs = Runs(index_settings.data_dir)
        agent = build_agent(self.index, agent_settings, self.journal.spent)
        self.schedule = Schedule(index_settings, self.index)
        patient = _Patient(agent, self.index, lambda: self.schedule.is_catching_up)
        self.answering = Answering(
            clients,
            me,
            patient,
            rendering(self.index),
            self.journal,
            settings,
            runbooks(self.index),
            read_channels(config, collections),
        )
        self.recovery = Recovery(self.answering)
        edits = Edits(self.answering)
        stale_after = timedelta(hours=index_settings.stale_after_hours)
        home = Home(
            clients,
            self.journal,
            self.index,
            runs.last,
            stale_after,
            lambda user: self.answering.access.refusal(Visit(user)),
        )
        commands = Commands(self.answering, home.status_lines, lambda: runs.request({}))
        feedback = Feedback(
            clients, self.journal, self.index, self._help_group, read_owners(config)
        )
        self.listeners: list[Listener | Interaction] = [
            *event_listeners(self.answering, edits.revise),
            *edits.listeners(),
            *home.listeners(),
            *commands.listeners(),
            *feedback.listeners(),
            *catch_all(),
        ]
        # What a listener does is short: answers have their own bounded pool.
        executor = ThreadPoolExecutor(16, thread_name_prefix="listener")
        self._stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        secret = settings.signing_secret
        self.app = build_app(
            clients.read,
            self.answering,
            self.listeners,
            signing_secret=secret.get_secret_value() if secret else None,
            executor=executor,
        )
        self.notices = Notices(
            clients,
            self.journal,
            self.index,
            settings,
            index_settings.timezone,
            wanted=lambda channel: self.answering.channel(channel).change_notes,
        )
        self._stopping = threading.Event()
        self._disconnect: Callable[[], None] = _nothing

    def start(self, *, http: bool) -> None:
        """Connect to Slack, then bring the index up to date and answer what was left behind."""
        self._disconnect = (
            listen(self.app, self.settings.port) if http else connect(self.app, self.settings)
        )
        self.schedule.start()
        self.notices.start()
        threading.Thread(target=self._tend, name="tend", daemon=True).start()
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def stop(self) -> None:
        """Take nothing more, finish what is under way, close everything."""
        self._stopping.set()
        self._disconnect()
        self.answering.drain(self.settings.drain_seconds)
        self.schedule.stop()
        self.notices.stop()
        self._stack.close()

    def _warm(self) -> None:
        """Spare the first question the reading of the index."""
        try:
            self.index.warm()
        except FootnoteError as error:
            log.debug("nothing to warm up: %s", error)

    def _help_group(self, channel: str) -> str | None:
        return self.answering.channel(channel).escalation or self.settings.help_group

    def _tend(self) -> None:
        """Keep this process's claims alive and take over those of processes that died."""
        at_start = True
        while not self._stopping.is_set():
            try:
                self.answering.renew()
                self.recovery.recover(at_start=at_start)
                at_start = False
            except FootnoteError as error:  # a database that is away comes back
                log.warning("Tending the journal failed: %s", error)
            except Exception:  # the edge of the thread: the next round may succeed
                log.exception("tending the journal failed")
            self._stopping.wait(TEND_SECONDS)


def _nothing() -> None:
    """Nothing is connected yet."""


class _Patient:
    """The agent, but a question that comes during the very first ingest waits for its end."""

    def __init__(self, agent: Agent, index: Index, under_way: Callable[[], bool]) -> None:
        self._agent, self._index, self._under_way = agent, index, under_way
        self._until = time.monotonic() + FIRST_INGEST_SECONDS

    def answer(
        self,
        conversation: Conversation,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        on_paragraph: Callable[[Answer], bool] | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        cancel = cancel or threading.Event()
        while (
            self._index.status().documents == 0
            and self._under_way()
            and time.monotonic() < self._until
            and not cancel.is_set()
        ):
            if on_progress:
                on_progress(Progress("reading", "the docs for the first time"))
            cancel.wait(0.5)
        return self._agent.answer(
            conversation, on_progress=on_progress, on_paragraph=on_paragraph, cancel=cancel
        )


def build_bot(
    settings: BotSettings, index_settings: IndexSettings, agent_settings: AgentSettings
) -> Bot:
    """Open everything and talk to Slack once; nothing is connected yet."""
    return Bot(settings, index_settings, agent_settings)


def serve(settings: BotSettings, *, http: bool) -> None:
    """Run until SIGTERM or SIGINT."""
    _check_tokens(settings, http=http)
    bot = build_bot(settings, read_settings(IndexSettings), read_settings(AgentSettings))
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    bot.start(http=http)
    stop.wait()
    log.info("Stopping: answers under way have %.0f s.", settings.drain_seconds)
    bot.stop()


def rendering(index: Index) -> Callable[[Answer], Sequence[dict[str, Any]]]:
    """Answers -> messages, with age and owner of the pages they cite."""

    def render(answer: Answer) -> Sequence[dict[str, Any]]:
        paths = {passage.path for passage in (*answer.citations, *answer.passages)}
        documents = {d.path: d for d in index.documents() if d.path in paths} if paths else {}
        return render_answer(
            answer,
            documents=documents,
            ingested_at=index.status().ingested_at,
            now=datetime.now(UTC),
        )

    return render


def runbooks(index: Index) -> Runbook:
    """The text of an alert -> the message with its runbook, where the docs have it."""

    def runbook(text: str, channel: Channel) -> dict[str, Any] | None:
        parts = channel.collections
        seen = index if parts is None else index.within(parts)
        try:
            found = find_runbook(read_alert(text), seen)
        except IngestError as error:
            log.warning("no runbook: %s", error)
            return None
        return render_runbook(found.passages, found.found_by) if found else None

    return runbook


def _check_tokens(settings: BotSettings, *, http: bool) -> None:
    if http:
        if settings.signing_secret is None:
            raise SettingsError(
                'SLACK_SIGNING_SECRET is missing. Copy it from "Basic Information" of your '
                "Slack app: without it anybody could post events to this endpoint."
            )
    elif not _app_token(settings).startswith("xapp-"):
        raise SettingsError(
            "SLACK_APP_TOKEN is missing or no app token. Create one that begins with xapp-, with "
            'connections:write, under "Basic Information" of your Slack app.'
        )


def _app_token(settings: BotSettings) -> str:
    return settings.app_token.get_secret_value() if settings.app_token else ""


def connect(app: App, settings: BotSettings) -> Callable[[], None]:
    handler = SocketModeHandler(app, _app_token(settings))
    bolt = handler.client.logger
    level = bolt.level
    bolt.setLevel(logging.CRITICAL)  # what Slack refuses here is told below
    try:
        handler.connect()  # type: ignore[no-untyped-call]  # Bolt leaves it untyped
    except SLACK_FAILED as error:
        raise SlackRefused(
            f"Socket Mode does not open ({slack_error(error)}). Check SLACK_APP_TOKEN, and that "
            "Socket Mode is switched on for the app."
        ) from error
    finally:
        bolt.setLevel(level)
    # The client swallows a handshake that fails and tries again by itself.
    waited = threading.Event()
    for _ in range(int(CONNECT_SECONDS / 0.1)):
        if handler.client.is_connected():
            log.info("Connected to Slack by Socket Mode.")
            return functools.partial(_close, handler)
        waited.wait(0.1)
    handler.close()  # type: ignore[no-untyped-call]  # as above
    raise SlackRefused(
        f"Slack's socket did not answer within {CONNECT_SECONDS:.0f} s. Check the network or a "
        "proxy that blocks WebSockets, or use footnote run --http."
    )


def _close(handler: SocketModeHandler) -> None:
    # An acknowledgement that finds the socket closed is no news: Slack delivers that event again.
    handler.client.logger.setLevel(logging.CRITICAL)
    handler.close()  # type: ignore[no-untyped-call]  # as above
