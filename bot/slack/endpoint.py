"""Slack's events endpoint over HTTP, behind a production server.

Bolt checks the signature of what it can read. What it could not even read is turned away here: such
a request is none of Slack's, and is no error of ours.
"""

import contextlib
import logging
import re
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

from slack_bolt import App
from slack_bolt.adapter.wsgi import SlackRequestHandler
from waitress.server import create_server

from ingest.errors import FootnoteError

log = logging.getLogger(__name__)

_MOST_BYTES = 4_000_000
"""Slack's own payloads are far smaller; a larger one is refused unread."""

_CLOSED_WITHIN = 1.0
"""Seconds; connections that stay open end with the process."""

Environ = dict[str, Any]
Respond = Callable[..., Any]


def listen(app: App, port: int) -> Callable[[], None]:
    """Serve until the function that comes back is called."""
    try:
        address = ("0.0.0.0", port)  # noqa: S104  # Slack calls from outside
        listener = socket.create_server(address, backlog=128)
    except OSError as error:
        raise FootnoteError(
            f"port {port} cannot be used ({error.strerror}). "
            "Stop what uses it, or choose another with --port."
        ) from error
    server = create_server(
        _readable(SlackRequestHandler(app)),
        sockets=[listener],
        threads=16,
        max_request_body_size=_MOST_BYTES,
        ident=None,
    )
    thread = threading.Thread(target=server.run, name="http", daemon=True)
    thread.start()
    log.info("Listening for Slack on port %d, path /slack/events.", port)

    def close() -> None:
        server.task_dispatcher.shutdown()
        # The server's own thread closes it: that thread must not wait for a socket that is closed
        # already. It may do so between the two steps of this call, which then writes to nobody.
        with contextlib.suppress(OSError):
            server.trigger.pull_trigger(server.close)
        thread.join(_CLOSED_WITHIN)

    return close


def _readable(handler: Callable[[Environ, Respond], Iterable[bytes]]) -> Callable[..., Any]:
    def handle(environ: Environ, respond: Respond) -> Iterable[bytes]:
        sent_at = environ.get("HTTP_X_SLACK_REQUEST_TIMESTAMP", "")
        try:
            if re.fullmatch(r"[0-9]{0,12}", sent_at):
                return handler(environ, respond)
        except Exception as error:  # noqa: BLE001  # Bolt tells its own: this is a body it cannot read
            log.info("turned away a request that is none of Slack's (%s)", type(error).__name__)
        respond("400 Bad Request", [("Content-Type", "text/plain")])
        return [b""]

    return handle
