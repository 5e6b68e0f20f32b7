"""Our loop against aimock, an imitation of the Messages API by others.

``make peers`` fetches it and names its command in AIMOCK_CLI.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agent.answer import Answer
from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import chunk, index, pay_4031, thread
from tests.fakes.script import Json
from tests.peers.__main__ import started

CLI = os.environ.get("AIMOCK_CLI")
if CLI is None:
    pytest.skip("AIMOCK_CLI names no aimock: make peers fetches it", allow_module_level=True)

__all__ = ["chunk", "index", "pay_4031"]

QUESTION = "What does error PAY-4031 mean?"
Ask = Callable[..., Answer]


def search(*queries: str, **more: Any) -> Json:
    calls = [{"name": "search_docs", "arguments": json.dumps({"query": q})} for q in queries]
    return {"toolCalls": calls, **more}


def said(text: str, **more: Any) -> Json:
    return {"content": text, **more}


def error(status: int, kind: str, **more: Any) -> Json:
    return {"error": {"message": "scripted", "type": kind}, "status": status, **more}


@pytest.fixture
def ask(index: Index, tmp_path: Path) -> Iterator[Ask]:
    """Ask the agent; aimock gives ``first``, and ``then`` once there are tool results."""
    with ExitStack() as stack:

        def ask(first: Json, then: Json | None = None, *options: str, **settings: Any) -> Answer:
            given = [(False, first), *([(True, then)] if then else [])]
            fixtures = [
                {"match": {"userMessage": "PAY-4031", "hasToolResult": has}, "response": response}
                for has, response in given
            ]
            file = tmp_path / "fixtures.json"
            file.write_text(json.dumps({"fixtures": fixtures}))
            command: list[str | Path] = [
                "node",
                str(CLI),
                "--strict",
                "--log-level",
                "silent",
                "-f",
                file,
                *options,
            ]
            url = stack.enter_context(started(command))
            agent = build_agent(
                index,
                AgentSettings(
                    **{"api_key": SecretStr("test"), "base_url": url, "deadline": 20, **settings}
                ),
            )
            return agent.answer(thread(QUESTION))

        yield ask


def test_a_search_and_a_cited_answer(ask: Ask, pay_4031: str) -> None:
    answer = ask(search("PAY-4031"), said(f"Signature verification failed [{pay_4031}]."))
    assert answer.verdict == "answered"
    assert [passage.id for passage in answer.citations] == [pay_4031]
    assert [search.query for search in answer.searches] == ["PAY-4031"]


def test_two_searches_in_one_message(ask: Ask, pay_4031: str) -> None:
    answer = ask(
        search("PAY-4031", "rotate key"), said(f"Signature verification failed [{pay_4031}].")
    )
    assert answer.verdict == "answered"
    assert {search.query for search in answer.searches} == {"PAY-4031", "rotate key"}


def test_thinking_before_a_search(ask: Ask, pay_4031: str) -> None:
    answer = ask(
        search("PAY-4031", reasoning="I have to look that up."),
        said(f"Signature verification failed [{pay_4031}]."),
    )
    assert answer.verdict == "answered"
    assert "look that up" not in answer.text


def test_an_answer_without_a_search(ask: Ask) -> None:
    assert ask(said("Hello!")).verdict == "no_search"


@pytest.mark.parametrize(
    ("stop", "verdict"),
    [("refusal", "retrieval_only"), ("length", "answered"), ("pause_turn", "retrieval_only")],
)
def test_how_an_answer_can_stop(ask: Ask, pay_4031: str, stop: str, verdict: str) -> None:
    text = f"Signature verification failed [{pay_4031}]."
    answer = ask(search("PAY-4031"), said(text, finishReason=stop))
    assert answer.verdict == verdict
    assert answer.text


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (429, "rate_limit_error", "busy"),
        (529, "overloaded_error", "overloaded"),
        (401, "authentication_error", "rejected"),
        (400, "invalid_request_error", "refused the request"),
        (500, "api_error", "internal error"),
    ],
)
def test_an_error_ends_in_passages_and_a_line_that_says_why(
    ask: Ask, status: int, kind: str, told: str
) -> None:
    answer = ask(error(status, kind), deadline=8)
    assert answer.verdict == "retrieval_only"
    assert told in answer.reason


@pytest.mark.parametrize("trouble", ["drop", "malformed", "disconnect"])
def test_trouble_on_the_line_ends_in_passages(ask: Ask, trouble: str) -> None:
    answer = ask(said("Hello!"), None, f"--chaos-{trouble}", "1", deadline=8)
    assert answer.verdict == "retrieval_only"
    assert answer.citations
