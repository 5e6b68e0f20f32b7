"""Answers without a model: passages word for word, and no way to break them."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent.answer import Answer, written
from agent.conversation import CitedChunk, Conversation, Turn
from agent.fallback import passages_text as cited_passages
from agent.loop import Agent, build_agent
from agent.settings import AgentSettings
from ingest.documents import Passage, SearchResult
from ingest.index import Index
from tests.agent.conftest import thread
from tests.agent.test_passages import PASSAGE


def passages_text(passages: Sequence[Passage], why: str, *, weak: bool = False) -> str:
    return written(cited_passages(passages, why, weak=weak).segments)


def test_the_line_says_why_and_what_that_means() -> None:
    text = passages_text([PASSAGE], "The model is overloaded.")

    assert text.startswith(
        "_The model is overloaded. These are the best-matching passages, word for word; "
        "nobody has checked that they answer the question._\n\n"
        "**Runbook › Roll back** [runbook-0]\n````\n"
    )


def test_weak_matches_are_called_that_and_nothing_found_is_said() -> None:
    assert "only loosely related" in passages_text([PASSAGE], "Why.", weak=True)
    assert (
        passages_text([], "Why.") == "_Why. A search of the docs found nothing for this question._"
    )


def test_a_question_of_forty_thousand_letters_is_searched_for_by_its_beginning(
    index: Index,
) -> None:
    queries: list[str] = []

    class Listening(Index):
        def search(self, query: str, **more: object) -> SearchResult:
            queries.append(query)
            return index.search(query)

    long = thread("PAY-4031 " + "z" * 40_000, ("kim", "The ledger is down."))
    answer = build_agent(Listening(index._live), AgentSettings()).answer(long)

    assert answer.verdict == "retrieval_only"
    assert [query[:8] for query in queries] == ["PAY-4031", "The ledg"]
    assert max(map(len, queries)) < 2_000


def test_only_the_best_three_are_shown() -> None:
    text = passages_text([replace(PASSAGE, id=f"p-{n}") for n in range(9)], "Why.")

    assert text.count("**Runbook") == 3


def followed_up(agent: Agent, *questions: str) -> list[Answer]:
    """The answers to questions that follow each other in a thread."""
    turns: list[Turn] = []
    answers = []
    for question in questions:
        turns.append(Turn("person", "oncall", question))
        answer = agent.answer(Conversation(tuple(turns)))
        cited = tuple(CitedChunk(passage.id, passage.hash) for passage in answer.citations)
        turns.append(Turn("footnote", "footnote", answer.text, cited))
        answers.append(answer)
    return answers


def test_a_follow_up_shows_what_does_not_stand_in_the_thread_yet(index: Index) -> None:
    agent = build_agent(index, AgentSettings())

    first, second, third = followed_up(
        agent, "What does PAY-4031 mean?", "and how long does the failover take?", "and PAY-4031?"
    )

    shown = [{passage.id for passage in answer.citations} for answer in (first, second, third)]
    assert not shown[0] & shown[1]
    assert not (shown[0] | shown[1]) & shown[2]
    assert "not repeated" in second.text
    assert "not repeated" not in first.text


def test_the_own_words_of_a_follow_up_count_as_much_as_the_thread(index: Index) -> None:
    noise = "The gadget of part 7 is broken, and part 9 explains gadgets at length. " * 8
    conversation = thread("How many days of remote work?", ("oncall", noise))

    answer = build_agent(index, AgentSettings()).answer(conversation)

    assert "people/remote-work.md" in [passage.path for passage in answer.citations]


def test_a_passage_that_was_cited_and_not_quoted_may_still_be_shown(
    index: Index, pay_4031: str
) -> None:
    said = f"The client signs with an old key [{pay_4031}]."
    conversation = thread("What does PAY-4031 mean?", ("oncall", "Alert!"), ("footnote", said))

    answer = build_agent(index, AgentSettings()).answer(conversation)

    assert answer.citations[0].id == pay_4031


@given(st.text(alphabet=st.sampled_from("ab`~\n> *[]()<!@"), min_size=1, max_size=120))
def test_no_passage_breaks_out_of_its_fence(hostile: str) -> None:
    text = passages_text([replace(PASSAGE, text=f"x{hostile}x")], "Why.")

    tokens = MarkdownIt().parse(text)
    assert [token.type for token in tokens if token.level == 0][-1] == "fence"
    assert tokens[-1].content.rstrip("\n") == f"x{hostile}x".strip("\n")


def test_a_passage_that_is_too_long_is_cut_at_a_line_and_says_so() -> None:
    text = passages_text([replace(PASSAGE, text="a line of text\n" * 400)], "Why.")

    assert text.endswith("\n```\nThe passage goes on: open it to read the rest.")
    assert len(text) < 2_000
