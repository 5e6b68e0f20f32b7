"""Collections: those that the model can choose from, and those that a conversation can use."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from agent.conversation import CitedChunk, Conversation, Turn
from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.config_file import DocsCollection
from ingest.errors import IndexDamaged
from ingest.index import Index, IndexStatus, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.agent.conftest import PAGES, Asked, thread
from tests.fakes.messages_server import MessagesServer
from tests.fakes.script import Step
from tests.fakes.script import Turn as Says
from tests.ingest.embedding.hashing import HashingEmbedder

PARTS = {
    "oncall": DocsCollection(paths=("oncall/**",), description="Failover and alerts"),
    "payments": DocsCollection(paths=("payments*",), description="Keys and error codes"),
    "people": DocsCollection(paths=("people/**",), description="Remote work"),
}
Ask = Callable[..., Asked]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The pages, in three collections."""
    folder = tmp_path_factory.mktemp("parts")
    for path, text in PAGES.items():
        page = folder / "docs" / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    settings = IndexSettings(docs_repo=str(folder / "docs"), data_dir=folder / "data")
    embedder = HashingEmbedder()
    index = open_index(settings, embedder, PARTS)
    run_ingest(settings, index, embedder)
    yield index
    index.close()


@pytest.fixture
def ask(index: Index) -> Ask:
    def ask(script: Sequence[Step], conversation: Conversation) -> Asked:
        with MessagesServer(script) as server:
            settings = AgentSettings.model_validate({"api_key": "test", "base_url": server.url})
            answer = build_agent(index, settings).answer(conversation)
        assert not server.refused, [refusal.reason for refusal in server.refused]
        return Asked(answer, server, [])

    return ask


def search(query: str, **more: str) -> Says:
    return Says(tools=[("search_docs", {"query": query, **more})])


def choices(asked: Asked) -> list[str] | None:
    [search_docs] = [t for t in asked.bodies[0]["tools"] if t["name"] == "search_docs"]
    found: list[str] | None = (
        search_docs["input_schema"]["properties"].get("collection", {}).get("enum")
    )
    return found


def given(asked: Asked) -> set[str]:
    """Pages whose passages reached the model."""
    results = [e.detail["given"] for e in asked.answer.trace.events if e.kind == "tool_result"]
    return {ident.rpartition("-")[0] for ids in results for ident in ids}


def test_the_model_may_search_one_collection(ask: Ask) -> None:
    asked = ask(
        [search("failover", collection="oncall"), Says(text="NOT IN DOCS\nNo page says so.")],
        thread("Failover?"),
    )
    assert choices(asked) == ["oncall", "payments", "people"]
    assert given(asked) == {"oncall/ledger-failover", "oncall/long"}


def test_the_tools_are_the_same_bytes_until_the_next_ingest_whoever_asks(ask: Ask) -> None:
    scoped = replace(thread("Hello"), collections=("oncall", "people"), wishes="Be brief.")
    first, again = (ask([Says(text="Hi.")], scoped).bodies[0] for _ in "12")
    other = ask([Says(text="Hi.")], replace(scoped, wishes="")).bodies[0]
    for body in (again, other):
        assert json.dumps([body["tools"], body["system"]]) == json.dumps(
            [first["tools"], first["system"]]
        )


def test_a_conversation_sees_only_its_collections_by_whatever_tool(ask: Ask) -> None:
    place = replace(thread("Which key version?"), collections=("oncall", "people"))
    script = [
        search("PAY-4031 signing key version"),
        Says(tools=[("read_document", {"path": "payments-runbook.md"})]),
        Says(tools=[("list_documents", {})]),
        Says(text="NOT IN DOCS\nNo page says so."),
    ]
    asked = ask(script, place)
    assert choices(asked) == ["oncall", "people"]
    assert "payments-runbook" not in json.dumps(asked.bodies[0]["tools"])
    assert "payments-runbook" not in given(asked)
    results = json.dumps([m for m in asked.bodies[-1]["messages"] if m["role"] == "user"])
    assert "There is no page 'payments-runbook.md'" in results
    assert "verification failed" not in results


def test_a_chunk_cited_before_the_channel_was_narrowed_is_not_supplied_again(ask: Ask) -> None:
    earlier = Turn("footnote", "footnote", "See it.", (CitedChunk("payments-runbook-0"),))
    turns = (*thread("And then?", ("bob", "Key?")).turns[:1], earlier, *thread("And then?").turns)
    wide, narrow = (
        json.dumps(ask([Says(text="Hm.")], Conversation(turns, collections=c)).bodies)
        for c in (None, ("people",))
    )
    assert "genkey.sh" in wide
    assert "genkey.sh" not in narrow


def test_without_a_model_the_passages_come_from_the_collections_alone(index: Index) -> None:
    place = replace(thread("PAY-4031 signing key version"), collections=("people",))
    answer = build_agent(index, AgentSettings()).answer(place)
    assert {p.path for p in answer.citations} == {"people/remote-work.md"}


def test_what_one_channel_found_is_not_shown_in_another_while_the_index_cannot_tell_its_state(
    index: Index,
) -> None:
    class Unsure(Index):
        def status(self) -> IndexStatus:
            raise IndexDamaged("busy")

    question = thread("PAY-4031 signing key version")
    narrow = replace(question, collections=("people",))
    found = [search("PAY-4031"), Says(text="NOT IN DOCS\nNo page says so.")]
    with MessagesServer([*found, *found]) as server:
        settings = AgentSettings.model_validate({"api_key": "test", "base_url": server.url})
        agent = build_agent(Unsure(index._live, PARTS), settings)
        agent.answer(question)
        answer = agent.answer(narrow)
    assert {p.path for p in answer.passages} == {"people/remote-work.md"}


def test_a_collection_that_is_not_configured_never_widens_to_all(index: Index) -> None:
    place = replace(thread("PAY-4031 signing key version"), collections=("secret",))
    answer = build_agent(index, AgentSettings()).answer(place)
    assert answer.passages == answer.citations == ()
    assert "found nothing" in answer.text


def test_how_to_answer_here_is_only_in_the_newest_message_behind_the_cached_part(
    ask: Ask,
) -> None:
    plain = thread("How?", ("bob", "Hello"), ("footnote", "Hi."))
    asked = ask([Says(text="So.")], replace(plain, wishes="Answer in German. Tone: terse."))
    without = ask([Says(text="So.")], plain)
    body, other = asked.bodies[0], without.bodies[0]
    assert [body["system"], body["tools"]] == [other["system"], other["tools"]]
    assert body["messages"][:-1] == other["messages"][:-1]
    *same, wishes = body["messages"][-1]["content"]
    assert same == other["messages"][-1]["content"]
    assert wishes == {
        "type": "text",
        "text": "How to answer in this channel: Answer in German. Tone: terse.",
    }
