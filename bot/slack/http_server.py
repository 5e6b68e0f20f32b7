"""Connections to the events endpoint -> complete requests; slow and idle ones make room.

Slack sends a whole request at once. So the connection that has waited longest for a complete
request is never Slack's, and it is closed if there are too many.
"""

import logging
import socket
import time
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

# Anybody could fill the log: waitress warns for each request that waits for a thread.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)

MOST_BYTES = 2_000_000
"""Maximum number of bytes in the body of a request; Slack's payloads are far smaller."""
MOST_CONNECTIONS = 200
"""Maximum number of connections that have no complete request."""
WHOLE_WITHIN = 10.0
"""Seconds within which a request has to be complete, counted from its first byte."""
IDLE_SECONDS = 60.0
"""Seconds that a connection stays open between two requests."""


class Connection(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """One connection; it knows since when a complete request is missing."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.waiting_since = self.creation_time
        """Time since which a complete request is missing."""
        self._has_asked = False

    def received(self, data: bytes) -> bool:
        if self.request is None:
            self.waiting_since = time.time()
        is_read = bool(super().received(data))
        self._has_asked = self._has_asked or bool(self.requests)
        return is_read

    @property
    def seconds(self) -> float:
        """Seconds that the connection may be without a complete request."""
        return IDLE_SECONDS if self._has_asked and self.request is None else WHOLE_WITHIN


class EventServer(TcpWSGIServer):  # type: ignore[misc]  # waitress has no types
    """waitress with limits on the age and the number of incomplete requests."""

    channel_class = Connection

    def __init__(self, application: Any, listener: socket.socket) -> None:
        limits = Adjustments(
            sockets=[listener],
            threads=16,
            max_request_body_size=MOST_BYTES,
            max_request_header_size=32_768,
            inbuf_overflow=65_536,  # larger bodies go to a temporary file
            connection_limit=4 * MOST_CONNECTIONS,
            cleanup_interval=1,
            asyncore_use_poll=True,  # select() fails above 1,024 open files
            ident=None,
        )
        address = (listener.family, listener.type, listener.proto, listener.getsockname())
        super().__init__(
            application, _sock=listener, adj=limits, bind_socket=False, sockinfo=address
        )

    def handle_accept(self) -> None:
        self._make_room(MOST_CONNECTIONS - 1)
        super().handle_accept()

    def maintenance(self, now: float) -> None:
        """Close connections that have been without a complete request for too long."""
        for each in self._waiting():
            if now - each.waiting_since > each.seconds:
                each.will_close = True
        self._make_room(MOST_CONNECTIONS)

    def _make_room(self, most: int) -> None:
        waiting = sorted(self._waiting(), key=lambda each: each.waiting_since)
        for each in waiting[: max(0, len(waiting) - most)]:
            # Not closed at once: the loop may still hold an event for its file number, which the
            # next connection would get.
            each.will_close = True

    def _waiting(self) -> list[Connection]:
        return [
            each
            for each in self.active_channels.values()
            if not each.requests and not each.will_close
        ]
