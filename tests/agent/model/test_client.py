"""The client: broken connections, gateways, broken indexes, prices."""

import threading
from pathlib import Path

import pytest

from agent.answer import Usage
from agent.loop import build_agent
from agent.model.client import open_client
from agent.model.cost import cost_usd, tokens
from agent.model.deadline import Deadline, DeadlinePassed
from agent.settings import AgentSettings
from ingest.documents import SearchResult
from ingest.errors import IndexDamaged
from ingest.index import Index
from tests.agent.conftest import Ask, thread
from tests.agent.test_loop import said, search
from tests.fakes.messages_server import MessagesServer
from tests.fakes.model_rules import ModelRules
from tests.fakes.script import Fault, Stall, Turn
from tests.waiting import PATIENCE, wait_for


def calls_under_way() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name == "model-call"]


def test_a_call_that_was_given_up_ends_although_the_server_keeps_pinging(index: Index) -> None:
    with MessagesServer([Stall(where="pings")]) as server:
        settings = AgentSettings(api_key="k", base_url=server.url, deadline=0.5)
        build_agent(index, settings).answer(thread("PAY-4031?"))
        wait_for(lambda: calls_under_way() == [])


def test_a_gateway_with_a_model_of_its_own_gets_plain_requests(index: Index, pay_4031: str) -> None:
    rules = {"qwen3": ModelRules("qwen3", effort=False, system_notes=False, thinking=frozenset())}
    script = [search(), said(pay_4031)]
    with MessagesServer(script, models=rules) as server:
        settings = AgentSettings(api_key="k", base_url=server.url, model="qwen3")
        answer = build_agent(index, settings).answer(thread("What does PAY-4031 mean?"))

    assert answer.verdict == "answered"
    assert answer.cost_usd is None
    assert not server.refused
    assert server.requests[0].body.keys() == {
        "model", "max_tokens", "system", "tools", "messages", "stream",
    }  # fmt: skip
    assert isinstance(server.requests[0].body["system"], str)
    result = server.requests[1].body["messages"][2]["content"][0]["content"][0]["text"]
    assert '"budget": "Searches left: 3 of 4."' in result


@pytest.mark.parametrize("citations", ["native", "brackets"])
def test_a_model_without_system_notes_is_told_its_budget_in_the_result(
    ask: Ask, pay_4031: str, citations: str
) -> None:
    asked = ask([search(), said(pay_4031)], model="claude-sonnet-5", citations=citations)

    assert "Searches left: 3 of 4." in str(asked.bodies[1]["messages"][2])


def test_a_bearer_token_serves_where_there_is_no_key(index: Index) -> None:
    with MessagesServer([Turn(text="Hello.")]) as server:
        settings = AgentSettings(auth_token="t", base_url=server.url)
        answer = build_agent(index, settings).answer(thread("hi"))

    assert answer.verdict == "no_search"
    assert server.requests[0].headers["Authorization"] == "Bearer t"


def test_the_client_never_retries_on_its_own() -> None:
    client = open_client(AgentSettings(api_key="k"))

    assert client.max_retries == 0
    client.close()


@pytest.mark.parametrize("error", [IndexDamaged("pages.sqlite is damaged"), OSError("disk")])
def test_an_index_that_breaks_is_a_failed_answer_in_plain_words(
    index: Index, error: Exception
) -> None:
    class Broken(Index):
        def search(self, query: str, **more: object) -> SearchResult:
            raise error

    answer = build_agent(Broken(index._live), AgentSettings()).answer(thread("PAY-4031?"))

    assert answer.verdict == "failed"
    assert answer.reason == "The index of the docs cannot be read."
    assert str(error) not in answer.text


def test_a_search_that_hangs_ends_with_the_deadline(index: Index) -> None:
    forever = threading.Event()

    class Hanging(Index):
        def search(self, query: str, **more: object) -> SearchResult:
            forever.wait(PATIENCE)
            raise OSError

    answer = build_agent(Hanging(index._live), AgentSettings(deadline=0.5)).answer(thread("x?"))
    forever.set()

    assert answer.verdict == "failed"
    assert answer.reason == "Neither the model nor the search answered in time."


def test_a_tool_that_hangs_leaves_time_for_the_answer(index: Index) -> None:
    forever = threading.Event()

    class Hanging(Index):
        def search(self, query: str, **more: object) -> SearchResult:
            forever.wait(PATIENCE)
            raise OSError

    script = [search(), Turn(text="It is 42.")]
    with MessagesServer(script) as server:
        settings = AgentSettings(api_key="k", base_url=server.url, deadline=8)
        answer = build_agent(Hanging(index._live), settings).answer(thread("x?"))
        forever.set()

    [result] = server.requests[1].body["messages"][2]["content"]
    assert "took too long" in result["content"][0]["text"]
    assert answer.steps == 2
    assert answer.verdict == "failed"
    assert "42" not in answer.text


def test_a_mend_that_fails_leaves_the_first_version_with_its_marks(ask: Ask, pay_4031: str) -> None:
    wrong = Turn(text=f"Signature verification failed: run `payctl fix --now` [{pay_4031}].")

    asked = ask([search(), wrong, Fault(529)])

    assert asked.answer.verdict == "partly"
    assert "mend_failed" in asked.kinds
    assert len(asked.bodies) == 3


def test_an_answer_of_forged_ids_only_ends_in_passages(ask: Ask) -> None:
    answer = ask([search(), Turn(text="[forged-1]"), Turn(text="[forged-1]")]).answer

    assert answer.verdict == "retrieval_only"


def test_cost_counts_what_was_written_to_and_read_from_the_cache() -> None:
    usage = {
        "input_tokens": 1_000,
        "output_tokens": 500,
        "cache_read_input_tokens": 2_000,
        "cache_creation_input_tokens": 3_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 2_000},
    }

    by_hand = (1_000 * 4 + 500 * 20 + 2_000 * 0.20 + 1_000 * 5 + 2_000 * 8) / 1_000_000
    assert cost_usd("claude-opus-5-5", usage) == pytest.approx(by_hand)
    assert tokens(usage) == Usage(1_000, 500, 2_000, 3_000)
    assert cost_usd("somebody-elses-model", usage) is None


def test_a_deadline_raises_what_a_call_raised() -> None:
    def fail() -> Path:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        Deadline(5).run([fail])
    with pytest.raises(DeadlinePassed):
        Deadline(0).check()
