"""One WebSocket connection to Slack, read by its own thread from the hello to the end."""

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

SocketMessage = dict[str, Any]
"""One JSON message of Socket Mode, such as an envelope."""

_MOST_BYTES = 1 << 24
_CLOSED_WITHIN = 2.0
"""Seconds that Slack has to answer a close frame."""


class NotOpened(Exception):
    """Slack's socket does not open, or sends no hello; the text has the reason."""


class _TimedConnection(ClientConnection):
    """Records the time of the last frame that was read, which may be the answer to a ping."""

    received_at = 0.0

    def process_event(self, event: Event) -> None:
        self.received_at = time.monotonic()
        super().process_event(event)


class Connection:
    """One connection. ``take`` gets every message except the hello, as JSON.

    Pings are sent every ``ping_seconds``, so that a working connection is never silent much longer.
    """

    def __init__(
        self,
        url: str,
        proxy: str | None,
        take: Callable[["Connection", SocketMessage], None],
        *,
        open_seconds: float,
        ping_seconds: float,
    ) -> None:
        self.opened_at = time.monotonic()
        self.to_replace = threading.Event()
        """Set when Slack asks for a new connection, or when this one has ended."""
        self.is_disabled = False
        """True if Slack closed the connection because Socket Mode was switched off."""
        self._url = url
        self._proxy = _proxy_for(url, proxy)
        self._take = take
        self._open_seconds = open_seconds
        self._ping_seconds = ping_seconds
        self._settled = threading.Event()
        self._has_hello = False
        self._failure: Exception | None = None
        self._socket: ClientConnection | None = None
        self._reader = threading.Thread(target=self._read, name="slack-socket", daemon=True)
        self._reader.start()

    def wait_for_hello(self) -> None:
        """Wait for Slack's hello. Raises NotOpened."""
        self._settled.wait(self._open_seconds)
        if not self._has_hello:
            failure = self._failure
            self.cut()
            raise NotOpened(type(failure).__name__ if failure else "no hello") from failure

    @property
    def received_at(self) -> float:
        """Monotonic time of the last frame that was read."""
        return max(self.opened_at, getattr(self._socket, "received_at", 0.0))

    @property
    def is_over(self) -> bool:
        return not self._reader.is_alive()

    def send(self, message: str) -> bool:
        """Send a message; return True if it was sent."""
        try:
            if self._socket is not None:
                self._socket.send(message)
                return True
        except ConnectionClosed as closed:
            log.debug("not sent: %s", type(closed).__name__)
        return False

    def close(self) -> None:
        """Close the connection by the protocol; frames that Slack has sent are still read."""
        self.to_replace.set()
        if self._socket is not None:
            self._socket.close()

    def cut(self) -> None:
        """Cut the connection in any state, without a close frame and without waiting."""
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
                ping_timeout=None,  # the caller decides how long a silence may last
                close_timeout=_CLOSED_WITHIN,
                compression=None,
                max_size=_MOST_BYTES,
                create_connection=_TimedConnection,
            ) as self._socket:
                if not self.to_replace.is_set():
                    for message in self._socket:
                        self._receive(str(message))
        except (OSError, WebSocketException) as error:
            log.debug("a connection to Slack ended: %s", type(error).__name__)
            self._failure = error
        except Exception as error:  # any failure: another connection replaces this one
            log.exception("reading Slack's socket failed")
            self._failure = error
        finally:
            self.to_replace.set()
            self._settled.set()

    def _receive(self, text: str) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            log.debug("ignored %d characters of Slack that are not a JSON object", len(text))
        elif message.get("type") == "hello":
            self._has_hello = True
            self._settled.set()
        else:
            self._take(self, message)


def _proxy_for(url: str, proxy: str | None) -> str | None:
    """Return the proxy of the Web API, which is used with plain HTTP whatever its scheme."""
    parts = urlsplit(url)
    if not proxy or proxy_bypass(f"{parts.hostname}:{parts.port or 443}"):
        return None
    return "http://" + proxy.rpartition("://")[2]
