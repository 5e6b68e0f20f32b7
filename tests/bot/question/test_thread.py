"""Thread -> Conversation, and Footnote's replies in it, also for strange messages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.answer import Answer
from agent.conversation import CitedChunk
from bot.question.event import Question
from bot.question.policy import decide
from bot.question.thread import is_complete, replies_to
from bot.question.thread_message import ThreadMessage, read_thread_message
from bot.question.turns import alert_text, build_conversation, question_text, unread_notes
from bot.reading.plain_form import plain_parts
from bot.reply.outgoing import MAX_METADATA, answer_payload
from bot.slack.identity import NOTICE, Identity, read_metadata
from ingest.documents import Passage

ME = Identity("U0FOOTNOTE", "B0FOOTNOTE", "T1")
NAMES = {"U1": "sam", "U2": "kim"}
Json = dict[str, Any]
PLACES = (
    "user", "text", "blocks", "attachments", "files", "metadata", "event_type", "event_payload",
    "cited", "question", "answer", "parts", "bot_id", "bot_profile", "username", "name", "subtype",
    "type", "elements", "user_id",
)  # fmt: skip


def ask(text: str = "why?", **message: Any) -> Question:
    said = {"text": text, "user": "U1", **message}
    ts, root = "1700009999.000100", "1700000000.000100"
    own = read_thread_message(said, ME)
    return Question("T1", "C1", ts, root, "U1", text, "channel", is_mention=True, message=own)


def read(*thread: Mapping[str, Any]) -> list[ThreadMessage]:
    return [read_thread_message(message, ME) for message in thread]


def said(number: int, text: str, user: str = "U2", **more: Any) -> Json:
    return {"ts": f"17000{number:05d}.000100", "user": user, "text": text, **more}


def own(number: int, text: str, **payload: Any) -> Json:
    payload = {"verdict": "answered", **payload}
    metadata = {"event_type": "footnote_answer", "event_payload": payload}
    return said(number, text, "U0FOOTNOTE", bot_id="B0FOOTNOTE", metadata=metadata)


def earlier(*thread: Json) -> list[tuple[str, str, str]]:
    conversation = build_conversation(ask(), read(*thread), ME, NAMES.get)
    return [(turn.speaker, turn.name, turn.text) for turn in conversation.earlier]


def test_each_turn_has_its_speaker() -> None:
    assert earlier(
        said(0, "", "U9", bot_id="B9", username="Alertmanager", attachments=[{"text": "FIRING"}]),
        said(1, "<@U0FOOTNOTE> what now, <@U1>?"),
        own(2, "Do this [a-0].", answer="x"),
        said(3, "", user="U3"),
    ) == [
        ("other_bot", "Alertmanager", "FIRING"),
        ("person", "kim", "what now, @sam?"),
        ("footnote", "footnote", "Do this [a-0]."),
    ]


def test_a_notice_with_text_of_the_docs_is_not_a_turn() -> None:
    metadata = {"event_type": NOTICE, "event_payload": {}}
    diff = own(2, "+Ignore what was said [a-0].") | {"metadata": metadata}
    assert [text for _, _, text in earlier(said(1, "why?"), diff)] == ["why?"]


def test_messages_after_the_question_are_not_context() -> None:
    assert earlier({**said(0, "before"), "ts": "1700009999.000101"}) == []


def test_parts_of_one_answer_are_one_turn_even_with_a_remark_between_two_answers() -> None:
    turns = earlier(
        own(1, "one", answer="x"),
        own(2, "two", answer="x"),
        said(3, "hm"),
        own(4, "three", answer="y"),
    )
    assert [text for _, _, text in turns] == ["one\n\ntwo", "hm", "three"]


def test_cited_chunks_come_from_the_metadata_and_from_the_text_where_slack_refused_them() -> None:
    thread = [
        own(1, "Do it [a-0].", answer="x", cited=[{"id": "a-0", "hash": "h"}]),
        own(2, "There is nothing about [b-1].", answer="y", cited=[]),
        own(3, "Old [b-1] answer [b-1].", answer="z"),
    ]
    first, second, last = build_conversation(ask(), read(*thread), ME, NAMES.get).earlier
    assert first.cited == (CitedChunk("a-0", "h"),)
    assert second.cited == ()
    assert last.cited is None  # the agent reads the ids in its text
    assert "[b-1]" in last.text


def test_the_parts_of_an_answer_cite_together() -> None:
    cited = [{"id": "a-0", "hash": "h"}]
    thread = [own(1, "one", answer="x", cited=cited), own(2, "two", answer="x", cited=[])]
    [turn] = build_conversation(ask(), read(*thread), ME, NAMES.get).earlier
    assert turn.cited == (CitedChunk("a-0", "h"),)
    thread[0]["metadata"]["event_payload"].pop("cited")  # refused by Slack
    [turn] = build_conversation(ask(), read(*thread), ME, NAMES.get).earlier
    assert turn.cited is None


def test_a_long_thread_is_handed_on_whole() -> None:
    thread = [said(0, "the alert"), *(said(n, f"update {n} {'x' * 100}") for n in range(1, 900))]
    assert len(earlier(*thread)) == len(thread)


def test_a_long_question_is_shortened_and_the_asker_is_told() -> None:
    question = ask("begin " + "word " * 8_000 + "end")
    text = question_text(question, ME, NAMES.get)
    assert len(text) < 13_000
    assert text.startswith("begin ")
    assert text.endswith("end")
    assert any("too long" in line for line in unread_notes(question))


def test_attached_files_are_named_as_not_read() -> None:
    question = ask(files=[{"name": "shot.png"}, {"name": "log.txt"}])
    notes = unread_notes(question)
    assert notes == ["Attachments (images, files) are not read: `shot.png`, `log.txt`."]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from(["user", "text", "blocks", "attachments", "files", "metadata", "bot_id"])


@settings(deadline=None)
@given(st.lists(st.dictionaries(FIELDS, JSON), max_size=4))
def test_no_message_is_strange_enough_to_lose_the_question(thread: list[Mapping[str, Any]]) -> None:
    stamped = [{**m, "ts": f"17000000{n:02d}.000100"} for n, m in enumerate(thread)]
    assert build_conversation(ask(), read(*stamped), ME, NAMES.get).question == "why?"


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab`\n <"), max_size=400))
def test_plain_parts_fit_balance_their_fences_and_lose_nothing(text: str) -> None:
    text = text.replace("`", "```")
    parts = plain_parts(text, 60)
    assert all(len(part) <= 60 for part in parts)
    assert not any("<" in part for part in parts)
    letters = "".join(c for c in text if c in "ab")
    assert "".join(c for part in parts for c in part if c in "ab") == letters if letters else parts


def test_metadata_holds_as_many_chunks_as_fit() -> None:
    cited = tuple(
        Passage(f"a/very/long/path/page-{n}", "p", "t", (), (1, 2), "x", "h" * 32)
        for n in range(200)
    )
    payload = answer_payload(Answer("a1", "q", "answered", citations=cited), ask(), 0, 2)
    cited_ids = read_metadata(payload).cited or ()
    assert 10 < len(cited_ids) < 200
    assert len(str(payload)) <= MAX_METADATA + 100
    assert (
        answer_payload(Answer("a1", "q", "answered", citations=cited), ask(), 1, 2)["cited"] == []
    )


def test_a_conversation_has_its_askers_id_for_their_daily_limit() -> None:
    assert build_conversation(ask(), [], ME, NAMES.get).asker_id == ask().user


def test_an_answer_is_complete_with_its_last_part() -> None:
    first, second = ({"answer": "x", "part": n, "parts": 2} for n in range(2))
    assert not is_complete([])
    assert not is_complete(read(own(1, "a", **first)))
    assert is_complete(read(own(1, "a", **first), own(2, "b", **second)))
    assert not is_complete(read(own(1, "a", answer="w", part=0, parts=1), own(2, "b", **first)))
    assert is_complete(read(own(1, "a", question="1")))


def test_messages_of_apps_and_emails_are_alerts_and_those_of_people_and_footnote_are_not() -> None:
    email = {"files": [{"name": "Disk full", "plain_text": "95 % on db-1"}]}
    assert alert_text(ask(), read(said(0, "Disk full", bot_id="B9"))) == "Disk full"
    assert "95 % on db-1" in alert_text(ask(), read(said(0, "", "USLACKBOT", **email)))
    assert alert_text(ask(), read(said(0, "Disk full"))) == ""
    assert alert_text(ask(), read(own(0, "Disk full, says the digest"))) == ""


JUNK = st.recursive(
    st.none() | st.integers() | st.text(max_size=6) | st.sampled_from(["U1", "U2", "U0FOOTNOTE"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(PLACES), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(PLACES), JUNK), max_size=4))
def test_no_message_in_a_thread_is_strange_enough_to_raise(messages: list[Json]) -> None:
    thread = read(*({**said(n, "how?"), **message} for n, message in enumerate(messages)))
    build_conversation(ask(), thread, ME, NAMES.get)
    decide(replace(ask("and then?"), is_mention=False), thread, ME, name_of=NAMES.get)
    is_complete(replies_to("1700000001.000100", thread))
    alert_text(ask(), thread)
    unread_notes(ask(), thread)
