"""While the model fails nobody waits for it, and one request at a time tries it again."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.answer import Answer
from agent.loop import Agent, build_agent
from agent.model.breaker import NOT_ANSWERING, Breaker, BreakerLimits
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import thread
from tests.fakes.bad_line import BadLine
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Broken, Fault, Stall, Step, Turn
from tests.waiting import PATIENCE, wait_for

OPENING = BreakerLimits().failures


class Gateway:
    """A server whose every response is ``step``, and a clock that a test moves."""

    def __init__(self, server: MessagesServer) -> None:
        self.step: Step = Turn(text="Hello.")
        self.server = server
        self.now = 0.0

    @property
    def asked(self) -> int:
        return len(self.server.requests)


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    with MessagesServer(lambda _request: made.step) as server:
        made = Gateway(server)
        monkeypatch.setattr("agent.model.breaker.monotonic", lambda: made.now)
        monkeypatch.setattr("agent.model.client._pause", lambda _attempt: 0.01)
        yield made


@pytest.fixture
def agent(gateway: Gateway, index: Index) -> Callable[..., Agent]:
    def agent(**settings: Any) -> Agent:
        given = {"api_key": "k", "base_url": gateway.server.url, **settings}
        return build_agent(index, AgentSettings.model_validate(given))

    return agent


def ask(agent: Agent) -> Answer:
    return agent.answer(thread("What does error PAY-4031 mean?"))


FAILURES: dict[str, Step] = {
    "overloaded": Fault(529),
    "bad gateway": Fault(502, body=b"<h1>Bad Gateway</h1>"),
    "internal": Fault(500),
    "silent": Stall(where="connect"),
    "only pings": Stall(where="pings"),
    "cut off": Broken(how="reset"),
    "error in the stream": Broken(how="error"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_after_failures_in_a_row_answers_are_passages_and_no_request_is_made(
    failure: Step,
    gateway: Gateway,
    agent: Callable[..., Agent],
    caplog: pytest.LogCaptureFixture,
) -> None:
    failing = agent(deadline=0.6, call_timeout=0.2)
    gateway.step = failure
    for _ in range(OPENING):
        assert ask(failing).verdict == "retrieval_only"
    asked = gateway.asked
    answer = ask(failing)
    assert gateway.asked == asked
    assert answer.verdict == "retrieval_only"
    assert answer.reason == NOT_ANSWERING
    assert answer.citations
    assert caplog.text.count("until it answers again") == 1


def test_a_server_that_cannot_be_reached_opens_the_breaker(
    gateway: Gateway, agent: Callable[..., Agent]
) -> None:
    with BadLine(1) as line:
        line.refuses = True
        away = agent(base_url=f"http://127.0.0.1:{line.port}")
        for _ in range(OPENING):
            ask(away)
        refused = line.refused
        assert ask(away).reason == NOT_ANSWERING
        assert line.refused == refused


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429])
def test_a_refusal_of_one_request_does_not_open_the_breaker(
    status: int, gateway: Gateway, agent: Callable[..., Agent]
) -> None:
    refusing = agent()
    gateway.step = Fault(status)
    for _ in range(OPENING + 1):
        asked = gateway.asked
        ask(refusing)
        assert gateway.asked > asked


def opened(gateway: Gateway, agent: Callable[..., Agent], **settings: Any) -> Agent:
    failing = agent(**settings)
    gateway.step = Fault(500)
    for _ in range(OPENING):
        ask(failing)
    return failing


def test_after_a_pause_one_question_probes_while_the_others_get_passages(
    gateway: Gateway, agent: Callable[..., Agent], caplog: pytest.LogCaptureFixture
) -> None:
    failing = opened(gateway, agent)
    gateway.step = Stall(turn=Turn(text="Hello."), where="connect", seconds=PATIENCE)
    gateway.now += BreakerLimits().first_pause
    cancel, asked = threading.Event(), gateway.asked
    question = thread("What does error PAY-4031 mean?")
    probe = threading.Thread(target=lambda: cancelled(failing, question, cancel))
    probe.start()
    wait_for(lambda: gateway.asked == asked + 1)
    assert ask(failing).reason == NOT_ANSWERING
    assert gateway.asked == asked + 1
    cancel.set()
    probe.join()
    gateway.step = Turn(text="Hello.")
    assert ask(failing).text == "Hello."
    assert ask(failing).text == "Hello."
    assert "answers again" in caplog.text


def cancelled(agent: Agent, question: Any, cancel: threading.Event) -> None:
    with pytest.raises(Exception, match="stopped"):
        agent.answer(question, cancel=cancel)


def test_each_failed_probe_makes_the_pause_longer(
    gateway: Gateway, agent: Callable[..., Agent]
) -> None:
    failing, pause = opened(gateway, agent), BreakerLimits().first_pause
    for _ in range(3):
        asked = gateway.asked
        gateway.now += pause * 0.9
        ask(failing)
        assert gateway.asked == asked
        gateway.now += pause * 0.1
        ask(failing)
        assert gateway.asked == asked + 1
        pause *= 2


def test_the_fallback_model_has_a_breaker_of_its_own(
    gateway: Gateway, agent: Callable[..., Agent]
) -> None:
    main, other = "claude-opus-5-5", "claude-haiku-4-5"
    both = agent(model=main, fallback_model=other)

    def by_model(request: Any) -> Step:
        return Fault(500) if request.body["model"] == main else Turn(text="Hello.")

    gateway.server.script = by_model
    for _ in range(OPENING):
        assert ask(both).model == other
    asked = gateway.asked
    answer = ask(both)
    assert (answer.text, answer.model) == ("Hello.", other)
    assert gateway.asked == asked + 1


def test_a_failure_of_a_request_from_before_the_recovery_does_not_count() -> None:
    breaker = Breaker("m", BreakerLimits(failures=1))
    first, second, third = (breaker.admit() for _ in range(3))
    breaker.record(first, "failed")
    breaker.record(second, "answered")
    breaker.record(third, "failed")
    breaker.admit()
