"""The self-check: the model's judgement of its first search goes to the model and the trace."""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.agent.conftest import Ask, Asked
from tests.agent.test_loop import said, search
from tests.fakes.rule_followers import Request
from tests.fakes.script import Fault, Step, Turn

POOR = {"relevant": True, "sufficient": False, "missing": "PAY-4031  rollback"}


def model(pay_4031: str, check: Step) -> Any:
    """Searches with a poor query, then for the missing part, then answers."""

    def rule(request: Request) -> Step:
        if is_check(request.body):
            return check
        steps = [m["role"] for m in request.body["messages"]].count("assistant")
        script: list[Step] = [search("payments"), search("PAY-4031 rollback"), said(pay_4031)]
        return script[steps]

    return rule


def is_check(body: dict[str, Any]) -> bool:
    return "format" in body.get("output_config", {})


def checks(asked: Asked) -> list[dict[str, Any]]:
    return [body for body in asked.bodies if is_check(body)]


def turn(reflection: dict[str, Any]) -> Turn:
    return Turn(text=json.dumps(reflection))


def test_the_check_is_one_structured_request_without_citations(ask: Ask, pay_4031: str) -> None:
    asked = ask(model(pay_4031, turn(POOR)), self_check=True)

    [body] = checks(asked)
    assert body["output_config"] == snapshot(
        {
            "effort": "low",
            "format": {
                "type": "json_schema",
                "schema": {
                    "type": "object",
                    "properties": {
                        "relevant": {
                            "type": "boolean",
                            "description": "Some passage bears on the question.",
                        },
                        "sufficient": {
                            "type": "boolean",
                            "description": "The passages answer the whole question.",
                        },
                        "missing": {
                            "type": "string",
                            "description": "What they do not answer, "
                            "in the words of a short query.",
                        },
                    },
                    "required": ["relevant", "sufficient", "missing"],
                    "additionalProperties": False,
                },
            },
        }
    )
    assert "tools" not in body
    assert "cache_control" not in str(body)
    question, passages = body["messages"][0]["content"]
    assert json.loads(question["text"]) == {"question": "What does error PAY-4031 mean?"}
    assert json.loads(passages["text"])["passages"]
    assert asked.answer.verdict == "answered"


@pytest.mark.parametrize("citations", ["native", "brackets"])
def test_what_is_missing_is_said_with_the_results_and_traced(
    ask: Ask, pay_4031: str, citations: str
) -> None:
    asked = ask(model(pay_4031, turn(POOR)), self_check=True, citations=citations)

    [event] = [e for e in asked.answer.trace.to_json() if e["kind"] == "self_check"]
    assert event["missing"] == "PAY-4031 rollback"
    assert (event["relevant"], event["sufficient"]) == (True, False)
    results = [
        block
        for message in asked.bodies[-1]["messages"]
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    first, second = map(str, results)
    assert "these passages do not suffice, missing: PAY-4031 rollback" in first
    assert "suffice" not in second, "only the first search is checked"
    notes = [m["content"] for m in asked.bodies[-1]["messages"] if m["role"] == "system"]
    assert "rollback" not in str(notes), "words that passages could have put in are no instruction"


def test_off_by_default(ask: Ask, pay_4031: str) -> None:
    assert checks(ask([search(), said(pay_4031)])) == []


@pytest.mark.parametrize(
    "check",
    [
        Turn(text="The passages look fine."),
        Turn(text='{"relevant": "maybe"}'),
        Turn(text='{"relevant": true, "sufficient": fa', stop="max_tokens"),
        Fault(529),
        Fault(400, message="output_config.format: Extra inputs are not permitted"),
    ],
    ids=["prose", "other shape", "cut", "overloaded", "not supported"],
)
def test_a_check_that_fails_changes_nothing(ask: Ask, pay_4031: str, check: Step) -> None:
    asked = ask(model(pay_4031, check), self_check=True)

    assert asked.answer.verdict == "answered"
    assert len(checks(asked)) == 1
    assert "suffice" not in str(asked.bodies[-1]["messages"])
    assert "cache_control" in asked.bodies[-1]
