"""The events endpoint over HTTP, behind a production server.

Bolt checks the signature of requests that it can parse. Requests that it cannot parse do not come
from Slack; they are refused here without an error in the log.
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

from bot.slack.http_server import EventServer
from ingest.errors import FootnoteError

log = logging.getLogger(__name__)

_CLOSED_WITHIN = 1.0
"""Seconds that the returned function waits for the server's thread to end."""

_SIGNED = {
    "HTTP_X_SLACK_REQUEST_TIMESTAMP": re.compile(r"[0-9]{1,12}"),
    "HTTP_X_SLACK_SIGNATURE": re.compile(r"v0=[0-9a-f]{64}"),
}
"""Forms of the headers that Bolt computes with; any other value could make it fail."""

Environ = dict[str, Any]
Respond = Callable[..., Any]


def listen(app: App, port: int) -> Callable[[], None]:
    """Serve until the returned function is called. Raises FootnoteError if the port is unusable."""
    try:
        address = ("0.0.0.0", port)  # noqa: S104  # Slack calls from outside
        listener = socket.create_server(address, backlog=128)
    except OSError as error:
        raise FootnoteError(
            f"port {port} cannot be used ({error.strerror}). "
            "Stop the program that uses it, or choose another with --port."
        ) from error
    server = EventServer(_readable(SlackRequestHandler(app)), listener)
    thread = threading.Thread(target=server.run, name="http", daemon=True)
    thread.start()
    log.info("Listening for Slack on port %d, path /slack/events.", port)

    def close() -> None:
        server.task_dispatcher.shutdown()
        # The server's own thread closes the server's socket: if another thread closed it, the
        # server would wait for it forever. The pipe may be closed before this call has written to
        # it.
        with contextlib.suppress(OSError):
            server.trigger.pull_trigger(server.close)
        thread.join(_CLOSED_WITHIN)

    return close


def _readable(handler: Callable[[Environ, Respond], Iterable[bytes]]) -> Callable[..., Any]:
    def handle(environ: Environ, respond: Respond) -> Iterable[bytes]:
        if not _is_well_signed(environ):
            respond("401 Unauthorized", [("Content-Type", "text/plain")])
            return [b""]
        try:
            return handler(environ, respond)
        except Exception as error:  # noqa: BLE001  # Bolt reports its own: this is an unreadable body
            log.info("refused a request that does not come from Slack (%s)", type(error).__name__)
        respond("400 Bad Request", [("Content-Type", "text/plain")])
        return [b""]

    return handle


def _is_well_signed(environ: Environ) -> bool:
    """Return False for a header that is not of Slack's form. Bolt looks at missing ones, too."""
    headers = ((environ.get(name), form) for name, form in _SIGNED.items())
    return all(value is None or form.fullmatch(value) for value, form in headers)
