"""The stand-in for the Messages API, seen through the real SDK."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

from tests.agent.messages.client import HOUR, MARK, MODEL, USER, after_search, ask, request
from tests.fakes.rule_followers import Request, search_then_answer
from tests.fakes.script import Broken, Fault, Json, Stall, Text, Turn
from tests.waiting import PATIENCE


def test_a_search_and_a_natively_cited_answer(serve: Any) -> None:
    server, client = serve(
        [
            Turn(tools=[("search_docs", {"query": "PAY-4031"})], thinking=""),
            Turn(text=[Text("It means a low balance.", cites=["payments-runbook-0"]), " Top up."]),
        ]
    )
    first = ask(client)
    assert first.stop_reason == "tool_use"
    second = ask(client, messages=after_search(first))
    assert second.content[0].citations[0].to_dict() == {  # type: ignore[union-attr,index]  # text
        "type": "search_result_location",
        "source": "payments-runbook-0",
        "title": "Payments runbook",
        "cited_text": "PAY-4031 means a low balance.",
        "search_result_index": 0,
        "start_block_index": 0,
        "end_block_index": 1,
    }
    assert server.refused == []
    assert server.left == 0
    assert b"what does PAY-4031 mean?" in server.requests[0].raw


def test_a_response_is_the_same_streamed_and_not(serve: Any) -> None:
    turn = Turn(text="Hello.", tools=[("search_docs", {"query": "ä"}), ("search_docs", {})])
    _, client = serve([turn, turn])
    streamed, plain = ask(client), client.messages.create(**request())
    drop = {"id", "usage"}

    def bare(message: Message) -> Json:
        whole = message.to_dict()
        for block in whole["content"]:  # type: ignore[attr-defined]  # a list of dicts
            block.pop("id", None)
        return {key: value for key, value in whole.items() if key not in drop}

    assert bare(streamed) == bare(plain)


@pytest.mark.parametrize(
    "turn",
    [
        Turn(text="plain"),
        Turn(text="x" * 100, thinking="hm", tools=[("search_docs", {"query": "q"})]),
        Turn(text="cut", tools=[("search_docs", {"query": "long"})], cut_tool=True),
        Turn(stop="refusal"),
        Turn(stop="pause_turn", text="working"),
        Turn(stop="model_context_window_exceeded", text="so far"),
        Turn(stop="stop_sequence", stop_sequence="END", text="until"),
    ],
    ids=lambda turn: turn.stop_reason,
)
def test_every_event_is_one_that_the_sdk_knows(turn: Turn, serve: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    _, client = serve([turn, turn])
    raw = client.messages.with_raw_response.create(**request(), stream=True).text()
    events = [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: ")]
    for event in events:
        if event["type"] != "ping":
            adapter.validate_python(event)
    assert ask(client).stop_reason == turn.stop_reason


def test_tool_json_cut_by_max_tokens_arrives_as_a_partial_input(serve: Any) -> None:
    _, client = serve([Turn(tools=[("search_docs", {"query": "PAY-4031 refund"})], cut_tool=True)])
    message = ask(client)
    assert message.stop_reason == "max_tokens"
    assert message.content[0].input != {"query": "PAY-4031 refund"}  # type: ignore[union-attr]  # tool


def test_unknown_events_do_not_disturb_the_sdk(serve: Any) -> None:
    _, client = serve(
        [Turn(text="fine", extra_events=({"type": "weather", "sky": "blue"},))], strict=False
    )
    assert ask(client).content[0].text == "fine"  # type: ignore[union-attr]  # a text block


def test_http_faults_are_the_sdks_errors(serve: Any) -> None:
    _, client = serve(
        [Fault(429, retry_after=30), Fault(529), Fault(404), Fault(500, body=b"<html>oops")]
    )
    with pytest.raises(anthropic.RateLimitError) as limited:
        ask(client)
    assert limited.value.response.headers["retry-after"] == "30"
    with pytest.raises(anthropic.OverloadedError):
        ask(client)
    with pytest.raises(anthropic.NotFoundError):
        ask(client)
    with pytest.raises(anthropic.InternalServerError):
        ask(client)


def test_streams_that_break(serve: Any) -> None:
    _, client = serve(
        [
            Broken(how="error"),
            Broken(how="eof"),
            Broken(how="reset"),
            Broken(how="eof", after=0),
        ]
    )
    with pytest.raises(anthropic.APIStatusError) as overloaded:
        ask(client)
    assert overloaded.value.type == "overloaded_error"
    assert ask(client).stop_reason is None
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(client)
    with pytest.raises(AssertionError):
        ask(client)


@pytest.mark.parametrize("where", ["connect", "first_byte", "mid"])
def test_stalls_end_in_the_clients_time_limit(where: Any, serve: Any) -> None:
    _, client = serve([Stall(where=where)], timeout=0.3)
    with pytest.raises((anthropic.APITimeoutError, httpx2.ReadTimeout)):
        ask(client)


def test_pings_keep_a_stream_alive_beyond_the_read_limit(serve: Any) -> None:
    _, client = serve([Stall(where="pings", seconds=2.5, turn=Turn(text="late"))], timeout=2)
    assert ask(client).content[0].text == "late"  # type: ignore[union-attr]  # a text block


def test_thinking_comes_back_as_it_was_with_the_prefix_it_was_made_for(serve: Any) -> None:
    script = [Turn(tools=[("search_docs", {"query": "q"})], thinking="hm"), *[Turn(text="ok")] * 3]
    server, client = serve(script)
    first = ask(client)
    messages = after_search(first)
    assert ask(client, messages=messages).stop_reason == "end_turn"
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        ask(client, messages=messages, system="It is now 10:31.")
    messages[1]["content"][0]["thinking"] = "changed"
    with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
        ask(client, messages=messages)
    messages[1]["content"][0]["signature"] = "forged"
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
        ask(client, messages=messages)
    assert server.left == 2


def test_a_growing_conversation_is_read_from_the_cache(serve: Any) -> None:
    _, client = serve([Turn(text="one"), Turn(text="two")])
    system = [{"type": "text", "text": "Rules. " * 600, **HOUR}]
    first = ask(client, system=system, **MARK, diagnostics={"previous_message_id": None})
    assert first.usage.cache_read_input_tokens == 0
    grown = [*request()["messages"], {"role": "assistant", "content": "one"}, USER]
    second = ask(
        client,
        system=system,
        messages=grown,
        **MARK,
        diagnostics={"previous_message_id": first.id},
    )
    assert second.usage.cache_read_input_tokens == first.usage.cache_creation_input_tokens
    assert second.diagnostics is not None
    assert second.diagnostics.cache_miss_reason is None


def test_diagnostics_name_what_changed(serve: Any) -> None:
    _, client = serve([Turn(text="one"), Turn(text="two")])
    first = ask(client, diagnostics={"previous_message_id": None})
    second = ask(client, system="other", diagnostics={"previous_message_id": first.id})
    assert second.diagnostics is not None
    assert second.diagnostics.cache_miss_reason is not None
    assert second.diagnostics.cache_miss_reason.type == "system_changed"


def test_a_scripted_model_that_follows_a_rule(serve: Any) -> None:
    _, client = serve(search_then_answer)
    first = ask(client)
    assert first.content[0].input == {"query": "what does PAY-4031 mean?"}  # type: ignore[union-attr]  # tool
    native = ask(client, messages=after_search(first))
    assert native.content[0].text == "PAY-4031 means a low balance."  # type: ignore[union-attr]  # text
    text = {"type": "text", "text": "[payments-runbook-0] Runbook\nPAY-4031 means a low balance."}
    plain = ask(client, messages=after_search(first, text))
    assert "[payments-runbook-0]" in plain.content[0].text  # type: ignore[union-attr]  # text


def test_models_and_token_counts(serve: Any) -> None:
    _, client = serve([])
    sheet = client.models.retrieve(MODEL)
    assert sheet.max_tokens == 128_000
    assert len(list(client.models.list())) > 5
    assert client.messages.count_tokens(model=MODEL, messages=request()["messages"]).input_tokens
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("claude-opus-9")
    with pytest.raises(anthropic.NotFoundError):
        ask(client, model="claude-opus-9")


def test_a_wrong_key_is_refused(serve: Any) -> None:
    server, client = serve([Turn(text="x")])
    server.api_key = "right"
    with pytest.raises(anthropic.AuthenticationError):
        ask(client)


def test_requests_run_beside_each_other(serve: Any) -> None:
    both = threading.Barrier(2, timeout=PATIENCE)

    def when_both_are_there(_request: Request) -> Turn:
        both.wait()
        return Turn(text="a")

    server, client = serve(when_both_are_there)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: ask(client), range(2)))
    assert server.max_running == 2
