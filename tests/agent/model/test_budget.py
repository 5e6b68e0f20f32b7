"""Daily limits: beyond them no model is asked, and the answer is passages with the reason."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from agent.answer import Answer
from agent.loop import build_agent
from agent.model.budget import Booking, Spending, Spent
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import thread
from tests.agent.test_loop import said, search
from tests.fakes.messages_server import MessagesServer


def asked(
    index: Index, pay_4031: str, spending: Spending | None, asker: str = "U1", **limits: Any
) -> tuple[Answer, int]:
    """An answer, and the number of requests for it."""
    conversation = replace(thread("What does error PAY-4031 mean?"), asker_id=asker)
    with MessagesServer(lambda r: said(pay_4031) if r.results else search()) as server:
        settings = AgentSettings(api_key="test", base_url=server.url, **limits)
        answer = build_agent(index, settings, spending).answer(conversation)
    return answer, len(server.requests)


class Past:
    """A record in which today's sums stay the same."""

    def __init__(self, by_all: float, by_asker: dict[str, float]) -> None:
        self._by_all, self._by_asker = by_all, by_asker

    def spent(self, payer: str) -> Spent:
        return Spent(self._by_all, self._by_asker.get(payer, 0.0))

    def book(self, booking: Booking) -> Spent:
        return self.spent(booking.payer)

    def correct(self, booking_id: str, usd: float | None) -> None: ...


class Away:
    """A record whose database is away."""

    def spent(self, payer: str) -> Spent:
        raise OSError("database at 10.0.0.7 is away")

    def book(self, booking: Booking) -> Spent:
        raise OSError("database at 10.0.0.7 is away")

    def correct(self, booking_id: str, usd: float | None) -> None:
        raise OSError("database at 10.0.0.7 is away")


def spent(by_all: float, **by_asker: float) -> Spending:
    return Past(by_all, by_asker)


@pytest.mark.parametrize(
    ("limits", "verdict", "said"),
    [
        ({}, "answered", ""),
        ({"daily_usd": 10.01}, "answered", ""),
        ({"daily_usd": 10}, "retrieval_only", "Today's budget for the model is used up"),
        ({"daily_usd": 0}, "retrieval_only", "Today's budget for the model is used up"),
        ({"daily_usd_per_user": 2}, "retrieval_only", "Your budget for the model is used up"),
        ({"daily_usd_per_user": 3}, "answered", ""),
    ],
)
def test_a_limit_that_is_reached_means_passages_and_a_line_that_says_so(
    index: Index, pay_4031: str, limits: dict[str, Any], verdict: str, said: str
) -> None:
    answer, requests = asked(index, pay_4031, spent(10, U1=2), **limits)

    assert answer.verdict == verdict
    assert answer.reason.startswith(said)
    assert answer.reason in answer.text
    assert requests == (0 if said else 2)
    if said:
        assert answer.citations[0].id == pay_4031
        assert answer.reason.endswith("a new day begins at 00:00 UTC.")


def test_one_person_s_limit_leaves_the_others_alone(index: Index, pay_4031: str) -> None:
    answer, _ = asked(index, pay_4031, spent(10, U1=2), asker="U2", daily_usd_per_user=2)

    assert answer.verdict == "answered"


def test_sums_that_cannot_be_read_hold_the_limit_and_show_no_error(
    index: Index, pay_4031: str
) -> None:
    answer, requests = asked(index, pay_4031, Away(), daily_usd=5)

    assert (answer.verdict, requests) == ("retrieval_only", 0)
    assert "cannot be recorded" in answer.reason
    assert "10.0.0.7" not in answer.text


def test_without_a_limit_a_record_that_is_away_costs_one_line_in_the_log(
    index: Index, pay_4031: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer, requests = asked(index, pay_4031, Away())

    assert (answer.verdict, requests) == ("answered", 2)
    assert answer.cost_usd
    assert caplog.text.count("cannot be recorded") == 1
    assert "Traceback" not in caplog.text


def test_a_model_without_a_price_is_told_once_where_a_limit_is_set(
    index: Index, caplog: pytest.LogCaptureFixture
) -> None:
    settings = AgentSettings(api_key="test", model="qwen3", daily_usd=5)

    with caplog.at_level(logging.WARNING):
        build_agent(index, settings)

    assert caplog.messages == ["the price of qwen3 is unknown: no limit counts its answers"]
