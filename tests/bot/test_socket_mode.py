"""The socket to Slack, as production opens and closes it."""

import functools
import threading

from slack_bolt import App

from bot.clients import open_clients
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.socket_mode import connect
from tests.bot.stage import Slack
from tests.waiting import PATIENCE, wait_for


def test_a_session_that_slack_renews_while_the_process_ends_does_not_hold_it(
    slack: Slack, workspace: Sandbox
) -> None:
    settings = BotSettings(bot_token="xoxb-sandbox", slack_api_url=workspace.api_url)
    app = App(client=open_clients(settings).read, request_verification_enabled=False)
    close = connect(app, "xapp-sandbox")
    slack.post("fail", method="apps.connections.open", delay=1.0, times=1)
    slack.post("disconnect")
    wait_for(lambda: len(slack.calls("apps.connections.open")) == 2)
    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    closing.join(PATIENCE)
    assert not closing.is_alive()
    assert isinstance(close, functools.partial)
    [handler] = close.args
    assert not handler.client.is_connected()
