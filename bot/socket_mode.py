"""Slack's events over Socket Mode: no public address, and no signature to check."""

import functools
import logging
import threading
from collections.abc import Callable

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler

from bot.clients import SLACK_FAILED, SlackRefused, slack_error

log = logging.getLogger(__name__)

CONNECT_SECONDS = 15.0
_CLOSED_WITHIN = 10
"""Seconds; what is still open then ends with the process."""


def connect(app: App, app_token: str) -> Callable[[], None]:
    """Receive events until the function that comes back is called."""
    handler = SocketModeHandler(app, app_token)
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
    _close(handler)
    raise SlackRefused(
        f"Slack's socket did not answer within {CONNECT_SECONDS:.0f} s. Check the network or a "
        "proxy that blocks WebSockets, or use footnote run --http."
    )


def _close(handler: SocketModeHandler) -> None:
    client = handler.client
    # An acknowledgement that finds the socket closed is no news: Slack delivers that event again.
    client.logger.setLevel(logging.CRITICAL)
    closing = threading.Thread(target=handler.close, name="closing", daemon=True)
    closing.start()
    for _ in range(_CLOSED_WITHIN):
        closing.join(1.0)
        # A session that was just being opened, as Slack asks for now and then, would stay open, or
        # be waited for for ever: the client ends only the one that it had before.
        client.current_session_state.terminated = True
        client.disconnect()
        if not closing.is_alive():
            return
