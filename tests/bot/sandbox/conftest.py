"""A running sandbox and small helpers to talk to it."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from tests.bot.stage import patient_rules
from tests.waiting import wait_for

Json = dict[str, Any]


class Person:
    """Talks to the control endpoints, as a test or the page does."""

    def __init__(self, url: str) -> None:
        self.url = url

    def post(self, name: str, body: Any = None) -> Json:
        return self.fetch(f"/sandbox/{name}", json.dumps(body or {}).encode())

    def get(self, name: str) -> Json:
        return self.fetch(f"/sandbox/{name}")

    def say(
        self, text: str, channel: str = "C0GENERAL", user: str = "U0ONCALL", **more: Any
    ) -> Json:
        return self.post("say", {"channel": channel, "user": user, "text": text, **more})

    def fetch(self, path: str, data: bytes | None = None) -> Json:
        request = Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urlopen(request, timeout=30) as response:
                body = response.read()
        except HTTPError as error:
            body = error.read()
            error.close()
        return json.loads(body)  # type: ignore[no-any-return]  # every endpoint answers an object


def refused(client: WebClient, method: str, **args: Any) -> str:
    """The error of a call that must fail."""
    with pytest.raises(SlackApiError) as caught:
        client.api_call(method, json=args)
    return str(caught.value.response["error"])


@pytest.fixture(scope="session")
def _running() -> Iterator[Sandbox]:
    running = Sandbox(manifest=Manifest(), rules=patient_rules(retry_delays=[0.0, 0.05, 0.05]))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def sandbox(_running: Sandbox) -> Sandbox:
    """As new. Everything is granted and subscribed; manifest.yml has its own tests."""
    person = Person(_running.url)
    person.post("disconnect", {"drop": True})
    wait_for(lambda: person.get("state")["connections"] == 0)
    person.post("reset")
    return _running


@pytest.fixture
def person(sandbox: Sandbox) -> Person:
    return Person(sandbox.url)


@pytest.fixture
def client(sandbox: Sandbox) -> WebClient:
    return WebClient(token="xoxb-sandbox", base_url=sandbox.api_url)


@pytest.fixture
def app(client: WebClient) -> App:
    """A real Bolt app of this workspace."""
    return App(client=client)


@pytest.fixture
def connected(app: App, person: Person) -> Iterator[SocketModeHandler]:
    """The app's Socket Mode connection, open."""
    handler = SocketModeHandler(app, "xapp-sandbox", ping_interval=2)
    handler.connect()  # type: ignore[no-untyped-call]  # Bolt leaves it untyped
    wait_for(lambda: person.get("state")["connections"] == 1)
    yield handler
    handler.client.auto_reconnect_enabled = False
    person.post("disconnect", {"drop": True})  # or the client's close waits for three seconds
    handler.close()  # type: ignore[no-untyped-call]  # as above
