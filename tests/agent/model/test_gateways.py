"""Responses of gateways that the API would never send: there is an answer all the same."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agent.answer import Answer
from agent.conversation import Conversation
from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import Ask, thread
from tests.agent.test_loop import search
from tests.fakes.script import Broken, Fault, Json, Turn

USAGE = {"input_tokens": 10, "output_tokens": 5}
SEARCH = {"type": "tool_use", "id": "toolu_1", "name": "search_docs", "input": {}}
Sends = Callable[..., Answer]


def stream(*blocks: tuple[Json, Json | None], stop: str = "end_turn", usage: Any = USAGE) -> str:
    """Blocks, each with its one delta; a usage of None is left out."""
    counted = {} if usage is None else {"usage": usage}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    events: list[Json] = [{"type": "message_start", "message": {**message, **counted}}]
    for index, (block, delta) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        if delta:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events += [
        {"type": "message_delta", "delta": {"stop_reason": stop}, **counted},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def text(words: str | None) -> tuple[Json, Json]:
    return {"type": "text", "text": ""}, {"type": "text_delta", "text": words}


def calling(arguments: str) -> tuple[Json, Json]:
    return SEARCH, {"type": "input_json_delta", "partial_json": arguments}


@pytest.fixture
def sends(index: Index) -> Iterator[Sends]:
    """Ask while a gateway sends these bodies to every request."""
    servers: list[ThreadingHTTPServer] = []

    def sends(bodies: Sequence[str], question: Conversation | None = None) -> Answer:
        left = list(bodies)

        class Gateway(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None: ...

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                self.wfile.write(left.pop(0).encode())

        server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        settings = AgentSettings.model_validate({"api_key": "test", "base_url": url})
        return build_agent(index, settings).answer(question or thread("PAY-4031?"))

    yield sends
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    "usage", [None, {"input_tokens": None, "output_tokens": None}, [10, 5], "15"]
)
def test_an_answer_whose_usage_nobody_counted_is_one_of_unknown_cost(
    sends: Sends, usage: Any
) -> None:
    answer = sends([stream(text("Hello there."), usage=usage)])

    assert (answer.verdict, answer.text) == ("no_search", "Hello there.")
    assert answer.cost_usd is None


@pytest.mark.parametrize("block", [({"type": "text", "text": None}, None), text(None)])
def test_a_text_that_is_null_is_an_empty_one(sends: Sends, block: tuple[Json, Json | None]) -> None:
    assert sends([stream(block), stream(text("Hello."))]).text == "Hello."


def test_halves_of_surrogate_pairs_are_joined_or_replaced_before_anybody_prints_them(
    sends: Sends,
) -> None:
    answer = sends([stream(text("A half \ud800 and a whole \ud83d\ude00."))])

    assert answer.text == "A half \ufffd and a whole 😀."


def test_a_half_of_a_surrogate_pair_in_the_question_costs_no_answer(sends: Sends) -> None:
    answer = sends([stream(text("Hello."))], thread("Why \ud800?", ("bo\udfffb", "\udc00")))

    assert answer.text == "Hello."
    assert json.dumps(answer.to_json(), ensure_ascii=False).encode()


def test_whole_calls_are_run_though_the_turn_is_said_to_end(sends: Sends, pay_4031: str) -> None:
    found = text(f"Signature verification failed [{pay_4031}].")

    answer = sends([stream(calling('{"query": "PAY-4031"}')), stream(found)])

    assert answer.verdict == "answered"


@pytest.mark.parametrize("arguments", ['["PAY-4031"]', "null", '{"q": "PAY-4031"}'])
def test_a_model_whose_searches_could_not_be_made_has_not_looked(
    sends: Sends, pay_4031: str, arguments: str
) -> None:
    said = text("I could not find it in the docs.")

    answer = sends([stream(calling(arguments), stop="tool_use"), stream(said)])

    assert answer.verdict == "retrieval_only"
    assert answer.reason == "The model could not search the docs."
    assert pay_4031 in [passage.id for passage in answer.citations]


def test_a_parameter_refused_as_unprocessable_is_not_sent_again(ask: Ask) -> None:
    said = '{"detail":[{"loc":["body","output_config"],"msg":"extra fields not permitted"}]}'

    asked = ask([Fault(422, body=said.encode()), Turn(text="Hello.")])

    assert asked.answer.text == "Hello."
    assert "output_config" not in asked.bodies[1]


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (401, "AuthenticationError", "The model's API key was rejected."),
        (401, "invalid_request_error", "The model's API key was rejected."),
        (402, "insufficient_quota", "The model account is out of credit."),
        (404, {"name": "NotFound"}, "The configured model does not exist."),
        (429, "rate_limit_exceeded", "The model is busy (rate limit)."),
        (503, "None", "The model had an internal error."),
    ],
)
def test_an_error_with_a_type_of_its_own_means_what_its_status_says(
    ask: Ask, status: int, kind: Any, reason: str
) -> None:
    body = json.dumps({"error": {"type": kind, "message": "no"}}).encode()

    assert ask([Fault(status, body=body)] * 3).answer.reason == reason


def test_an_unknown_error_in_a_stream_may_pass(ask: Ask, pay_4031: str) -> None:
    asked = ask([Broken(type="stream_error"), search(), Turn(text=f"See it [{pay_4031}].")])

    assert asked.answer.verdict == "answered"


def test_a_call_that_was_not_allowed_is_answered_once(ask: Ask, pay_4031: str) -> None:
    searches = [search(f"PAY-4031 {n}") for n in range(5)]
    found = Turn(text=f"Signature verification failed [{pay_4031}].")

    asked = ask([*searches, found])

    assert asked.bodies[4]["tool_choice"] == asked.bodies[5]["tool_choice"] == {"type": "none"}
    assert "No searches are left" in str(asked.bodies[5]["messages"])
    assert (asked.answer.verdict, len(asked.answer.searches)) == ("answered", 4)
    assert ask([*searches, search()]).answer.verdict == "retrieval_only"


def test_a_model_is_spoken_to_more_plainly_each_time(ask: Ask, pay_4031: str) -> None:
    refused = Fault(400, message="search_result is not supported")
    plainer = Fault(400, message="output_config: Extra inputs are not permitted")
    found = Turn(text=f"Signature verification failed [{pay_4031}].")

    asked = ask([search(), refused, plainer, found], citations="native")

    assert asked.answer.verdict == "answered"
    assert asked.kinds.count("open") == 3
