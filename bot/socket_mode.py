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
    handler.close()  # type: ignore[no-untyped-call]  # as above
    raise SlackRefused(
        f"Slack's socket did not answer within {CONNECT_SECONDS:.0f} s. Check the network or a "
        "proxy that blocks WebSockets, or use footnote run --http."
    )


def _close(handler: SocketModeHandler) -> None:
    # An acknowledgement that finds the socket closed is no news: Slack delivers that event again.
    handler.client.logger.setLevel(logging.CRITICAL)
    handler.close()  # type: ignore[no-untyped-call]  # as above
