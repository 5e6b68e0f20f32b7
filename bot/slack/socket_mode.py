"""Slack's events over Socket Mode, which needs no public address and no signatures.

The clients of slack_sdk are not used. The built-in one may read a socket that it has replaced, and
spins after an end without a close frame. The one for websocket-client never notices a dead
connection, and closes before the next one is open. The others need asyncio. Here one thread keeps a
connection open.
"""

import functools
import itertools
import json
import logging
import math
import random
import threading
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.socket_mode.internals import run_bolt_app, send_response
from slack_sdk import WebClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.slack.clients import SILENT, SLACK_FAILED, SlackRefused, is_passing, slack_error
from bot.slack.pace import is_limited, retry_after
from bot.slack.place import PLACE, place_of
from bot.slack.socket_connection import Connection, NotOpened, SocketMessage

log = logging.getLogger(__name__)

_CALL_SECONDS = 10
_HANDLED_WITHIN = 10.0
"""Seconds that ``close`` waits for acknowledgements; Slack repeats unacknowledged events."""
_LOG_EVERY = 60.0
"""Seconds between two log lines about a socket that does not open."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long the socket waits for Slack, and how often it connects."""

    connect: float = 15
    """Seconds within which the first connection has to be open at the start."""
    hello: float = 15
    """Seconds that Slack has to open a connection and to send its hello."""
    silent: float = 30
    """Seconds of silence until a connection is replaced; it is pinged three times meanwhile."""
    linger: float = 5
    """Seconds that an old connection is still read after a new one has opened."""
    apart: float = 2
    """Minimum number of seconds between the openings of two connections."""
    pause: float = 0.5
    """Maximum number of seconds to wait after the first failure; it doubles with each other."""
    longest_pause: float = 15
    """Maximum number of seconds to wait after a failure that may pass."""
    refused_pause: float = 60
    """Maximum number of seconds to wait after a refusal, which somebody has to resolve."""


class SlackSocket(BaseSocketModeClient):
    """Bolt's client for Socket Mode. It keeps a connection to Slack open."""

    def __init__(
        self,
        app: App,
        app_token: str,
        timing: Timing = Timing(),
        workers: Executor | None = None,
    ) -> None:
        """``workers`` handle the envelopes until they are acknowledged."""
        self.logger = app.logger
        self.app_token = app_token
        api = app.client
        self.web_client = WebClient(
            base_url=api.base_url,
            timeout=_CALL_SECONDS,
            proxy=api.proxy,
            retry_handlers=[],  # the pauses between attempts are decided here
            logger=SILENT,
        )
        self.message_listeners = []
        self.socket_mode_request_listeners = [functools.partial(_answer, app)]
        envelopes = workers or ThreadPoolExecutor(10, thread_name_prefix="envelope")
        self.message_workers = envelopes  # type: ignore[assignment]  # any executor does
        self.closed = False
        self.timing = timing
        self._closing = threading.Event()
        self._connection: Connection | None = None
        self._connections: list[Connection] = []
        self._came_by: dict[str, Connection] = {}
        """Connection by which each unacknowledged envelope came, by the envelope's id."""
        self._logged_at = -math.inf
        self._was_silent = False

    @property
    def received_at(self) -> float | None:
        """Monotonic time of the last frame from Slack, or None."""
        return self._connection.received_at if self._connection else None

    def is_connected(self) -> bool:
        """Return True if a connection is open and has not been silent for long."""
        connection = self._connection
        return (
            connection is not None
            and not connection.to_replace.is_set()
            and self._remaining(connection) > 0
        )

    def connect(self) -> None:
        """Open the first connection, and replace it as needed. Raises SlackRefused."""
        try:
            self._connection = self._open(until=time.monotonic() + self.timing.connect)
        except NotOpened as error:
            raise SlackRefused(
                f"Slack's socket did not answer within {self.timing.connect:.0f} s ({error}). "
                "Check the network or a proxy that blocks WebSockets, or use footnote run --http."
            ) from error
        except SLACK_FAILED as error:
            raise SlackRefused(
                f"Socket Mode does not open ({slack_error(error)}). Check SLACK_APP_TOKEN, and "
                "that Socket Mode is switched on for the app."
            ) from error
        log.info("Connected to Slack by Socket Mode.")
        threading.Thread(target=self._keep, name="socket-mode", daemon=True).start()

    def disconnect(self) -> None:
        self.close()

    def close(self) -> None:
        """Stop receiving, acknowledge received events, and close."""
        self.closed = True
        self._closing.set()
        until = time.monotonic() + _HANDLED_WITHIN
        while self._came_by and time.monotonic() < until:
            time.sleep(0.02)
        self.message_workers.shutdown(wait=False, cancel_futures=True)
        for connection in list(self._connections):
            connection.close()

    def send_socket_mode_response(self, response: dict[str, Any] | SocketModeResponse) -> None:
        """Acknowledge an envelope on the connection that brought it, or else on the present one."""
        content = response.to_dict() if isinstance(response, SocketModeResponse) else response
        message = json.dumps(content)
        connections = dict.fromkeys(
            (self._came_by.get(str(content.get("envelope_id"))), self._connection)
        )
        if not any(
            connection.send(message) for connection in connections if connection is not None
        ):
            log.debug("An acknowledgement could not be sent; Slack delivers the event again.")

    def _keep(self) -> None:
        while (connection := self._connection) is not None and not self._closing.is_set():
            try:
                self._watch(connection)
                self._connection = self._replace(connection)
            except Exception:  # any failure: without this thread no more events arrive
                log.exception("keeping Slack's socket open failed")
                self._closing.wait(self.timing.longest_pause)

    def _replace(self, connection: Connection) -> Connection | None:
        """Open a new connection; the old one is read a little longer. None at the end."""
        apart = self.timing.refused_pause if connection.is_disabled else self.timing.apart
        if self._closing.wait(max(0.0, connection.opened_at + apart - time.monotonic())):
            return None
        another = self._open()
        if not connection.is_over:
            leaving = threading.Timer(self.timing.linger, connection.close)
            leaving.daemon = True
            leaving.start()
        return another

    def _watch(self, connection: Connection) -> None:
        """Wait until the connection has to be replaced."""
        while (remaining := self._remaining(connection)) > 0:
            if connection.to_replace.wait(remaining):
                return
        log.warning("Slack's socket was silent for %.0f s: opening another.", self.timing.silent)
        self._was_silent = True
        connection.cut()

    def _remaining(self, connection: Connection) -> float:
        return connection.received_at + self.timing.silent - time.monotonic()

    def _open(self, until: float = math.inf) -> Connection | None:
        """Open a connection, or return None at the end.

        Failures are retried. With ``until``, a monotonic time, a lasting failure is raised.
        """
        for attempt in itertools.count():
            try:
                return self._connect_once()
            except Exception as error:  # after any error the next attempt may succeed
                if self._closing.is_set():
                    return None
                pause = self._pause(error, attempt)
                late = time.monotonic() + pause > until
                if until < math.inf and not is_limited(error) and (late or not is_passing(error)):
                    raise
                self._log_failure(error)
                if self._closing.wait(pause):
                    return None
        return None

    def _connect_once(self) -> Connection | None:
        url = str(self.web_client.apps_connections_open(app_token=self.app_token)["url"])
        self._connections = [each for each in self._connections if not each.is_over]
        if self._closing.is_set():
            return None
        connection = Connection(
            url,
            self.web_client.proxy,
            self._take,
            open_seconds=self.timing.hello,
            ping_seconds=self.timing.silent / 3,
        )
        self._connections.append(connection)
        connection.wait_for_hello()
        if self._closing.is_set():
            connection.close()
            return None
        if self._was_silent:
            self._was_silent = False
            log.info("Events arrive from Slack again.")
        return connection

    def _pause(self, error: Exception, attempt: int) -> float:
        longest = self.timing.longest_pause if is_passing(error) else self.timing.refused_pause
        pause = min(longest, self.timing.pause * 2.0 ** min(attempt, 16))
        return max(pause * random.uniform(0.5, 1.0), retry_after(error))  # noqa: S311  # no secret

    def _log_failure(self, error: Exception) -> None:
        self._was_silent = self._connection is not None
        now = time.monotonic()
        if now - self._logged_at >= _LOG_EVERY:
            self._logged_at = now
            log.warning(
                "Slack's socket does not open (%s): it is retried until it does.", _reason(error)
            )

    def _take(self, connection: Connection, message: SocketMessage) -> None:
        """Handle a message in the thread of its connection, which must not wait."""
        if message.get("type") == "disconnect":
            if message.get("reason") == "link_disabled":
                connection.is_disabled = True
                log.error(
                    "Socket Mode was switched off for the app: no events arrive from Slack until "
                    "it is switched on again in the app's settings."
                )
            connection.to_replace.set()
        elif not self._closing.is_set():
            envelope = str(message.get("envelope_id"))
            self._came_by[envelope] = connection
            PLACE.set(place_of(message.get("payload")))
            with suppress(RuntimeError):  # the process is ending
                self.message_workers.submit(self._handle, envelope, message)

    def _handle(self, envelope: str, message: SocketMessage) -> None:
        try:
            self.run_message_listeners(message, "")
        finally:
            self._came_by.pop(envelope, None)


def _answer(app: App, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
    start = time.time()
    send_response(client, request, run_bolt_app(app, request), start)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, NotOpened) else slack_error(error)
