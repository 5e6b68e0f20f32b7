"""The deadline counts from the question, also if it had to wait for its turn."""

from dataclasses import replace

from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import Ask, thread
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Stall, Turn

QUESTION = thread("What does error PAY-4031 mean?")


def test_a_question_whose_time_is_nearly_gone_gets_passages_and_no_request(
    ask: Ask, pay_4031: str
) -> None:
    for waited in (80.0, 90.0, 4_000.0):
        asked = ask([Turn(text="Hello.")], replace(QUESTION, waited=waited), deadline=90)

        assert asked.answer.verdict == "retrieval_only"
        assert asked.answer.reason.startswith("Too many questions came first")
        assert pay_4031 in [passage.id for passage in asked.answer.citations]
        assert asked.answer.seconds >= waited
        assert not asked.bodies


def test_a_question_that_waited_a_little_is_answered_by_the_model(ask: Ask) -> None:
    assert ask([Turn(text="Hello.")], replace(QUESTION, waited=30.0)).answer.text == "Hello."


def test_the_time_that_a_question_waited_is_taken_from_its_answer(index: Index) -> None:
    with MessagesServer([Stall(where="connect")]) as server:
        settings = AgentSettings(api_key="k", base_url=server.url, deadline=10)
        answer = build_agent(index, settings).answer(replace(QUESTION, waited=7.5))

    assert answer.reason == "The model did not answer in time."
    assert [event.at for event in answer.trace.events if event.kind == "degrade"] >= [7.5]
