"""Which questions Footnote searches for before it asks the model."""

import pytest

from agent.fallback import is_small_talk
from agent.loop import build_agent
from agent.route import is_lookup, searches_first
from agent.settings import AgentSettings
from ingest.index import Index
from tests.agent.conftest import thread


@pytest.mark.parametrize(
    "question", ["What does PAY-4031 mean?", "where is the refunds dashboard", "SLA of Sev 1?"]
)
def test_a_short_question_about_one_thing_is_a_lookup(question: str) -> None:
    assert is_lookup(thread(question))


@pytest.mark.parametrize(
    "question",
    [
        "hi",
        "thanks a lot!",
        "Compare Starter and Professional.",
        "What is the per diem in Berlin, and in Tokyo?",
        "Why did the deploy fail?",
        "How do I rotate the key? And when is the old one revoked?",
        "one two three four five six seven eight nine ten eleven twelve 13 14 15 16 17 18 19",
    ],
)
def test_talk_comparisons_and_compound_questions_are_not(question: str) -> None:
    assert not is_lookup(thread(question))


def test_a_follow_up_is_never_a_lookup() -> None:
    assert not is_lookup(thread("What does it mean?", ("bob", "PAY-4031")))


def test_the_setting_decides() -> None:
    question = thread("What does PAY-4031 mean?")

    assert searches_first(question, AgentSettings(route="single"))
    assert searches_first(question, AgentSettings(route="auto"))
    assert not searches_first(question, AgentSettings(route="agent"))


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello there!",
        "good morning, how are you today?",
        "Thanks, that fixed it :tada:",
        "super, vielen Dank!",
        "What can you help me with?",
        "who are you?",
    ],
)
def test_without_a_model_small_talk_is_not_searched_for(index: Index, text: str) -> None:
    answer = build_agent(index, AgentSettings()).answer(thread(text))

    assert (answer.verdict, answer.citations) == ("no_search", ())
    assert answer.text.startswith("Ask me about anything in the team's docs")


@pytest.mark.parametrize(
    "text", ["hi, what is PAY-4031?", "help with the ledger", "what do you do on a page?", "ok"]
)
def test_a_greeting_before_a_question_is_not_small_talk(text: str) -> None:
    assert not is_small_talk(text)
