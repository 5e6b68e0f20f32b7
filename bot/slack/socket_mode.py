"""Slack's events over Socket Mode: no public address, and no signature to check.

slack_sdk's own clients are left alone: the built-in one may read a socket that it has replaced, and
spins where one ends without a close frame; that of websocket-client never notices a dead line, and
leaves before the next one is open; the others need asyncio. Here one thread keeps a line open.
"""

import functools
import itertools
import json
import logging
import math
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeGuard

from slack_bolt import App
from slack_bolt.adapter.socket_mode.internals import run_bolt_app, send_response
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.slack.clients import LIMITED, SILENT, SLACK_FAILED, SlackRefused, is_passing, slack_error
from bot.slack.socket_line import Json, Line, NotOpened

log = logging.getLogger(__name__)

_CALL_SECONDS = 10
_HANDLED_WITHIN = 10.0
"""Seconds at the end for what was taken; what is not acknowledged then is delivered again."""
_TOLD_EVERY = 60.0
_LONGEST_LIMIT = 600.0
"""Seconds of ``Retry-After`` that are believed."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds."""

    connect: float = 15
    """What Slack has at the start to let us in."""
    hello: float = 15
    silent: float = 30
    """A line of which nothing is heard for so long is given up; it is pinged three times in it."""
    linger: float = 5
    """How long the old line is still read when a new one is open."""
    apart: float = 2
    """Lines are opened no faster than this, however soon they end."""
    pause: float = 0.5
    """After the first attempt that failed; it doubles with each other one."""
    longest_pause: float = 15
    refused_pause: float = 60
    """The longest one where Slack says no: somebody has to do something first."""


class SlackSocket(BaseSocketModeClient):
    """Bolt's client for Socket Mode. There is a line to Slack at any time, or another is tried."""

    def __init__(self, app: App, app_token: str, timing: Timing = Timing()) -> None:
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
        self.message_workers = ThreadPoolExecutor(10, thread_name_prefix="envelope")
        self.closed = False
        self.timing = timing
        self._closing = threading.Event()
        self._line: Line | None = None
        self._lines: list[Line] = []
        self._came_by: dict[str, Line] = {}
        """What is not acknowledged yet, by the id of its envelope."""
        self._told_at = -math.inf
        self._is_deaf = False

    @property
    def heard_at(self) -> float | None:
        """When Slack was heard last, on the monotonic clock."""
        return self._line.heard_at if self._line else None

    def is_connected(self) -> bool:
        """Whether Slack is heard: a line is open, and not silent for long."""
        line = self._line
        return line is not None and not line.to_replace.is_set() and self._patience(line) > 0

    def connect(self) -> None:
        """Open the first line, or say why there is none; then replace it as needed."""
        try:
            self._line = self._open(until=time.monotonic() + self.timing.connect)
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
        """Take nothing more, acknowledge what was taken, and leave."""
        self.closed = True
        self._closing.set()
        until = time.monotonic() + _HANDLED_WITHIN
        while self._came_by and time.monotonic() < until:
            time.sleep(0.02)
        self.message_workers.shutdown(wait=False, cancel_futures=True)
        for line in list(self._lines):
            line.close()

    def send_socket_mode_response(self, response: dict[str, Any] | SocketModeResponse) -> None:
        """Acknowledge, on the line by which the envelope came while there is that one."""
        content = response.to_dict() if isinstance(response, SocketModeResponse) else response
        message = json.dumps(content)
        lines = dict.fromkeys((self._came_by.get(str(content.get("envelope_id"))), self._line))
        if not any(line.send(message) for line in lines if line is not None):
            log.debug("An acknowledgement found no line; Slack delivers the event again.")

    def _keep(self) -> None:
        while (line := self._line) is not None and not self._closing.is_set():
            try:
                self._watch(line)
                self._line = self._replace(line)
            except Exception:  # the edge of the thread: without it nothing is heard ever again
                log.exception("keeping Slack's socket open failed")
                self._closing.wait(self.timing.longest_pause)

    def _replace(self, line: Line) -> Line | None:
        """Another line, while the old one is still read for a moment; None when all is over."""
        apart = self.timing.refused_pause if line.is_disabled else self.timing.apart
        if self._closing.wait(max(0.0, line.opened_at + apart - time.monotonic())):
            return None
        another = self._open()
        if not line.is_over:
            leaving = threading.Timer(self.timing.linger, line.close)
            leaving.daemon = True
            leaving.start()
        return another

    def _watch(self, line: Line) -> None:
        """Until there has to be another line."""
        while (patience := self._patience(line)) > 0:
            if line.to_replace.wait(patience):
                return
        log.warning("Slack's socket was silent for %.0f s: opening another.", self.timing.silent)
        self._is_deaf = True
        line.cut()

    def _patience(self, line: Line) -> float:
        return line.heard_at + self.timing.silent - time.monotonic()

    def _open(self, until: float = math.inf) -> Line | None:
        """A line that hears; None when all is over. What fails is raised only before ``until``."""
        for attempt in itertools.count():
            try:
                return self._dial()
            except Exception as error:  # whatever it is, the next attempt may succeed
                if self._closing.is_set():
                    return None
                pause = self._pause(error, attempt)
                late = time.monotonic() + pause > until
                if until < math.inf and not _is_limited(error) and (late or not is_passing(error)):
                    raise
                self._tell(error)
                if self._closing.wait(pause):
                    return None
        return None

    def _dial(self) -> Line | None:
        url = str(self.web_client.apps_connections_open(app_token=self.app_token)["url"])
        self._lines = [each for each in self._lines if not each.is_over]
        if self._closing.is_set():
            return None
        line = Line(
            url,
            self.web_client.proxy,
            self._take,
            open_seconds=self.timing.hello,
            ping_seconds=self.timing.silent / 3,
        )
        self._lines.append(line)
        line.wait_for_hello()
        if self._closing.is_set():
            line.close()
            return None
        if self._is_deaf:
            self._is_deaf = False
            log.info("Slack is heard again.")
        return line

    def _pause(self, error: Exception, attempt: int) -> float:
        longest = self.timing.longest_pause if is_passing(error) else self.timing.refused_pause
        pause = min(longest, self.timing.pause * 2.0 ** min(attempt, 16))
        return max(pause * random.uniform(0.5, 1.0), _retry_after(error))  # noqa: S311  # no secret

    def _tell(self, error: Exception) -> None:
        self._is_deaf = self._line is not None
        now = time.monotonic()
        if now - self._told_at >= _TOLD_EVERY:
            self._told_at = now
            log.warning("Slack's socket does not open (%s): trying until it does.", _reason(error))

    def _take(self, line: Line, message: Json) -> None:
        """In the line's own thread: nothing here may wait."""
        if message.get("type") == "disconnect":
            if message.get("reason") == "link_disabled":
                line.is_disabled = True
                log.error(
                    "Socket Mode was switched off for the app: nothing is heard from Slack until "
                    "it is switched on again in the app's settings."
                )
            line.to_replace.set()
        elif not self._closing.is_set():
            envelope = str(message.get("envelope_id"))
            self._came_by[envelope] = line
            with suppress(RuntimeError):  # the process ends just now
                self.message_workers.submit(self._handle, envelope, message)

    def _handle(self, envelope: str, message: Json) -> None:
        try:
            self.run_message_listeners(message, "")
        finally:
            self._came_by.pop(envelope, None)


def _answer(app: App, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
    start = time.time()
    send_response(client, request, run_bolt_app(app, request), start)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, NotOpened) else slack_error(error)


def _is_limited(error: Exception) -> TypeGuard[SlackApiError]:
    if not isinstance(error, SlackApiError):
        return False
    return slack_error(error) in LIMITED or getattr(error.response, "status_code", 200) == 429


def _retry_after(error: Exception) -> float:
    """Seconds for which Slack wants no other attempt."""
    if not _is_limited(error):
        return 0.0
    headers = {name.lower(): value for name, value in error.response.headers.items()}
    try:
        return min(_LONGEST_LIMIT, float(headers.get("retry-after", 30)))
    except ValueError:
        return 30.0
