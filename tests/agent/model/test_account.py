"""Each request is booked when it is made, for whoever caused it, whatever becomes of it."""

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from agent.answer import Answer
from agent.errors import Cancelled
from agent.loop import build_agent
from agent.model.budget import Booking, Spent
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import thread
from tests.agent.test_loop import said, search
from tests.fakes.messages_server import MessagesServer, Rule
from tests.fakes.rule_followers import Request
from tests.fakes.script import Broken, Fault, Stall, Step, Turn
from tests.waiting import wait_for

QUESTION = "What does error PAY-4031 mean?"


class Record:
    """The bookings, in memory."""

    def __init__(self) -> None:
        self.bookings: dict[str, Booking] = {}

    @property
    def dollars(self) -> list[float | None]:
        return [booking.usd for booking in self.bookings.values()]

    @property
    def total(self) -> float:
        return sum(usd or 0.0 for usd in self.dollars)

    def spent(self, payer: str) -> Spent:
        own = [b.usd or 0.0 for b in self.bookings.values() if b.payer == payer]
        return Spent(self.total, sum(own))

    def book(self, booking: Booking) -> Spent:
        before = self.spent(booking.payer)
        self.bookings[booking.id] = booking
        return before

    def correct(self, booking_id: str, usd: float | None) -> None:
        self.bookings[booking_id] = replace(self.bookings[booking_id], usd=usd)


def asked(
    index: Index, script: Sequence[Step | Rule] | Rule, record: Record, **settings: Any
) -> tuple[Answer, int]:
    """An answer for U1, and the number of requests for it."""
    conversation = replace(thread(QUESTION), asker_id="U1")
    with MessagesServer(script) as server:
        given = {"api_key": "test", "base_url": server.url, **settings}
        answer = build_agent(index, AgentSettings(**given), record).answer(conversation)
    return answer, len(server.requests)


def is_check(body: dict[str, Any]) -> bool:
    return "format" in body.get("output_config", {})


def test_the_bookings_of_an_answer_are_its_cost(index: Index, pay_4031: str) -> None:
    judgement = {"relevant": True, "sufficient": True, "missing": ""}
    wrong = Turn(text=f"Run `kubectl delete everything --force` [{pay_4031}].")

    def rule(request: Request) -> Step:
        if is_check(request.body):
            return Turn(text=json.dumps(judgement))
        steps = [m["role"] for m in request.body["messages"]].count("assistant")
        script: list[Step] = [search(), wrong, said(pay_4031)]
        return script[steps]

    record = Record()
    answer, requests = asked(index, rule, record, self_check=True)

    assert answer.verdict == "answered"
    assert requests == len(record.bookings) == 4  # search, check, answer, mended answer
    assert record.total == pytest.approx(answer.cost_usd)
    assert {(b.payer, b.answer) for b in record.bookings.values()} == {("U1", answer.id)}


@pytest.mark.parametrize(
    "usage", [{"output_tokens": 10**30}, {"input_tokens": 10**12}, {"output_tokens": -5}], ids=str
)
def test_a_usage_that_cannot_be_keeps_the_estimate(
    index: Index, pay_4031: str, usage: dict[str, int]
) -> None:
    text = f"Signature verification failed [{pay_4031}]."
    record = Record()
    answer, _requests = asked(index, [search(), Turn(text=text, usage=usage)], record)
    assert answer.verdict == "answered"
    assert 0 < record.total < 1
    assert answer.cost_usd is None


@pytest.mark.parametrize(
    ("lost", "is_billed"),
    [
        (Fault(529), False),
        (Fault(400, message="something else"), False),
        (Broken(Turn(text="Half an answer."), how="error"), True),
        (Broken(Turn(text="Half an answer."), how="reset"), True),
    ],
    ids=str,
)
def test_a_request_that_the_api_refused_costs_nothing_and_one_that_broke_keeps_its_estimate(
    index: Index, pay_4031: str, lost: Step, is_billed: bool
) -> None:
    record = Record()
    answer, requests = asked(
        index, [lost, search(), said(pay_4031)], record, fallback_model="claude-haiku-4-5"
    )

    assert answer.verdict == "answered"
    assert requests == len(record.bookings) == 3
    assert [bool(usd) for usd in record.dollars] == [is_billed, True, True]
    assert record.total == pytest.approx(answer.cost_usd)


def test_a_server_that_is_not_there_costs_nothing(index: Index) -> None:
    record = Record()
    answer, _ = asked(index, [], record, base_url="http://127.0.0.1:9")

    assert answer.reason == "The model cannot be reached."
    assert record.dollars == [0.0, 0.0, 0.0]
    assert answer.cost_usd == 0


def test_an_answer_that_is_called_off_has_been_booked_already(index: Index) -> None:
    record, cancel = Record(), threading.Event()
    outcome: list[object] = []

    def answer(url: str) -> None:
        agent = build_agent(index, AgentSettings(api_key="test", base_url=url), record)
        try:
            agent.answer(replace(thread(QUESTION), asker_id="U1"), cancel=cancel)
        except Cancelled as error:
            outcome.append(error)

    with MessagesServer([search(), Stall(where="mid")]) as server:
        asking = threading.Thread(target=answer, args=(server.url,))
        asking.start()
        wait_for(lambda: len(server.requests) == 2)
        cancel.set()
        asking.join()

    assert outcome
    assert len(record.bookings) == 2
    assert all(record.dollars)


def test_a_budget_that_is_used_up_within_an_answer_ends_it_in_passages_that_say_so(
    index: Index, pay_4031: str
) -> None:
    record = Record()
    answer, requests = asked(
        index, [search(), said(pay_4031)], record, daily_usd_per_user=0.000_001
    )

    assert requests == 1
    assert answer.verdict == "retrieval_only"
    assert answer.reason.startswith("Your budget for the model is used up")
    assert pay_4031 in [passage.id for passage in answer.citations]
    assert (answer.steps, answer.trace.events[-2].kind) == (1, "degrade")
    assert record.total == pytest.approx(answer.cost_usd)


def test_an_attempt_after_a_failure_is_a_request_of_its_own_and_keeps_the_limit(
    index: Index, pay_4031: str
) -> None:
    record = Record()
    broken = Broken(Turn(text="Half an answer."), how="reset")
    answer, requests = asked(
        index, [broken, said(pay_4031)], record, daily_usd=0.000_001, fallback_model="claude-fable"
    )

    assert requests == 1
    assert answer.reason.startswith("Today's budget for the model is used up")


def test_a_mended_answer_is_left_out_when_the_budget_ends_before_it(
    index: Index, pay_4031: str
) -> None:
    class Poor(Record):
        """Has room for two requests."""

        def spent(self, payer: str) -> Spent:
            return Spent(float(len(self.bookings)), 0.0)

    wrong = Turn(text=f"Run `kubectl delete everything --force` [{pay_4031}].")
    answer, requests = asked(index, [search(), wrong, said(pay_4031)], Poor(), daily_usd=2)

    assert requests == 2
    assert answer.verdict == "partly"
    assert "mend_failed" in [event.kind for event in answer.trace.events]
