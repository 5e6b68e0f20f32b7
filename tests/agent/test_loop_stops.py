"""The asker's answer for every way in which a response can end or fail."""

import pytest

from agent.loop import Progress, build_agent
from agent.settings import AgentSettings
from ingest.documents import SearchResult
from ingest.index import Index, IndexStatus
from tests.agent.conftest import Ask, thread
from tests.agent.test_loop import said, search
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Broken, Fault, Stall, Step, Turn
from tests.waiting import PATIENCE

GOOD = Turn(text="Hello.")


def test_a_refusal_ends_in_passages(ask: Ask, pay_4031: str) -> None:
    answer = ask([search(), Turn(text="I", stop="refusal")]).answer

    assert answer.verdict == "retrieval_only"
    assert answer.reason == "The model declined to answer this."
    assert pay_4031 in [passage.id for passage in answer.citations]


def test_a_tool_call_cut_in_the_middle_is_never_run(ask: Ask, pay_4031: str) -> None:
    cut = Turn(tools=[("search_docs", {"query": "delete the whole database"})], cut_tool=True)

    asked = ask([cut, search(), said(pay_4031)], max_tokens=1_000)

    assert asked.answer.verdict == "answered"
    assert [s.query for s in asked.answer.searches] == ["PAY-4031"]
    assert [body["max_tokens"] for body in asked.bodies] == [1_000, 2_000, 2_000]
    assert asked.bodies[1]["messages"] == asked.bodies[0]["messages"]


@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_a_blank_text_beside_a_tool_call_is_not_sent_back(
    ask: Ask, pay_4031: str, blank: str
) -> None:
    call = {
        "type": "tool_use",
        "id": "toolu_blank",
        "name": "search_docs",
        "input": {"query": "PAY-4031"},
    }
    with_blank = Turn(blocks=[{"type": "text", "text": blank}, call], stop="tool_use")

    assert ask([with_blank, said(pay_4031)]).answer.verdict == "answered"


def test_a_tool_call_cut_twice_ends_in_passages(ask: Ask) -> None:
    cut = Turn(tools=[("search_docs", {"query": "PAY-4031 and more"})], cut_tool=True)

    answer = ask([cut, cut]).answer

    assert answer.verdict == "retrieval_only"
    assert answer.searches == ()


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_a_text_that_is_cut_off_says_so(ask: Ask, pay_4031: str, stop: str) -> None:
    text = f"Signature verification failed [{pay_4031}]. Next"

    answer = ask([search(), Turn(text=text, stop=stop)]).answer

    assert answer.text.endswith("_The answer was cut off here: it grew too long._")
    assert answer.reason


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
def test_a_mend_that_breaks_off_does_not_take_the_place_of_the_whole(
    ask: Ask, pay_4031: str, stop: str
) -> None:
    whole = f"Signature verification failed: run `payctl fix --now` [{pay_4031}]."

    asked = ask([search(), Turn(text=whole), Turn(text=f"It [{pay_4031}]", stop=stop)])

    assert asked.answer.text.startswith("Signature verification failed")
    assert "mend_failed" in asked.kinds


def test_what_was_cut_off_is_not_mended(ask: Ask, pay_4031: str) -> None:
    cut = Turn(text=f"Run `payctl fix --now` [{pay_4031}]. Next", stop="max_tokens")

    answer = ask([search(), cut]).answer

    assert answer.verdict == "partly"
    assert answer.reason


@pytest.mark.parametrize("thinking", [None, ""])
def test_an_empty_end_gets_one_reminder(ask: Ask, pay_4031: str, thinking: str | None) -> None:
    asked = ask([search(), Turn(text="", thinking=thinking), said(pay_4031)])

    assert asked.answer.verdict == "answered"
    assert asked.answer.steps == 3


def test_two_empty_ends_end_in_passages(ask: Ask) -> None:
    answer = ask([search(), Turn(text=""), Turn(text="")]).answer

    assert answer.verdict == "retrieval_only"
    assert answer.reason == "The model gave no answer."


def test_a_paused_turn_goes_on(ask: Ask, pay_4031: str) -> None:
    paused = Turn(text="One moment.", stop="pause_turn")

    assert ask([paused, search(), said(pay_4031)]).answer.verdict == "answered"


@pytest.mark.parametrize("stop", ["stop_sequence", "something_new"])
def test_other_stop_reasons_count_as_the_end(ask: Ask, pay_4031: str, stop: str) -> None:
    text = f"Signature verification failed [{pay_4031}]."

    assert ask([search(), Turn(text=text, stop=stop)]).answer.text == text


@pytest.mark.parametrize(
    "passing",
    [
        Broken(GOOD, how="error"),
        Broken(GOOD, how="eof"),
        Broken(GOOD, how="eof", after=0),
        Broken(GOOD, how="reset"),
        Broken(GOOD, how="garbage"),
        Fault(529),
        Fault(500),
        Fault(429, retry_after=0.1),
    ],
    ids=str,
)
def test_what_fails_in_passing_is_tried_again(
    ask: Ask, pay_4031: str, passing: Broken | Fault
) -> None:
    asked = ask([passing, search(), said(pay_4031)])

    assert asked.answer.verdict == "answered"
    assert asked.kinds.count("retry") == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(401), "The model's API key was rejected."),
        (Fault(403), "The model's API key may not use this model."),
        (Fault(404), "The configured model does not exist."),
        (Fault(402), "The model account is out of credit."),
        (
            Fault(400, message="Your credit balance is too low"),
            "The model account is out of credit.",
        ),
        (Fault(413), "The thread is too long for the model."),
        (Fault(400, message="prompt is too long: 1 > 0"), "The thread is too long for the model."),
        (Fault(400, message="something else"), "The model refused the request."),
    ],
    ids=str,
)
def test_what_stays_wrong_is_said_at_once(ask: Ask, fault: Fault, reason: str) -> None:
    asked = ask([fault])

    assert asked.answer.verdict == "retrieval_only"
    assert asked.answer.reason == reason
    assert "scripted" not in asked.answer.text
    assert len(asked.bodies) == 1


def test_retries_are_bounded(ask: Ask) -> None:
    asked = ask([Fault(529)] * 5)

    assert asked.answer.reason == "The model is overloaded."
    assert len(asked.bodies) == 3


def test_a_gateway_that_sends_pages_instead_of_messages_ends_in_passages(ask: Ask) -> None:
    answer = ask([Fault(200, body=b"<html>Sign in</html>")] * 3).answer

    assert answer.verdict == "retrieval_only"
    assert "html" not in answer.text


def test_the_fallback_model_takes_over(ask: Ask, pay_4031: str) -> None:
    asked = ask(
        [Fault(404), search(), said(pay_4031)],
        model="claude-opus-5-5",
        fallback_model="claude-haiku-4-5",
    )

    assert asked.answer.verdict == "answered"
    assert asked.answer.model == "claude-haiku-4-5"


@pytest.mark.parametrize("citations", ["native", "brackets"])
def test_the_fallback_model_gets_what_was_found_already(
    ask: Ask, pay_4031: str, citations: str
) -> None:
    asked = ask(
        [search(), Turn(text="", stop="refusal"), said(pay_4031)],
        fallback_model="claude-sonnet-5",
        citations=citations,
    )

    assert asked.answer.verdict == "answered"
    assert pay_4031 in str(asked.bodies[2]["messages"])


def test_refused_search_results_are_replaced_by_brackets_and_remembered(
    ask: Ask, pay_4031: str
) -> None:
    refused = Fault(400, message="messages.2.content.0: search_result is not supported")

    asked = ask([search(), refused, said(pay_4031)], citations="native")

    assert asked.answer.verdict == "answered"
    assert '"type":"search_result"' in asked.server.requests[1].raw.decode()
    assert '"type":"search_result"' not in asked.server.requests[2].raw.decode()


def test_a_gateway_that_knows_fewer_parameters_is_spoken_to_plainly(
    ask: Ask, pay_4031: str
) -> None:
    refused = Fault(400, message="output_config: Extra inputs are not permitted")

    asked = ask([refused, search(), said(pay_4031)])

    assert asked.answer.verdict == "answered"
    assert not {"output_config", "cache_control", "thinking"} & asked.bodies[1].keys()


@pytest.mark.parametrize("where", ["connect", "first_byte", "mid", "pings"])
@pytest.mark.parametrize("at", [0, 1], ids=["first step", "second step"])
def test_a_server_that_stalls_anywhere_costs_no_more_than_the_deadline(
    ask: Ask, pay_4031: str, where: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.fallback._LATE", PATIENCE)
    stalls: list[Step] = [Stall(where=where)] * 3  # type: ignore[arg-type]  # one of the literals
    answer = ask([search(), *stalls] if at else stalls, deadline=1.5).answer

    assert answer.verdict == "retrieval_only"
    assert answer.reason == "The model did not answer in time."
    assert pay_4031 in [passage.id for passage in answer.citations]


def test_a_wait_that_the_server_asks_for_is_not_longer_than_the_deadline(ask: Ask) -> None:
    answer = ask([Fault(429, retry_after=30)], deadline=2).answer

    assert answer.reason == "The model is busy (rate limit)."


def test_a_lost_call_is_made_again_within_the_deadline(ask: Ask, pay_4031: str) -> None:
    asked = ask([Stall(where="first_byte"), search(), said(pay_4031)], call_timeout=2)

    assert asked.answer.verdict == "answered"


def test_a_server_that_is_not_there_ends_in_passages(ask: Ask) -> None:
    answer = ask([], base_url="http://127.0.0.1:9").answer

    assert answer.reason == "The model cannot be reached."


def test_whatever_goes_wrong_beside_the_model_ends_in_passages(index: Index, pay_4031: str) -> None:
    def fail(_progress: Progress) -> None:
        raise ValueError("a bug in what shows the progress")

    with MessagesServer([search(), said(pay_4031)]) as server:
        settings = AgentSettings.model_validate({"api_key": "test", "base_url": server.url})
        answer = build_agent(index, settings).answer(thread("Why PAY-4031?"), on_progress=fail)

    assert (answer.verdict, answer.reason) == ("retrieval_only", "Answering with the model failed.")
    assert pay_4031 in [passage.id for passage in answer.citations]


def test_an_index_that_cannot_even_tell_its_state_is_a_failed_answer(index: Index) -> None:
    class Unreadable(Index):
        def status(self) -> IndexStatus:
            raise OSError("disk")

        def search(self, query: str, **more: object) -> SearchResult:
            raise OSError("disk")

    answer = build_agent(Unreadable(index._live), AgentSettings()).answer(thread("PAY-4031?"))

    assert answer.verdict == "failed"
    assert "disk" not in answer.text
