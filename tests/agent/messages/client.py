"""Plain requests to send to the Messages stand-in with the real SDK."""

from typing import Any

from anthropic import Anthropic
from anthropic.types import Message

from tests.fakes.script import Json

MODEL = "claude-opus-5-5"
SEARCH: Json = {
    "name": "search_docs",
    "description": "Searches the docs.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": False,
    },
    "strict": True,
}
RESULT: Json = {
    "type": "search_result",
    "source": "payments-runbook-0",
    "title": "Payments runbook",
    "content": [
        {"type": "text", "text": "PAY-4031 means a low balance."},
        {"type": "text", "text": "Top it up."},
    ],
    "citations": {"enabled": True},
}
USER: Json = {"role": "user", "content": "hello"}
MARK: Json = {"cache_control": {"type": "ephemeral"}}
HOUR: Json = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def ask(client: Anthropic, **changes: Any) -> Message:
    """One streamed request, accumulated by the SDK."""
    with client.messages.stream(**request(**changes)) as stream:
        return stream.get_final_message()


def request(**changes: Any) -> Any:
    plain: Json = {
        "model": MODEL,
        "max_tokens": 1_000,
        "system": "You answer from the docs.",
        "messages": [{"role": "user", "content": "what does PAY-4031 mean?"}],
        "tools": [SEARCH],
    }
    return {key: value for key, value in {**plain, **changes}.items() if value is not None}


def after_search(answer: Message, *results: Json) -> list[Json]:
    """The conversation after the tool calls of ``answer``."""
    calls = [block for block in answer.content if block.type == "tool_use"]
    return [
        {"role": "user", "content": "what does PAY-4031 mean?"},
        {"role": "assistant", "content": [b.to_dict() for b in answer.content]},
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": list(results or (RESULT,)),
                }
                for call in calls
            ],
        },
    ]
