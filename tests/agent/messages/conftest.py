"""A server with a script, and the SDK's client for it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from anthropic import Anthropic

from tests.fakes.messages_server import MessagesServer


@pytest.fixture
def serve() -> Iterator[Callable[..., tuple[MessagesServer, Anthropic]]]:
    opened: list[Any] = []

    def start(script: Any, **options: Any) -> tuple[MessagesServer, Anthropic]:
        server = MessagesServer(script)
        server.__enter__()
        client = Anthropic(
            base_url=server.url,
            api_key="test",
            max_retries=0,
            timeout=options.pop("timeout", 60),
            _strict_response_validation=options.pop("strict", True),
        )
        opened.extend((client, server))
        return server, client

    yield start
    for each in opened:
        each.close()
