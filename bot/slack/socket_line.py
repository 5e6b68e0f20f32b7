"""One WebSocket to Slack: read from its hello to its end by a thread of its own."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.protocol import Event
from websockets.sync.client import ClientConnection, connect

log = logging.getLogger(__name__)

Json = dict[str, Any]

_MOST_BYTES = 1 << 24
_CLOSED_WITHIN = 2.0
"""Seconds that Slack has to answer a close frame."""


class NotOpened(Exception):
    """Slack's socket does not open, or says nothing; the text says why."""


class _Connection(ClientConnection):
    """Notes when something was read last: any frame, also the answer to a ping."""

    heard_at = 0.0

    def process_event(self, event: Event) -> None:
        self.heard_at = time.monotonic()
        super().process_event(event)


class Line:
    """``take`` gets every message but Slack's hello, as JSON.

    Pings go out every ``ping_seconds``, so that a line in order is never silent for much longer.
    """

    def __init__(
        self,
        url: str,
        proxy: str | None,
        take: Callable[["Line", Json], None],
        *,
        open_seconds: float,
        ping_seconds: float,
    ) -> None:
        self.opened_at = time.monotonic()
        self.to_replace = threading.Event()
        """Slack asks for another one, or this one is at its end."""
        self.is_disabled = False
        """Slack has ended it because Socket Mode was switched off."""
        self._url = url
        self._proxy = _proxy_for(url, proxy)
        self._take = take
        self._open_seconds = open_seconds
        self._ping_seconds = ping_seconds
        self._settled = threading.Event()
        self._greeted = False
        self._failure: Exception | None = None
        self._socket: ClientConnection | None = None
        self._reader = threading.Thread(target=self._read, name="slack-socket", daemon=True)
        self._reader.start()

    def wait_for_hello(self) -> None:
        """Until Slack greets; ``NotOpened`` where it does not."""
        self._settled.wait(self._open_seconds)
        if not self._greeted:
            failure = self._failure
            self.cut()
            raise NotOpened(type(failure).__name__ if failure else "no hello") from failure

    @property
    def heard_at(self) -> float:
        """When something was read last, on the monotonic clock."""
        return max(self.opened_at, getattr(self._socket, "heard_at", 0.0))

    @property
    def is_over(self) -> bool:
        return not self._reader.is_alive()

    def send(self, message: str) -> bool:
        """Whether it went out."""
        try:
            if self._socket is not None:
                self._socket.send(message)
                return True
        except ConnectionClosed as closed:
            log.debug("not sent: %s", type(closed).__name__)
        return False

    def close(self) -> None:
        """End it as the protocol wants; what Slack has sent until then is still read."""
        self.to_replace.set()
        if self._socket is not None:
            self._socket.close()

    def cut(self) -> None:
        """End it whatever state it is in, without a word, and without waiting for anything."""
        self.to_replace.set()
        if self._socket is not None:
            try:
                self._socket.socket.shutdown(socket.SHUT_RDWR)
            except OSError as error:  # it is closed already
                log.debug("not cut: %s", type(error).__name__)

    def _read(self) -> None:
        try:
            with connect(
                self._url,
                proxy=self._proxy,
                open_timeout=self._open_seconds,
                ping_interval=self._ping_seconds,
                ping_timeout=None,  # how long a silence may be is decided in one place
                close_timeout=_CLOSED_WITHIN,
                compression=None,
                max_size=_MOST_BYTES,
                create_connection=_Connection,
            ) as self._socket:
                if not self.to_replace.is_set():
                    for message in self._socket:
                        self._hear(str(message))
        except (OSError, WebSocketException) as error:
            log.debug("a line to Slack ended: %s", type(error).__name__)
            self._failure = error
        except Exception as error:  # the edge of the thread: another line takes over
            log.exception("reading Slack's socket failed")
            self._failure = error
        finally:
            self.to_replace.set()
            self._settled.set()

    def _hear(self, text: str) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            log.debug("ignored %d characters of Slack that are no JSON object", len(text))
        elif message.get("type") == "hello":
            self._greeted = True
            self._settled.set()
        else:
            self._take(self, message)


def _proxy_for(url: str, proxy: str | None) -> str | None:
    """The proxy of the Web API; it is spoken to in plain HTTP, whatever the address begins with."""
    parts = urlsplit(url)
    if not proxy or proxy_bypass(f"{parts.hostname}:{parts.port or 443}"):
        return None
    return "http://" + proxy.rpartition("://")[2]
