"""The lines of ``footnote doctor`` on the model: whether it exists, and accepts our requests."""

from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from agent.errors import AgentError
from agent.model.checkup import ModelCheck, examine_model
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
    """A server whose Opus has other rules than its profile."""
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

    assert "does not know this id" in known
    assert price == "claude-next: its price is unknown, so no daily limit counts its answers"


def test_the_fallback_is_looked_at_too() -> None:
    check = examined(described(), fallback_model="claude-haiku-9")

    assert "Claude Opus 5 5 is available" in check.summary
    [difference] = check.differences
    assert "claude-haiku-9 does not exist. Set FOOTNOTE_FALLBACK_MODEL" in difference


def test_an_id_that_a_gateway_does_not_list_does_not_exist() -> None:
    with pytest.raises(AgentError, match=r"claude-opus-9 does not exist\. Set FOOTNOTE_MODEL"):
        examined(described(), model="claude-opus-9")


def test_a_rejected_key_is_one_line_with_its_cure() -> None:
    server = MessagesServer([], api_key="another")

    with pytest.raises(AgentError, match=r"key was rejected.*Check ANTHROPIC_API_KEY") as refused:
        examined(server)
    assert "\n" not in str(refused.value)


def test_an_api_that_is_not_there_is_one_line_with_its_cure() -> None:
    with pytest.raises(AgentError, match=r"cannot be reached.*ANTHROPIC_BASE_URL"):
        examine_model(AgentSettings(api_key="test", base_url="http://127.0.0.1:9"))


def behind(gateway: type[BaseHTTPRequestHandler]) -> ModelCheck:
    with ThreadingHTTPServer(("127.0.0.1", 0), gateway) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        check = examine_model(AgentSettings(api_key="test", base_url=url))
        server.shutdown()
    return check


class Gateway(BaseHTTPRequestHandler):
    """Answers every request alike."""

    status, kind, body = 200, "application/json", b""

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("content-type", self.kind)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (200, "text/html", b"<h1>hello</h1>"),
        (200, "application/json", b"[]"),
        (404, "text/html", b"<h1>nothing here</h1>"),
        (404, "application/json", b"{}"),
    ],
)
def test_what_a_gateway_does_not_tell_cannot_be_verified(
    status: int, kind: str, body: bytes
) -> None:
    given = {"status": status, "kind": kind, "body": body}
    check = behind(type("Silent", (Gateway,), given))

    assert not check.verified
    assert f"whether it has {OPUS} cannot be verified" in check.summary
    assert check.differences == ()


@pytest.mark.parametrize(
    "body", [b'{"id": "x", "object": "model"}', b'{"id": "x", "capabilities": {}}']
)
def test_a_gateway_that_describes_a_model_in_its_own_way_has_it(body: bytes) -> None:
    check = behind(type("Own", (Gateway,), {"body": body}))

    assert check == ModelCheck(f"{OPUS} is available")


def test_a_model_that_a_gateway_lists_and_does_not_describe_is_there() -> None:
    class Listing(Gateway):
        def do_GET(self) -> None:
            listed = self.path.split("?")[0] == "/v1/models"
            self.status = 200 if listed else 404
            self.body = b'{"object": "list", "data": [{"id": "%s"}]}' % OPUS.encode()
            super().do_GET()

    assert behind(Listing) == ModelCheck(f"{OPUS} is available")
