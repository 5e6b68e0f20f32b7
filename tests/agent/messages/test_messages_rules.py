"""Which requests the stand-in for the Messages API refuses, and which it accepts."""

from typing import Any

import anthropic
import pytest

from tests.agent.messages.client import HOUR, MARK, RESULT, SEARCH, USER, ask
from tests.fakes.script import Json, Turn

NOTE = {"role": "system", "content": "Search budget: 1 left."}
FORCED = {"tool_choice": {"type": "any"}}
CALL = {"type": "tool_use", "id": "toolu_x", "name": "search_docs", "input": {}}
WEB = {"type": "web_search_20250305", "name": "web_search"}
CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}


def called(*content: Json) -> list[Json]:
    return [USER, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": content}]


DONE = {"type": "tool_result", "tool_use_id": "toolu_x", "content": "nothing found"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"extra_body": {"temperature": 0.5}}, "temperature: Extra inputs"),
        ({"extra_body": {"colour": "red"}}, "colour: Extra inputs"),
        ({"messages": [{**USER, "name": "kim"}]}, "name: Extra inputs"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, "first message"),
        ({"messages": [USER, {"role": "assistant", "content": "The"}]}, "prefilling"),
        ({"messages": [{"role": "user", "content": " "}]}, "non-whitespace"),
        ({"messages": [{"role": "user", "content": []}]}, "must not be empty"),
        ({"messages": called({"type": "text", "text": "x"})}, "without tool_result"),
        ({"messages": called({"type": "text", "text": "x"}, DONE)}, "must come first"),
        ({"messages": called(DONE, DONE)}, "single result"),
        ({"messages": [{"role": "user", "content": [DONE]}]}, "unexpected tool_use_id"),
        (
            {"messages": called({**DONE, "content": [RESULT, {"type": "text", "text": "x"}]})},
            "search_result and other blocks",
        ),
        (
            {
                "messages": called(
                    {**DONE, "content": [RESULT, {**RESULT, "citations": {"enabled": False}}]}
                )
            },
            "same citations setting",
        ),
        (
            {
                "messages": called({**DONE, "content": [RESULT]}),
                "output_config": {"format": {"type": "json_schema", "schema": CLOSED}},
            },
            "cannot be combined",
        ),
        ({"messages": called({**DONE, "content": [{**RESULT, "content": []}]})}, "non-empty text"),
        ({"messages": [USER, NOTE, USER]}, "must precede an assistant"),
        ({"messages": [NOTE, USER]}, "first message"),
        ({"messages": [USER, NOTE], "model": "claude-sonnet-5"}, "role system is not supported"),
        (FORCED, "tool_choice: any is not supported"),
        ({"thinking": {"type": "disabled"}}, "disabled is not supported"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 2_000}, "enabled"),
        ({"thinking": {"type": "adaptive"}, "model": "claude-haiku-4-5"}, "adaptive is not"),
        ({"output_config": {"effort": "low"}, "model": "claude-haiku-4-5"}, "effort"),
        (
            {
                "thinking": {"type": "disabled"},
                "output_config": {"effort": "max"},
                "model": "claude-opus-5",
            },
            "not allowed with effort",
        ),
        ({"max_tokens": 200_000}, "max_tokens"),
        ({"tools": [SEARCH, SEARCH]}, "unique"),
        (
            {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
            "additionalProperties",
        ),
        ({"tools": [{**WEB, "allowed_domains": ["https://x.test"]}]}, "bare domain"),
        (
            {"tools": [{**WEB, "allowed_domains": ["x.test"], "blocked_domains": ["y.test"]}]},
            "exclude each other",
        ),
        ({"system": [{"type": "text", "text": "x", **MARK}] * 5}, "at most 4"),
        ({"system": [{"type": "text", "text": "x", **MARK}] * 4, **MARK}, "at most 4"),
        ({"tools": [{**SEARCH, **MARK}], "system": [{"type": "text", "text": "x", **HOUR}]}, "1h"),
        ({"system": [{"type": "text", "text": "x", **MARK}], **HOUR}, "1h"),
        ({"tool_choice": {"type": "auto"}, "tools": None}, "while providing tools"),
    ],
)
def test_what_the_api_refuses(changes: Json, reason: str, serve: Any) -> None:
    server, client = serve([Turn(text="never")])
    with pytest.raises(anthropic.BadRequestError) as refused:
        ask(client, **changes)
    assert reason in str(refused.value)
    assert server.left == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": [USER, NOTE]},
        {"messages": [*called(DONE), NOTE], "tool_choice": {"type": "none"}},
        {"messages": called({**DONE, "content": [RESULT]}, {"type": "text", "text": "go on"})},
        {"messages": [USER, {"role": "assistant", "content": "Hi."}, USER], **MARK},
        {"system": [{"type": "text", "text": "x", **HOUR}], **MARK},
        {**FORCED, "model": "claude-opus-5"},
        {
            "thinking": {"type": "adaptive", "display": "omitted"},
            "output_config": {"effort": "low"},
        },
        {"thinking": {"type": "between_tools"}, "model": "claude-sonnet-5-5"},
        {"messages": [USER, {"role": "assistant", "content": "The"}], "model": "claude-haiku-4-5"},
        {"diagnostics": {"previous_message_id": None}, "metadata": {"user_id": "u1"}},
    ],
)
def test_what_the_api_accepts(changes: Json, serve: Any) -> None:
    server, client = serve([Turn(text="fine")])
    assert ask(client, **changes).stop_reason == "end_turn"
    assert server.refused == []
