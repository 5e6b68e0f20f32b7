"""Our model, our loop and our stand-in against recorded responses of the real API."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from anthropic.types import Message, TextBlock
from pydantic import SecretStr

from agent.answer import written
from agent.errors import ModelUnavailable
from agent.evals.outcomes import CLAUDES_ID
from agent.loop import Agent
from agent.model.client import ClaudeModel, Request
from agent.model.deadline import Deadline
from agent.model.message_text import read_content
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import thread
from tests.agent.messages.recordings import (
    FOLDER,
    Recording,
    kind,
    playing,
    recordings,
    stand_ins_events,
)
from tests.fakes.model_rules import MODELS, ModelRules
from tests.fakes.request_rules import problems
from tests.fakes.script import Json

if not recordings():
    why = f"no recordings in {FOLDER or 'FOOTNOTE_RECORDINGS'}: make peers fetches them"
    pytest.skip(why, allow_module_level=True)

STREAMS = [recording for recording in recordings() if recording.is_stream]
OTHERS = [recording for recording in recordings() if not recording.is_stream]
LENIENT = ModelRules(
    "recorded", thinking=frozenset({"enabled", "disabled", "adaptive"}), prefill=True
)
BROKEN = "tool_use_invalid_json_response"
"""The input of its tool call is not JSON."""
NEWER = ("message.stop_details", "message.diagnostics", "delta.stop_details")
"""What the SDK's types have and the recordings, which are older, do not."""


def named(recording: Recording) -> str:
    return recording.name


def spoken(recording: Recording) -> str:
    """The text of a stream, put together without the SDK."""
    deltas = [event.get("delta", {}) for event in recording.events]
    return "".join(delta["text"] for delta in deltas if delta.get("type") == "text_delta")


def settings(url: str) -> AgentSettings:
    return AgentSettings(api_key=SecretStr("test"), base_url=url, deadline=10)


class Unheard:
    """Ignores all events."""

    def sending(self) -> None: ...

    def began(self) -> None: ...

    def wrote(self, content: Sequence[TextBlock]) -> None: ...

    def retried(self, error: ModelUnavailable, wait: float) -> None: ...


def responded(recording: Recording) -> Message:
    request = Request("system", [], [{"role": "user", "content": "hello"}], 1_000)
    with playing([recording.body]) as (url, _):
        model = ClaudeModel("claude-opus-5-5", settings(url))
        return model.respond(request, Deadline(5), Unheard())


@pytest.mark.parametrize("recording", STREAMS, ids=named)
def test_a_recorded_stream_becomes_the_message_that_it_spells(recording: Recording) -> None:
    if recording.name == BROKEN:
        with pytest.raises(ModelUnavailable):
            responded(recording)
        return
    message = responded(recording)
    texts = "".join(block.text for block in message.content if block.type == "text")
    assert texts == spoken(recording)
    final = [e["delta"] for e in recording.events if e["type"] == "message_delta"][-1]
    assert message.stop_reason == final["stop_reason"]
    assert [block.type for block in message.content] == [
        event["content_block"]["type"]
        for event in recording.events
        if event["type"] == "content_block_start"
    ]


@pytest.mark.parametrize("recording", STREAMS, ids=named)
def test_an_answer_comes_of_every_recorded_stream(recording: Recording, index: Index) -> None:
    last = next(r for r in STREAMS if r.name == "test_agent_loop_streaming-1")
    with playing([recording.body, last.body]) as (url, requests):
        agent = Agent(index, ClaudeModel("claude-opus-5-5", settings(url)), settings(url))
        answer = agent.answer(thread("What does error PAY-4031 mean?"))
    assert answer.verdict != "failed"
    for request in requests:
        assert list(problems(request, MODELS["claude-opus-5-5"])) == []
    assert answer.text
    if answer.verdict == "retrieval_only":
        assert "refusal" in recording.name or "fallback" in recording.name


def test_a_recorded_citation_of_a_search_result_becomes_its_id_in_brackets() -> None:
    [recording] = [r for r in OTHERS if r.name.startswith("test_search_result_tool_message")]
    message = Message.model_validate_json(recording.body)
    [cited, rest] = [block.text for block in message.content if block.type == "text"]
    expected = f"{cited.removesuffix('.')} [HR Leave Policy 2025].{rest}"
    title = "HR Leave Policy 2025"
    answer = read_content(message.content, [title]).text
    assert written(answer.segments) == expected
    assert answer.citations[0].cited_text


@pytest.mark.parametrize("recording", [r for r in recordings() if r.request], ids=named)
def test_a_request_that_the_api_took_is_not_refused_by_the_stand_in(recording: Recording) -> None:
    if recording.beta:
        pytest.skip("asks for beta features, which the stand-in does not have")
    assert recording.request is not None
    rules = MODELS.get(recording.request["model"], LENIENT)
    assert list(problems(recording.request, rules)) == []


def keys(value: Any, where: str = "") -> Iterator[str]:
    """Every key in an event, with its place and the type of what it holds."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{where}{key}: {type(inner).__name__}"
            if key != "input":
                yield from keys(inner, f"{where}{key}.")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, where)


def test_the_stand_ins_events_have_the_keys_and_types_of_recorded_ones() -> None:
    recorded: dict[str, list[set[str]]] = {}
    for stream in STREAMS:
        for event in stream.events:
            recorded.setdefault(kind(event), []).append(set(keys(event)))
    [cited] = [r for r in OTHERS if r.name.startswith("test_search_result_tool_message")]
    citation = {"citation": json.loads(cited.body)["content"][0]["citations"][0]}
    event = {"type": "content_block_delta", "index": 0}
    recorded["content_block_delta/citations_delta"] = [
        set(keys({**event, "delta": {"type": "citations_delta", **citation}}))
    ]
    for event in stand_ins_events():
        alike, here = recorded[kind(event)], set(keys(event))
        unknown = {k for k in here.difference(*alike) if not k.startswith(NEWER)}
        assert not unknown, f"{kind(event)}: no recording has {unknown}"
        missing = alike[0].intersection(*alike) - here
        assert not missing, f"{kind(event)}: every recording has {missing}"


def test_pings_come_where_the_stand_in_sends_them() -> None:
    def order(events: list[Json]) -> list[str]:
        return [event["type"] for event in events][:3]

    assert order(stand_ins_events()) in [order(stream.events) for stream in STREAMS]


def test_an_eval_knows_claudes_messages_by_their_ids() -> None:
    starts = [recording.events[0]["message"] for recording in STREAMS if recording.request]
    whole = [json.loads(recording.body) for recording in OTHERS if recording.request]
    assert all(CLAUDES_ID.fullmatch(message["id"]) for message in (*starts, *whole))
    assert not CLAUDES_ID.fullmatch(stand_ins_events()[0]["message"]["id"])
