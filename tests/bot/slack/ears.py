"""A Bolt app that hears Slack through our client, for tests of the socket."""

import re
import threading
from collections.abc import Callable
from typing import Any

from slack_bolt import App

from bot.settings import BotSettings
from bot.slack.clients import open_clients
from bot.slack.socket_mode import SlackSocket, Timing
from tests.waiting import PATIENCE

QUICK = Timing(silent=1.5, linger=0.1, apart=0.01, pause=0.02, longest_pause=0.2, refused_pause=0.2)
Open = Callable[..., "Ears"]


class Ears:
    """A Bolt app that listens through our client."""

    def __init__(self, api_url: str, timing: Timing) -> None:
        settings = BotSettings(bot_token="xoxb-sandbox", slack_api_url=api_url)
        self.app = app = App(client=open_clients(settings).read, request_verification_enabled=False)
        app.use(self._hear)  # before the acknowledgement, unlike a listener
        app.event(re.compile(""))(lambda: None)
        self.heard: list[str] = []
        self.held = threading.Event()
        self.held.set()
        self.entered = threading.Event()
        self.socket = SlackSocket(app, "xapp-sandbox", timing)

    def _hear(self, payload: dict[str, Any], next: Callable[[], None]) -> None:
        self.entered.set()
        assert self.held.wait(PATIENCE)
        self.heard.append(str(payload["ts"]))
        next()


def readers() -> int:
    return sum(thread.name == "slack-socket" for thread in threading.enumerate())
