"""Event body -> Question, edit or deletion."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.question.event import Deleted, Edited, Key, Question, read_event
from bot.reading.mentions import mentioned, without_mention
from bot.slack.identity import Identity

ME = Identity("U0FOOTNOTE", "B0FOOTNOTE", "T0SANDBOX", "E0CORP")
AT = "<@U0FOOTNOTE>"


def envelope(**event: Any) -> dict[str, Any]:
    fields = {"type": "message", "user": "U0ONCALL", "ts": "1700000001.000100", "channel": "C0X"}
    return {"team_id": "T0SANDBOX", "event": {**fields, **event}}


def question(**event: Any) -> Question | None:
    found = read_event(envelope(**event), ME)
    return found if isinstance(found, Question) else None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{AT} where are the limits?", "where are the limits?"),
        (f"{AT}, where?", "where?"),
        (f"{AT}: where?", "where?"),
        ("<@U0FOOTNOTE|docs-bot> where?", "where?"),
        (f"please {AT} help with `a  b`", "please help with `a  b`"),
        (f"{AT} hey {AT} where?", "hey where?"),
        (f"thank you {AT}, but why?", "thank you, but why?"),
        (f"{AT}\n```\n  indented\n```", "```\n  indented\n```"),
        (AT, ""),
        ("&lt;@U0FOOTNOTE&gt; typed", "&lt;@U0FOOTNOTE&gt; typed"),
    ],
)
def test_footnotes_own_mention_is_removed_without_a_gap(text: str, words: str) -> None:
    assert without_mention(text, ME.user_id) == words


def test_a_mention_counts_anywhere_in_the_text_and_in_blocks_alone() -> None:
    rich = [{"type": "rich_text", "elements": [{"type": "user", "user_id": "U0FOOTNOTE"}]}]
    for found in (
        question(type="app_mention", text="no token left"),
        question(text=f"please {AT} help"),
        question(text="where?", blocks=rich),
    ):
        assert found is not None
        assert found.is_mention


def test_typed_text_that_looks_like_a_mention_does_not_count() -> None:
    assert question(text="write &lt;@U0FOOTNOTE&gt; to call it") is None


@pytest.mark.parametrize(
    "event",
    [
        {"text": "nobody asked"},
        {"text": AT, "bot_id": "B0ALERTS"},
        {"text": AT, "bot_profile": {"name": "x"}},
        {"text": AT, "user": "USLACKBOT"},
        {"text": AT, "user": "U0FOOTNOTE"},
        {"text": AT, "user": None},
        {"text": AT, "ts": None},
        {"text": AT, "subtype": "channel_topic"},
        {"text": AT, "subtype": "channel_join"},
        {"text": AT, "subtype": "bot_message"},
        {"text": AT, "hidden": True},
        {"text": AT, "channel": None},
        {"type": "reaction_added"},
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
    ],
)
def test_other_events_and_messages_are_not_questions(event: dict[str, Any]) -> None:
    assert read_event(envelope(**event), ME) is None


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast", "me_message"])
def test_files_broadcasts_and_me_messages_can_be_questions(subtype: str) -> None:
    assert question(text=f"{AT} why?", subtype=subtype) is not None


def test_a_reply_and_a_direct_message_need_no_mention() -> None:
    reply = question(text="and then?", thread_ts="1700000000.000100")
    direct = question(text="how?", channel="D0X", channel_type="im")
    assert reply is not None
    assert (reply.thread_ts, reply.in_thread, reply.is_mention) == (
        "1700000000.000100",
        True,
        False,
    )
    assert direct is not None
    assert (direct.thread_ts, direct.is_direct) == (direct.ts, True)


def test_a_message_in_the_apps_own_tab_is_direct() -> None:
    found = question(text="how?", channel="D0X", channel_type="app_home")
    assert found is not None
    assert found.is_direct


def test_a_field_of_a_wrong_type_counts_as_missing() -> None:
    junk = {"thread_ts": 17, "client_msg_id": {}, "channel_type": 3, "user_team": [], "team": 5}
    found = question(text=AT, **junk)
    assert found is not None
    assert (found.thread_ts, found.gesture, found.channel_type) == (found.ts, None, "channel")
    assert found.user_team is None


def test_a_mention_with_invisible_characters_is_a_bare_mention() -> None:
    found = question(text=f"{AT}\u00a0\u200b ")
    assert found is not None
    assert found.words == ""


def changed(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    base = {"type": "message", "user": "U0ONCALL", "ts": "1700000001.000100"}
    return envelope(
        subtype="message_changed",
        hidden=True,
        ts="1700000009.000100",
        message={**base, **now},
        previous_message={**base, **before},
    )


def test_an_edit_is_a_question_only_if_it_adds_the_mention() -> None:
    asked = read_event(changed({"text": f"{AT} why?", "edited": {}}, {"text": "why?"}), ME)
    assert isinstance(asked, Question)
    assert (asked.ts, asked.edited) == ("1700000001.000100", True)
    assert read_event(changed({"text": f"{AT} why?"}, {"text": f"{AT} wy?"}), ME) is None


def test_an_edit_that_removes_the_mention_edits_the_original_question() -> None:
    edited = read_event(changed({"text": "oops", "edited": {}}, {"text": f"{AT} why?"}), ME)
    assert isinstance(edited, Edited)
    assert (edited.question.words, edited.question.is_mention) == ("oops", False)
    assert read_event(changed({"text": "b", "edited": {}}, {"text": "a"}), ME) is None


def test_words_that_are_only_in_blocks_count() -> None:
    parts = [{"type": "user", "user_id": "U0FOOTNOTE"}, {"type": "text", "text": " where is it?"}]
    section = {"type": "rich_text_section", "elements": parts}
    found = question(text="", blocks=[{"type": "rich_text", "elements": [section]}])
    assert found is not None
    assert (found.is_mention, found.words) == (True, "where is it?")


def test_a_deletion_names_the_timestamp_of_the_deleted_message() -> None:
    gone = Deleted(Key("T0SANDBOX", "C0X", "1700000001.000100"))
    event = envelope(subtype="message_deleted", deleted_ts="1700000001.000100", ts="1700000009.0")
    assert read_event(event, ME) == gone
    stone = changed({"subtype": "tombstone", "text": "This message was deleted."}, {"text": AT})
    assert read_event(stone, ME) == gone


def test_people_and_groups_addressed_are_found_in_text_and_blocks() -> None:
    blocks = [
        {
            "elements": [
                {"type": "user", "user_id": "U2"},
                {"type": "usergroup", "usergroup_id": "S2"},
            ]
        }
    ]
    text = "<@U1|kim> <!subteam^S1|@team> <!here> <#C1|c> &lt;@U9&gt;"
    assert mentioned({"text": text, "blocks": blocks}) == {"U1", "S1", "U2", "S2", "here"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["type", "subtype", "user", "ts", "channel", "text", "message", "previous_message", "blocks",
     "thread_ts", "files", "bot_id", "hidden", "deleted_ts", "edited"]
)  # fmt: skip


@settings(deadline=None)
@given(
    st.dictionaries(NAMES, JSON),
    st.sampled_from(["message", "app_mention"]),
    st.sampled_from([None, "message_changed", "message_deleted", "file_share"]),
)
def test_no_payload_is_strange_enough_to_raise(
    event: dict[str, Any], kind: str, subtype: str | None
) -> None:
    read_event({"event": {**event, "type": kind, "subtype": subtype, "channel": "C0X"}}, ME)
