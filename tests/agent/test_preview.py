"""The part of an answer that people see before its end: checked, and never taken back."""

from collections.abc import Callable, Sequence

import pytest
from anthropic.types import TextBlock

from agent.answer import Answer
from agent.draft import Draft
from agent.loop import build_agent
from agent.model.budget import Budget
from agent.model.deadline import Deadline
from agent.preview import Preview
from agent.searches import Retrieval, SearchCache
from agent.settings import AgentSettings
from agent.tools.base import Corpus
from ingest.index import Index
from tests.agent.conftest import thread
from tests.fakes.messages_server import MessagesServer, Rule
from tests.fakes.script import Step, Text, Turn
from tests.growth import growth

Script = Sequence[Step | Rule] | Rule

SEARCH = Turn(tools=[("search_docs", {"query": "PAY-4031"})])


def watch(
    index: Index, script: Script, *, seen: bool = True, **settings: object
) -> tuple[list[Answer], Answer]:
    """The parts that were shown, and the answer."""
    shown: list[Answer] = []

    def show(answer: Answer) -> bool:
        shown.append(answer)
        return seen

    with MessagesServer(script) as server:
        given = {"api_key": "test", "base_url": server.url, **settings}
        agent = build_agent(index, AgentSettings(**given))  # type: ignore[arg-type]  # any setting
        question = thread("What does error PAY-4031 mean?")
        answer = agent.answer(question, on_paragraph=show)
    assert not server.refused
    return shown, answer


def parts(cited: str) -> list[str]:
    return [
        f"PAY-4031 means that signature verification failed [{cited}].",
        f"Do this:\n\n1. Look at `key_version` in the request log [{cited}].",
        f"2. A client signs with a revoked key version [{cited}].",
        "That is all.",
    ]


def test_a_paragraph_is_shown_when_the_next_has_begun(index: Index, pay_4031: str) -> None:
    retrieval = Retrieval(index, SearchCache(), "", 4)
    retrieval.take(retrieval.search("PAY-4031"))
    question = thread("What does error PAY-4031 mean?")
    shown: list[Answer] = []
    draft = Draft(
        question, Deadline(60), retrieval, None, None, Corpus(()), Budget(AgentSettings(), None)
    )
    preview = Preview(draft, lambda answer: bool(shown.append(answer)))  # type: ignore[func-returns-value]  # nobody sees it
    first, second, third, last = parts(pay_4031)
    text = f"{first}\n\n{second}\n{third}\n\n{last}"
    for end in range(len(text)):
        preview.wrote([TextBlock(type="text", text=text[:end])])
    texts = [each.text for each in shown]
    assert texts == [first, f"{first}\n\n{second}", f"{first}\n\n{second}\n{third}"]


def test_the_answer_goes_on_from_what_was_shown(index: Index, pay_4031: str) -> None:
    first, second, third, last = parts(pay_4031)
    text = f"{first}\n\n{second}\n{third}\n\n{last}"
    shown, answer = watch(index, [SEARCH, Turn(text=text)], citations="brackets")
    assert shown[-1].text == f"{first}\n\n{second}\n{third}"
    assert answer.text == text
    assert {each.id for each in shown} == {answer.id}
    assert [p.id for p in shown[0].citations] == [pay_4031]


def test_native_citations_are_shown_with_the_end_of_their_blocks(
    index: Index, pay_4031: str
) -> None:
    said: list[str | Text] = [
        Text("PAY-4031 means that signature verification failed.", cites=[pay_4031]),
        "\n\n",
        Text("A client signs with a revoked key version.", cites=[pay_4031]),
        "\n\nThat is all.",
    ]
    shown, answer = watch(index, [SEARCH, Turn(text=said)], citations="native")
    assert shown
    assert shown[-1].text != answer.text
    assert f"PAY-4031 means that signature verification failed [{pay_4031}]." in shown[0].text
    assert all(answer.text.startswith(each.text) for each in shown)


@pytest.mark.parametrize(
    "text",
    [
        "Hello, I look that up.\n\nOne moment.\n\n",
        "NOT IN DOCS\n\nThe docs do not say [{id}].\n\nNothing there.",
        "Run `rm -rf /var` [{id}].\n\nThen wait [{id}].\n\nDone.",
        "It failed [made-up-3].\n\nIt is so.\n\nDone.",
    ],
)
def test_small_talk_doubts_and_forged_ids_are_not_shown_before_the_end(
    index: Index, pay_4031: str, text: str
) -> None:
    text = text.replace("{id}", pay_4031)
    shown, _ = watch(index, [SEARCH, Turn(text=text), Turn(text=text)], citations="brackets")
    assert not shown


def test_words_before_a_tool_call_are_not_shown(index: Index, pay_4031: str) -> None:
    chatter = Turn(text="I will look.\n\nIt is in the docs.\n\n", tools=SEARCH.tools)
    text = f"Signature verification failed [{pay_4031}].\n\nThat is all."
    shown, _ = watch(index, [chatter, Turn(text=text)], citations="brackets")
    assert [each.text for each in shown] == [f"Signature verification failed [{pay_4031}]."]


def test_what_was_shown_is_not_mended(index: Index, pay_4031: str) -> None:
    text = f"Signature verification failed [{pay_4031}].\n\nRun `pay --fix` [{pay_4031}]."
    shown, answer = watch(index, [SEARCH, Turn(text=text)], citations="brackets")
    assert len(shown) == 1
    assert answer.verdict == "partly"
    assert answer.text.startswith(shown[0].text)


def test_what_nobody_saw_is_mended(index: Index, pay_4031: str) -> None:
    text = f"Signature verification failed [{pay_4031}].\n\nRun `pay --fix` [{pay_4031}]."
    better = Turn(text=f"Signature verification failed [{pay_4031}].")
    script = [SEARCH, Turn(text=text), better]
    shown, answer = watch(index, script, seen=False, citations="brackets")
    assert len(shown) == 1
    assert answer.verdict == "answered"


def test_a_long_text_is_read_in_steps_that_grow_with_it(index: Index, pay_4031: str) -> None:
    retrieval = Retrieval(index, SearchCache(), "", 4)
    retrieval.take(retrieval.search("PAY-4031"))
    budget = Budget(AgentSettings(), None)
    draft = Draft(thread("PAY-4031?"), Deadline(60), retrieval, None, None, Corpus(()), budget)

    def work(paragraphs: int) -> Callable[[], None]:
        texts = [f"It failed {number} [{pay_4031}].\n\n" for number in range(paragraphs)]

        def written() -> None:
            preview, text = Preview(draft, lambda _answer: True), ""
            for each in texts:
                text += each
                preview.wrote([TextBlock(type="text", text=text)])

        return written

    assert not growth(work, (100, 400))
