"""A message of a thread, read once: who wrote it, and what Footnote's own metadata says."""

from typing import Any

import pytest

from agent.conversation import CitedChunk
from bot.question.thread_message import WriterKind, read_thread_message
from bot.slack.identity import NOTICE, REPLY, Identity

ME = Identity("U0FOOTNOTE", "B0FOOTNOTE", "T0SANDBOX")


def metadata(kind: str, **payload: Any) -> dict[str, Any]:
    return {"event_type": kind, "event_payload": payload}


@pytest.mark.parametrize(
    ("message", "writer"),
    [
        ({"user": "U1"}, "person"),
        ({"user": "U1", "subtype": "thread_broadcast"}, "person"),
        ({"user": "U1", "subtype": "channel_join"}, "slack"),
        ({"user": "USLACKBOT"}, "slack"),
        ({"subtype": "tombstone"}, "slack"),
        ({"user": "U1", "bot_id": "B1"}, "app"),
        ({"bot_profile": {"name": "alerts"}}, "app"),
        ({"user": "U0FOOTNOTE"}, "footnote"),
        ({"bot_id": "B0FOOTNOTE", "metadata": metadata(REPLY, answer="a")}, "footnote"),
        ({"bot_id": "B0FOOTNOTE", "metadata": metadata(NOTICE)}, "notice"),
        ({"bot_id": "B1", "metadata": metadata(NOTICE)}, "app"),
    ],
)
def test_the_writer_is_a_person_an_app_slack_or_footnote(
    message: dict[str, Any], writer: WriterKind
) -> None:
    assert read_thread_message(message, ME).writer == writer


def test_metadata_counts_only_in_footnotes_own_replies() -> None:
    payload = metadata(REPLY, answer="a", question="1.1", part=0, parts="many", cited=[{"id": "c"}])
    reply = read_thread_message({"bot_id": "B0FOOTNOTE", "metadata": payload}, ME).metadata
    assert reply is not None
    assert (reply.answer, reply.question, reply.part, reply.parts) == ("a", "1.1", 0, 1)
    assert reply.cited == (CitedChunk("c"),)
    assert read_thread_message({"user": "U1", "metadata": payload}, ME).metadata is None
