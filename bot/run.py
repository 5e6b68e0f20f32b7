"""The whole system in one process: settings -> index -> agent -> Bolt app -> schedule -> Slack.

``serve`` is ``footnote run``. It connects before the index is ready, answers what an earlier
process left behind, and on SIGTERM takes nothing more, finishes what is under way and goes.
"""

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from ingest.runs import own_data_folder
from ingest.schedule import Schedule
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.wsgi import SlackRequestHandler
from waitress.server import create_server

from agent.answer import Answer
from agent.loop import build_agent
from agent.settings import AgentSettings
from bot.answering import Answering
from bot.app import build_app, catch_all, event_listeners
from bot.blocks import render_answer
from bot.clients import SLACK_FAILED, SlackRefused, identify, open_clients, slack_error
from bot.journal import open_journal
from bot.settings import BotSettings
from ingest.errors import FootnoteError, SettingsError
from ingest.index import Index, open_index
from ingest.settings import IndexSettings, read_settings

log = logging.getLogger(__name__)

TEND_SECONDS = 20.0
"""How often claims are renewed and abandoned ones looked for."""
CONNECT_SECONDS = 15.0


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
        self.journal = open_journal(url, index_settings.data_dir)
        self._stack.callback(self.journal.close)
        self.index = open_index(index_settings)
        self._stack.callback(self.index.close)
        agent = build_agent(self.index, agent_settings)
        self.answering = Answering(
            clients, me, agent, rendering(self.index), self.journal, settings
        )
        self.schedule = Schedule(index_settings, self.index)
        listeners = [*event_listeners(self.answering), *catch_all()]
        # What a listener does is short: answers have their own bounded pool.
        executor = ThreadPoolExecutor(16, thread_name_prefix="listener")
        self._stack.callback(executor.shutdown, wait=False, cancel_futures=True)
        secret = settings.signing_secret
        self.app = build_app(
            clients.read,
            self.answering,
            listeners,
            signing_secret=secret.get_secret_value() if secret else None,
            executor=executor,
        )
        self._stopping = threading.Event()

    def start(self, *, http: bool) -> None:
        """Connect to Slack, then bring the index up to date and answer what was left behind."""
        self._disconnect = (
            _listen(self.app, self.settings) if http else _connect(self.app, self.settings)
        )
        self.schedule.start()
        threading.Thread(target=self._tend, name="tend", daemon=True).start()

    def stop(self) -> None:
        """Take nothing more, finish what is under way, close everything."""
        self._stopping.set()
        self._disconnect()
        self.answering.drain(self.settings.drain_seconds)
        self.schedule.stop()
        self._stack.close()

    def _tend(self) -> None:
        """Keep this process's claims alive and take over those of processes that died."""
        at_start = True
        while not self._stopping.is_set():
            try:
                self.journal.renew()
                self.answering.recover(at_start=at_start)
                at_start = False
            except Exception:  # the edge of the thread: a database that is away comes back
                log.exception("tending the journal failed")
            self._stopping.wait(TEND_SECONDS)


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


def _connect(app: App, settings: BotSettings) -> Callable[[], None]:
    handler = SocketModeHandler(app, _app_token(settings))
    try:
        handler.connect()
    except SLACK_FAILED as error:
        raise SlackRefused(
            f"Socket Mode does not open ({slack_error(error)}). Check SLACK_APP_TOKEN, and that "
            "Socket Mode is switched on for the app."
        ) from error
    # The client swallows a handshake that fails and tries again by itself.
    waited = threading.Event()
    for _ in range(int(CONNECT_SECONDS / 0.1)):
        if handler.client.is_connected():
            log.info("Connected to Slack by Socket Mode.")
            return handler.close
        waited.wait(0.1)
    handler.close()
    raise SlackRefused(
        f"Slack's socket did not answer within {CONNECT_SECONDS:.0f} s. Check the network or a "
        "proxy that blocks WebSockets, or use footnote run --http."
    )


def _listen(app: App, settings: BotSettings) -> Callable[[], None]:
    try:
        server = create_server(
            SlackRequestHandler(app),
            host="0.0.0.0",  # noqa: S104  # Slack calls from outside
            port=settings.port,
            threads=16,
        )
    except OSError as error:
        raise FootnoteError(
            f"port {settings.port} cannot be used ({error.strerror}). "
            "Stop what uses it, or choose another with --port."
        ) from error
    thread = threading.Thread(target=server.run, name="http", daemon=True)
    thread.start()
    log.info("Listening for Slack on port %d, path /slack/events.", settings.port)
    return server.close
