"""The loop as people and the API see it: questions in, requests on the wire, answers out."""

import threading
from pathlib import Path

import pytest

from agent.conversation import Conversation, Turn
from agent.errors import Cancelled
from agent.loop import Agent, build_agent
from agent.settings import AgentSettings
from ingest.documents import SearchResult
from ingest.index import Index, open_index
from ingest.settings import IndexSettings
from tests.agent.conftest import Ask, thread
from tests.fakes.messages_server import MessagesServer
from tests.fakes.rule_followers import Request
from tests.fakes.script import Stall, Step, Text
from tests.fakes.script import Turn as Says
from tests.waiting import PATIENCE

MODELS = [
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-fable-5-2",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-opus-4-8",
    "claude-haiku-4-5",
]


def search(query: str = "PAY-4031", **more: object) -> Says:
    return Says(tools=[("search_docs", {"query": query, **more})])


def said(chunk_id: str) -> Says:
    return Says(text=f"PAY-4031 means that signature verification failed [{chunk_id}].")


def test_without_a_key_the_best_passages_are_quoted(index: Index, pay_4031: str) -> None:
    agent = build_agent(index, AgentSettings())

    answer = agent.answer(thread("What does error PAY-4031 mean?"))

    assert answer.verdict == "retrieval_only"
    assert answer.citations[0].id == pay_4031
    assert answer.citations[0].text.strip() in answer.text
    assert f"[{pay_4031}]" in answer.text
    assert answer.text.startswith("_No language model is set up.")
    assert answer.reason == "No language model is set up."


def test_a_turn_searches_and_then_answers_with_a_citation(ask: Ask, pay_4031: str) -> None:
    asked = ask([search(), said(pay_4031)])

    answer = asked.answer
    assert answer.verdict == "answered"
    assert answer.text == f"PAY-4031 means that signature verification failed [{pay_4031}]."
    assert [passage.id for passage in answer.citations] == [pay_4031]
    assert [s.query for s in answer.searches] == ["PAY-4031"]
    assert pay_4031 in answer.searches[0].ids
    assert (answer.steps, answer.model) == (2, "claude-opus-5-5")
    assert answer.usage.output_tokens > 0
    assert answer.cost_usd is not None
    assert answer.cost_usd > 0
    assert [(p.kind, p.detail) for p in asked.progress] == [
        ("thinking", ""),
        ("searching", "PAY-4031"),
        ("thinking", ""),
        ("writing", ""),
    ]


def test_a_forged_id_is_removed_and_named(ask: Ask, pay_4031: str) -> None:
    text = f"Signature verification failed [{pay_4031}]. Look at the log [made-up-7]."

    answer = ask(lambda r: Says(text=text) if r.results else search()).answer

    assert "made-up-7" not in answer.text
    assert answer.removed == ("made-up-7",)
    assert pay_4031 in answer.text


@pytest.mark.parametrize("citations", ["native", "brackets"])
@pytest.mark.parametrize("model", MODELS)
def test_every_model_takes_our_requests(
    ask: Ask, pay_4031: str, model: str, citations: str
) -> None:
    thinking = None if model == "claude-haiku-4-5" else ""
    sentence = "PAY-4031 means that signature verification failed"
    native = Says(text=[Text(f"{sentence}.", cites=[pay_4031])])
    answered = native if citations == "native" else Says(text=f"{sentence} [{pay_4031}].")
    calls = [
        ("search_docs", {"query": "PAY-4031"}),
        ("read_document", {"path": "payments-runbook"}),
    ]
    script = [Says(tools=calls, thinking=thinking), answered]

    earlier = (("bob", "Payments are failing."), ("footnote", "Which error do you see?"))
    asked = ask(script, thread("PAY-4031, why?", *earlier), model=model, citations=citations)

    assert asked.answer.verdict == "answered"
    assert asked.answer.text == f"{sentence} [{pay_4031}]."


def test_all_results_of_a_step_stand_in_one_message_in_the_order_of_the_calls(ask: Ask) -> None:
    calls = [
        ("search_docs", {"query": "rotate signing key"}),
        ("search_docs", {"query": "ledger failover"}),
        ("read_document", {"path": "people/remote-work.md"}),
    ]
    asked = ask(lambda r: Says(text="Done.") if r.results else Says(tools=calls))

    call_ids = [b["id"] for b in asked.bodies[1]["messages"][1]["content"]]
    results = asked.bodies[1]["messages"][2]["content"]
    assert [result["tool_use_id"] for result in results] == call_ids
    assert all(result["type"] == "tool_result" for result in results)
    assert asked.bodies[1]["messages"][3] == {
        "role": "system",
        "content": "Searches left: 2 of 4.",
    }


def test_searches_of_one_step_run_at_the_same_time(index: Index) -> None:
    """Two searches that wait for each other both end."""
    both = threading.Barrier(2, timeout=PATIENCE)

    class Meeting(Index):
        def search(self, query: str, **more: object) -> SearchResult:
            if "exclude" not in more:
                both.wait()
            return index.search(query)

    calls = [("search_docs", {"query": q}) for q in ("signing key", "ledger failover")]
    with MessagesServer(lambda r: Says(text="Done.") if r.results else Says(tools=calls)) as server:
        agent = build_agent(Meeting(index._live), AgentSettings(api_key="k", base_url=server.url))
        answer = agent.answer(thread("Compare the two."))

    assert len(answer.searches) == 2
    assert not both.broken


def test_a_model_that_searches_forever_is_stopped_and_still_answers(
    ask: Ask, pay_4031: str
) -> None:
    def forever(request: Request) -> Step:
        if not request.tools:
            return said(pay_4031)
        return search(f"PAY-4031 {len(request.body['messages'])}")

    asked = ask(forever)

    assert asked.answer.verdict == "answered"
    assert len(asked.answer.searches) == 4
    assert [b.get("tool_choice") for b in asked.bodies] == [None] * 4 + [{"type": "none"}]
    assert asked.bodies[-1]["messages"][-1]["content"].startswith("Searches left: 0 of 4. No more")


def test_steps_are_limited_too(ask: Ask) -> None:
    def reads_forever(request: Request) -> Step:
        if not request.tools:
            return Says(text="The docs do not say.")
        line = len(request.body["messages"])
        return Says(tools=[("read_document", {"path": "oncall/long.md", "from_line": line})])

    assert ask(reads_forever, max_steps=3).answer.steps == 3


def test_searches_beyond_the_budget_are_refused_one_by_one(ask: Ask) -> None:
    calls = [("search_docs", {"query": f"topic {n}"}) for n in range(6)]

    asked = ask(lambda r: Says(text="Done.") if r.results else Says(tools=calls))

    results = asked.bodies[1]["messages"][2]["content"]
    assert len(asked.answer.searches) == 4
    assert sum(bool(result.get("is_error")) for result in results) == 2


def test_a_failing_tool_is_a_result_and_the_answer_admits_it(index: Index) -> None:
    class Broken(Index):
        def search(self, query: str, **more: object) -> SearchResult:
            raise OSError("disk on fire at /var/lib/secret")

    with MessagesServer(lambda r: Says(text="It is 42.") if r.results else search()) as server:
        settings = AgentSettings(api_key="k", base_url=server.url)
        answer = build_agent(Broken(index._live), settings).answer(thread("What is it?"))

    result = server.requests[1].body["messages"][2]["content"][0]
    assert result["is_error"]
    assert "secret" not in str(server.requests[1].body)
    assert answer.verdict == "failed"
    assert "42" not in answer.text
    assert answer.reason == "The index of the docs cannot be read."


@pytest.mark.parametrize(
    "call",
    [
        ("search_docs", {"q": "wrong name"}),
        ("search_docs", {"query": "   "}),
        ("search_docs", {"query": "x", "updated_after": "last week"}),
        ("search_docs", {"query": "x", "collection": "nope"}),
        ("read_document", {"path": "no/such/page.md"}),
        ("read_document", {"path": 7}),
        ("list_documents", {"path": "nowhere"}),
        ("delete_everything", {}),
    ],
)
def test_a_wrong_tool_call_is_explained_to_the_model(
    ask: Ask, pay_4031: str, call: tuple[str, dict[str, object]]
) -> None:
    def rule(request: Request) -> Step:
        steps = [m["role"] for m in request.body["messages"]].count("assistant")
        script: list[Step] = [Says(tools=[call]), search(), said(pay_4031)]
        return script[steps]

    asked = ask(rule)

    [result] = asked.bodies[1]["messages"][2]["content"]
    assert result["is_error"]
    assert '"error"' in result["content"][0]["text"]
    assert asked.answer.verdict == "answered"


def test_nothing_relevant_ends_in_not_in_docs_with_the_nearest_pages(ask: Ask) -> None:
    def rule(request: Request) -> Step:
        if request.results:
            return Says(text="NOT IN DOCS\nI looked for the parental leave policy.")
        return search("parental leave")

    answer = ask(rule, "How long is parental leave?").answer

    assert answer.verdict == "not_in_docs"
    assert "NOT IN DOCS" not in answer.text
    assert answer.text.startswith("I looked for the parental leave policy.")
    assert "Nearest pages: " in answer.text
    assert answer.text.count("?") == 1
    assert answer.citations


def test_an_admission_without_the_marker_counts_as_well(ask: Ask) -> None:
    answer = ask(
        lambda r: (
            Says(text="The docs do not cover parental leave.") if r.results else search("leave")
        )
    ).answer

    assert answer.verdict == "not_in_docs"


def test_small_talk_needs_no_search(ask: Ask) -> None:
    answer = ask([Says(text="You are welcome.")], "thanks!").answer

    assert answer.verdict == "no_search"
    assert answer.text == "You are welcome."
    assert answer.searches == ()


def test_general_knowledge_is_uncited(ask: Ask) -> None:
    answer = ask([Says(text="Use `xs.reverse()`.")], "How do I reverse a list in Python?").answer

    assert answer.verdict == "uncited"


def test_a_mention_without_words_gets_help_without_a_model(index: Index) -> None:
    agent = build_agent(index, AgentSettings(api_key="k", base_url="http://127.0.0.1:9"))

    answer = agent.answer(Conversation((Turn("person", "oncall", " "),)))

    assert answer.verdict == "no_search"
    assert answer.steps == 0


def test_stopping_ends_the_wait_at_once(index: Index) -> None:
    cancel = threading.Event()
    with MessagesServer([Stall(where="mid")]) as server:
        agent = build_agent(index, AgentSettings(api_key="k", base_url=server.url))
        threading.Timer(0.2, cancel.set).start()
        with pytest.raises(Cancelled):
            agent.answer(thread("PAY-4031?"), cancel=cancel)


def test_an_unsupported_command_gets_one_chance_to_be_mended(ask: Ask, pay_4031: str) -> None:
    wrong = Says(text=f"Run `payctl fix --now` [{pay_4031}].")

    asked = ask([search(), wrong, said(pay_4031)])

    assert asked.answer.verdict == "answered"
    assert "payctl" not in asked.answer.text
    assert asked.kinds.count("mend") == 1
    assert "payctl fix --now" in asked.bodies[2]["messages"][-1]["content"][0]["text"]
    assert asked.bodies[2]["tool_choice"] == {"type": "none"}


def test_an_answer_that_cannot_be_mended_is_shown_with_its_marks(ask: Ask, pay_4031: str) -> None:
    wrong = Says(text=f"Signature verification failed: run `payctl fix --now` [{pay_4031}].")

    answer = ask([search(), wrong, wrong]).answer

    assert answer.verdict == "partly"
    assert [u.span for u in answer.unsupported] == ["payctl fix --now"]


def test_the_single_route_searches_once_and_asks_once(ask: Ask, pay_4031: str) -> None:
    asked = ask([said(pay_4031)], route="single")

    assert asked.answer.verdict == "answered"
    assert asked.answer.steps == 1
    assert len(asked.answer.searches) == 1
    assert asked.bodies[0]["tool_choice"] == {"type": "none"}


def test_the_auto_route_leaves_compound_questions_to_the_model(ask: Ask, pay_4031: str) -> None:
    simple = ask([said(pay_4031)], "What does PAY-4031 mean?", route="auto")
    compound = ask(
        [search(), said(pay_4031)], "Compare PAY-4031 and the ledger failover.", route="auto"
    )

    assert [
        e.detail["one_step"] for a in (simple, compound) for e in a.answer.trace.events[:1]
    ] == [
        True,
        False,
    ]


def test_the_auto_route_lets_the_model_search_when_the_first_search_was_not_enough(
    ask: Ask, pay_4031: str
) -> None:
    script = [Says(text="NOT IN DOCS\nNothing on it."), search("signature failed"), said(pay_4031)]

    asked = ask(script, "What does PAY-4031 mean?", route="auto")

    assert asked.answer.verdict == "answered"
    assert len(asked.answer.searches) == 2


def test_an_agent_without_an_index_says_so(tmp_path: Path) -> None:
    index = open_index(IndexSettings(data_dir=tmp_path / "none"))

    answer = Agent(index, None, AgentSettings()).answer(thread("Anything?"))

    assert answer.verdict == "failed"
    assert answer.reason == "No docs are indexed yet."
