"""What ``footnote doctor`` says of the model: is it there, and does what we send fit it."""

from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from agent.checkup import ModelCheck, examine_model
from agent.errors import AgentError
from agent.settings import AgentSettings
from tests.fakes.messages_server import MessagesServer
from tests.fakes.model_rules import MODELS, ModelRules

OPUS = "claude-opus-5-5"


def examined(server: MessagesServer, **settings: Any) -> ModelCheck:
    with server:
        return examine_model(AgentSettings(api_key="test", base_url=server.url, **settings))


@pytest.mark.parametrize("model", MODELS)
def test_a_model_of_our_table_is_as_the_api_describes_it(model: str) -> None:
    check = examined(MessagesServer([]), model=model, citations="native")

    assert check == ModelCheck(f"{model.replace('-', ' ').title()} is available")


def described(**changes: Any) -> MessagesServer:
    """A server whose Opus has other rules than we count on."""
    return MessagesServer([], models={OPUS: replace(MODELS[OPUS], **changes)})


@pytest.mark.parametrize(
    ("changes", "settings", "said"),
    [
        ({"lifecycle": "deprecated", "retires": "2027-01-22T00:00:00Z"}, {}, "away on 2027-01-22"),
        ({"max_tokens": 4_000}, {}, "at most 4000 tokens, FOOTNOTE_MAX_TOKENS asks for more"),
        ({"max_input": 200_000}, {}, "reads at most 200,000 tokens"),
        ({"effort": False}, {}, "FOOTNOTE_PROFILE=compat"),
        ({"citations": False}, {"citations": "native"}, "FOOTNOTE_CITATIONS=brackets"),
        ({"structured": False}, {"self_check": True}, "FOOTNOTE_SELF_CHECK has no effect"),
        ({"web_search": False}, {"web_search": True}, "FOOTNOTE_WEB_SEARCH has no effect"),
    ],
)
def test_what_differs_is_said_with_its_cure(
    changes: dict[str, Any], settings: dict[str, Any], said: str
) -> None:
    [difference] = examined(described(**changes), **settings).differences

    assert difference.startswith(f"{OPUS}: ")
    assert said in difference


def test_a_model_that_nobody_knows_has_no_price_and_says_so() -> None:
    server = MessagesServer([], models={"claude-next": ModelRules("claude-next")})

    known, price = examined(server, model="claude-next", profile="compat", daily_usd=5).differences

    assert "not in our table" in known
    assert price == "claude-next: its price is unknown, so that no daily limit counts its answers"


def test_the_fallback_is_looked_at_too() -> None:
    check = examined(described(), fallback_model="claude-haiku-9")

    assert "Claude Opus 5 5 is available" in check.said
    assert "does not describe claude-haiku-9" in check.said


def test_a_rejected_key_is_one_line_with_its_cure() -> None:
    server = MessagesServer([], api_key="another")

    with pytest.raises(AgentError, match=r"key was rejected.*Check ANTHROPIC_API_KEY") as refused:
        examined(server)
    assert "\n" not in str(refused.value)


def test_an_api_that_is_not_there_is_one_line_with_its_cure() -> None:
    with pytest.raises(AgentError, match=r"cannot be reached.*ANTHROPIC_BASE_URL"):
        examine_model(AgentSettings(api_key="test", base_url="http://127.0.0.1:9"))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<h1>hello</h1>"),
        ("application/json", b'{"id": "x", "object": "model"}'),
        ("application/json", b'{"id": "x", "capabilities": {}}'),
    ],
)
def test_a_gateway_that_describes_nothing_is_no_failure(kind: str, body: bytes) -> None:
    class Gateway(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as gateway:
        Thread(target=gateway.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        url = f"http://127.0.0.1:{gateway.server_address[1]}"
        check = examine_model(AgentSettings(api_key="test", base_url=url))
        gateway.shutdown()

    assert url in check.said or OPUS in check.said
    assert check.differences == ()
