"""Searches that fail, come late or are refused: which of them count."""

import json
import threading
from typing import Any

import pytest

from agent.answer import Answer
from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.documents import SearchResult
from ingest.index import Index
from tests.agent.conftest import Ask, thread
from tests.agent.test_loop import said, search
from tests.fakes.messages_server import MessagesServer, Rule
from tests.fakes.rule_followers import Request
from tests.fakes.script import Fault, Step, Turn
from tests.waiting import PATIENCE


class Late(Index):
    """Its first search for PAY-4031 ends only when it is let go."""

    def __init__(self, index: Index) -> None:
        super().__init__(index._live)
        self.let_go, self.ended = threading.Event(), threading.Event()
        self._index = index
        self._held = False

    def search(self, query: str, **more: Any) -> SearchResult:
        if query != "PAY-4031" or self._held:
            return self._index.search(query, **more)
        self._held = True
        self.let_go.wait(PATIENCE)
        try:
            return self._index.search(query, **more)
        finally:
            self.ended.set()

    def lets_go(self, then: Step) -> Rule:
        def step(_request: Request) -> Step:
            self.let_go.set()
            self.ended.wait(PATIENCE)
            return then

        return step


def asked(index: Index, script: list[Step | Rule]) -> tuple[Answer, list[Any]]:
    with MessagesServer(script) as server:
        given = {"api_key": "test", "base_url": server.url, "deadline": 8}
        agent = build_agent(index, AgentSettings.model_validate(given))
        answer = agent.answer(thread("What does error PAY-4031 mean?"))
    assert not server.refused
    return answer, [request.body for request in server.requests]


BOTH = Turn(
    tools=[
        ("search_docs", {"query": "PAY-4031"}),
        ("search_docs", {"query": "ledger failover", "k": 1}),
    ]
)


def test_a_passage_that_came_too_late_for_the_model_cannot_be_cited(
    index: Index, pay_4031: str
) -> None:
    late = Late(index)

    answer, _ = asked(late, [BOTH, late.lets_go(said(pay_4031)), said(pay_4031)])

    assert answer.removed == (pay_4031,)
    assert [made.query for made in answer.searches] == ["ledger failover"]


def test_a_search_that_was_given_up_can_be_made_again(index: Index, pay_4031: str) -> None:
    late = Late(index)

    answer, bodies = asked(late, [BOTH, late.lets_go(search()), said(pay_4031)])

    assert answer.verdict == "answered"
    assert "You made this very search before" not in json.dumps(bodies[2])


def test_a_search_that_was_too_slow_ends_in_passages(index: Index, pay_4031: str) -> None:
    late = Late(index)
    sorry = Turn(text="The docs could not be searched.")

    answer, _ = asked(late, [search(), late.lets_go(sorry)])

    assert answer.verdict == "retrieval_only"
    assert answer.reason == "The model could not search the docs."
    assert pay_4031 in [passage.id for passage in answer.citations]


def test_a_collection_that_does_not_exist_is_not_a_failed_search(ask: Ask) -> None:
    script = [
        search(collection="handbook"),
        search("anything", path="nowhere/"),
        Turn(text="NOT IN DOCS\nNothing on it. Which system is it?"),
    ]

    answer = ask(script).answer

    assert answer.verdict == "not_in_docs"
    assert [made.query for made in answer.searches] == ["anything"]


def test_a_collection_that_does_not_exist_costs_no_search(ask: Ask, pay_4031: str) -> None:
    asked = ask([search(collection="handbook"), search(), said(pay_4031)], max_searches=1)

    assert asked.answer.verdict == "answered"


@pytest.mark.parametrize(
    "failure",
    [
        Fault(404),
        Fault(400, message="search_result is not supported"),
        Fault(400, message="output_config: Extra inputs are not permitted"),
    ],
    ids=["fallback", "brackets", "plain"],
)
def test_one_step_stays_one_step_for_a_second_model(
    ask: Ask, pay_4031: str, failure: Fault
) -> None:
    asked = ask(
        [failure, said(pay_4031)],
        route="single",
        citations="native",
        fallback_model="claude-haiku-4-5",
    )

    assert asked.answer.verdict == "answered"
    assert [body["tool_choice"] for body in asked.bodies] == [{"type": "none"}] * 2
    assert len(asked.answer.searches) == 1
    assert pay_4031 in json.dumps(asked.bodies[1]["messages"])


def test_a_text_with_marks_is_not_mended_into_none(ask: Ask, pay_4031: str) -> None:
    wrong = Turn(text=f"Signature verification failed: run `payctl fix --now` [{pay_4031}].")

    answer = ask([search(), wrong, Turn(text="NOT IN DOCS\nNothing on it.")]).answer

    assert answer.verdict == "partly"
    assert "Signature verification failed" in answer.text


def test_a_native_result_says_what_was_given_before_and_where_the_page_ends(
    ask: Ask, pay_4031: str
) -> None:
    read = Turn(tools=[("read_document", {"path": "payments-runbook"})])

    asked = ask([search(k=1), read, said(pay_4031)], citations="native")

    given = json.dumps(asked.bodies[2]["messages"][-2])
    assert f"given to you before: {pay_4031}" in given
    assert "the page ends at line" in given
