"""A second opinion: emulate, another imitation of Slack's Web API, on what both can do.

Start it with ``npx emulate@0.9.0 start --service slack --port 18800`` and name it in EMULATE_URL.
"""

import os
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.bot.sandbox.conftest import Json

CALLS: list[tuple[str, Json]] = [
    ("auth.test", {}),
    ("chat.postMessage", {"text": "hello"}),
    ("chat.postMessage", {"text": "hello", "thread_ts": "{ts}"}),
    ("chat.postMessage", {}),
    ("chat.postMessage", {"channel": "C0NOWHERE", "text": "hello"}),
    ("chat.update", {"ts": "{ts}", "text": "changed"}),
    ("chat.update", {"ts": "1.1", "text": "changed"}),
    ("chat.delete", {"ts": "1.1"}),
    ("chat.getPermalink", {"message_ts": "{ts}"}),
    ("chat.getPermalink", {"message_ts": "1.1"}),
    ("conversations.replies", {"ts": "{ts}"}),
    ("conversations.history", {}),
    ("conversations.info", {}),
    ("conversations.info", {"channel": "C0NOWHERE"}),
    ("conversations.members", {}),
    ("reactions.add", {"timestamp": "{ts}", "name": "eyes"}),
    ("reactions.add", {"timestamp": "{ts}", "name": "eyes"}),
    ("reactions.add", {"timestamp": "1.1", "name": "eyes"}),
    ("reactions.remove", {"timestamp": "{ts}", "name": "eyes"}),
    ("reactions.remove", {"timestamp": "{ts}", "name": "eyes"}),
    ("users.info", {"user": "U0NOBODY"}),
    ("users.list", {}),
    ("team.info", {}),
    ("views.open", {"trigger_id": "x", "view": {
        "type": "modal", "title": {"type": "plain_text", "text": "t"}, "blocks": []}}),
    ("chat.delete", {"ts": "{ts}"}),
]  # fmt: skip
"""Left out: an unknown thread (emulate answers an empty one, Slack thread_not_found) and an
unknown method (emulate answers 404)."""


def answers(client: WebClient) -> list[tuple[str, Any, Any]]:
    """Method, ok and error of each call, on the first channel and its first message."""
    place = {"channel": client.conversations_list()["channels"][0]["id"]}
    ts = client.chat_postMessage(**place, text="first")["ts"]
    found = []
    for method, args in CALLS:
        filled = {key: ts if value == "{ts}" else value for key, value in args.items()}
        try:
            answer: Any = client.api_call(method, json={**place, **filled})
        except SlackApiError as error:
            answer = error.response
        found.append((method, answer["ok"], answer.get("error")))
    return found


def test_agrees_with_emulate_on_calls_and_errors(client: WebClient) -> None:
    address = os.environ.get("EMULATE_URL")
    if not address:
        pytest.skip("EMULATE_URL names no running emulate")
    emulate = WebClient(token="test_token_admin", base_url=f"{address.rstrip('/')}/api/")
    assert answers(client) == answers(emulate)
