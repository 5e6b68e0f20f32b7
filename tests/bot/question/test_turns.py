"""Whose words a message of Footnote's own account holds, and which ids in it count."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation import Turn
from agent.history import cited_before
from bot.question.event import Key, Question, by_hand
from bot.question.thread_message import read_thread_message
from bot.question.turns import build_conversation
from bot.slack.identity import NOTICE, QUOTE, REPLY, Identity
from ingest.documents import Passage
from ingest.index import Index
from tests.bot.conftest import Start
from tests.bot.stage import RUNBOOK, Json, Script, Slack
from tests.waiting import wait_for

ME = Identity("U0FOOTNOTE", "B0FOOTNOTE", "T1")
ANSWER = {"answer": "a1", "question": "1.1", "part": 0, "parts": 1, "verdict": "answered"}


class Asked(Index):
    """Records which chunks are asked for, and has all of them."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def passages(self, ids: Any) -> list[Passage]:
        self.ids += ids
        return []


def question() -> Question:
    return by_hand("shortcut", Key("T1", "C1", "9.9"), "U1", thread_ts="1.0", about="9.8")


def turns_of(text: str, metadata: object, **more: Any) -> tuple[tuple[Turn, ...], list[str]]:
    """The turns that one own message becomes, and the chunks that it recalls."""
    message = {"ts": "1.2", "user": "U0FOOTNOTE", "bot_id": "B0FOOTNOTE", "text": text, **more}
    if metadata is not None:
        message["metadata"] = metadata
    thread = [read_thread_message(message, ME)]
    conversation = build_conversation(question(), thread, ME, {"U1": "sam"}.get)
    index = Asked()
    cited_before(conversation, index)
    return conversation.earlier, index.ids


def typed(kind: str, **payload: object) -> Json:
    return {"event_type": kind, "event_payload": payload}


WORDS = st.lists(
    st.sampled_from(["[payments-runbook-3]", "[a/b-0][c-1]", "I confirm:", "\n", "`", "> ", "é"])
    | st.text(max_size=8)
).map(" ".join)
NOT_AN_ANSWER = st.sampled_from([
    None,
    typed(QUOTE, asker="U1"),
    typed(NOTICE, notice="human"),
    typed(REPLY, answer="runbook", question="", part=0, parts=1, runbook="1.1"),
    typed(REPLY, answer="help", question="1.1", part=0, parts=1),
    typed("footnote_something", verdict="answered", cited=[{"id": "a-0"}]),
    {"event_type": REPLY},
    "metadata",
])  # fmt: skip


@settings(deadline=None)
@given(WORDS, NOT_AN_ANSWER, st.booleans())
def test_only_an_answer_is_footnotes_own_turn_and_recalls_chunks(
    words: str, metadata: object, in_blocks: bool
) -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": words or " "}}
    more = {"blocks": [section]} if in_blocks else {}
    turns, recalled = turns_of(words, metadata, **more)
    assert all(turn.speaker != "footnote" for turn in turns)
    assert recalled == []


@settings(deadline=None)
@given(WORDS)
def test_passages_and_plain_pieces_are_quotes_that_recall_what_their_metadata_names(
    words: str,
) -> None:
    cited = [{"id": "a-0", "hash": "h"}]
    for payload in (
        {**ANSWER, "verdict": "retrieval_only", "cited": cited},
        {**ANSWER, "piece": 0, "cited": cited},
    ):
        turns, recalled = turns_of(f"x {words}", typed(REPLY, **payload))
        assert [turn.speaker for turn in turns] == ["other_bot"]
        assert recalled == ["a-0"]


@pytest.mark.parametrize(
    ("cited", "recalled"),
    [
        ({}, ["payments-runbook-3"]),
        ({"cited": []}, []),
        ({"cited": [{"id": "a-0"}]}, ["a-0"]),
    ],
)
def test_the_ids_in_an_answer_serve_only_where_slack_refused_the_list(
    cited: Json, recalled: list[str]
) -> None:
    turns, found = turns_of("Do it [payments-runbook-3].", typed(REPLY, **ANSWER, **cited))
    assert [turn.speaker for turn in turns] == ["footnote"]
    assert found == recalled


def shared_answer(slack: Slack, words: str) -> str:
    """Ask in private, share the answer; return the timestamp of its thread."""
    place = {"channel": "C0INCIDENT", "user": "U0ONCALL"}
    slack.post("command", **place, text=words)
    [answer] = wait_for(
        lambda: [m for m in slack.messages("C0INCIDENT") if "footnote_share" in str(m)]
    )
    slack.post("click", **place, action_id="footnote_share", ts=answer["ts"])
    root, _ = wait_for(lambda: found if len(found := slack.posts()) == 2 else None)
    [ts] = [m["ts"] for m in slack.messages("C0INCIDENT") if m["text"] == root["text"]]
    return str(ts)


def test_words_over_a_shared_answer_stay_the_words_of_the_person_who_asked(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    root = shared_answer(slack, "I confirm: drop it [ledger-3]. how do I roll back?")
    say = {"channel": "C0INCIDENT", "user": "U0ONCALL", "thread_ts": root}
    slack.post("say", **say, text="and how do I check it?")
    wait_for(lambda: len(slack.posts()) == 3)
    shared, answer = script.conversations[-1].earlier
    assert shared.speaker == "other_bot"
    assert "drop it [ledger-3]" in shared.text
    assert shared.cited is None
    assert (answer.speaker, [c.id for c in answer.cited or ()]) == ("footnote", [RUNBOOK.id])
    assert "drop it" in script.conversations[-1].words_of_others
