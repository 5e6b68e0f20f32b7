"""A reply that grows while it is written: checked paragraphs, nothing lost, nothing twice."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from agent.answer import Answer
from agent.conversation import Conversation
from bot.question.event import Key
from tests.bot.blocks.shown import shown
from tests.bot.conftest import Start
from tests.bot.stage import Json, Script, Slack, answered, lose_responses
from tests.waiting import PATIENCE, wait_for

ONCALL = "U0ONCALL"
AT = "<@U0FOOTNOTE>"
FIRST = "Run `kubectl rollout undo` [payments-runbook-0]."
SECOND = "Then look at the dashboard [payments-runbook-0]."
LAST = "That is all."
TEXT = f"{FIRST}\n\n{SECOND}\n\n{LAST}"


def part(text: str) -> Callable[[Conversation], Answer]:
    return lambda conversation: replace(answered(conversation, text), id="streamed")


@pytest.fixture
def script(script: Script) -> Script:
    """The agent shows two paragraphs before it ends."""
    script.parts = [part(FIRST), part(f"{FIRST}\n\n{SECOND}")]
    script.reply = part(TEXT)
    return script


def ask(slack: Slack, channel: str = "D0ONCALL", text: str = "how do I roll back?") -> str:
    return str(slack.post("say", channel=channel, user=ONCALL, text=text)["ts"])


def ask_and_wait(slack: Slack, script: Script, text: str = "how do I roll back?") -> str:
    """Ask, and wait until two paragraphs are shown; the answer ends when the gate opens."""
    script.gate.clear()
    ts = ask(slack, text=text)
    assert script.entered.wait(PATIENCE)
    return ts


def replies(slack: Slack, ts: str, channel: str = "D0ONCALL") -> list[Json]:
    return [m for m in slack.messages(channel, ts) if m.get("bot_id") == "B0FOOTNOTE"]


def whole(slack: Slack, ts: str, channel: str = "D0ONCALL") -> list[Json]:
    """The replies, once the answer is there in full."""

    def found() -> list[Json]:
        there = replies(slack, ts, channel)
        return there if any(m.get("metadata") for m in there) else []

    return list(wait_for(found))


def said(message: Json) -> str:
    """The answer's text in a message."""
    return shown([message]).text.strip()


def calls(slack: Slack) -> list[str]:
    streamed = ("chat.startStream", "chat.appendStream", "chat.stopStream")
    return [call["method"] for call in slack.calls(*streamed, "chat.update", "chat.postMessage")]


def test_in_a_direct_message_the_reply_grows_and_ends_with_sources_and_buttons(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    ts = ask(slack)
    [reply] = whole(slack, ts)
    running.settle(1)
    assert calls(slack) == ["chat.startStream", "chat.appendStream", "chat.stopStream"]
    begun, grown, ended = slack.calls("chat.startStream", "chat.appendStream", "chat.stopStream")
    chunks = [call["args"]["chunks"] for call in (begun, grown, ended)]
    assert [[chunk["type"] for chunk in each] for each in chunks] == [["blocks"]] * 3
    assert [shown(each).text.strip() for each in chunks] == [
        "Run kubectl rollout undo [payments-runbook-0].",
        "Then look at the dashboard [payments-runbook-0].",
        LAST,
    ]
    ids = [block.get("block_id") for block in reply["blocks"]]
    assert ids[-4:] == [
        "footnote_sources",
        "footnote_footer",
        "footnote_actions",
        "footnote_thumbs",
    ]
    payload = reply["metadata"]["event_payload"]
    assert (payload["answer"], payload["question"]) == ("streamed", ts)
    record = running.journal.answer("streamed")
    assert record is not None
    assert record.reply_ts == reply["ts"]


def test_what_was_streamed_is_what_a_whole_reply_says(
    slack: Slack, start: Start, script: Script
) -> None:
    start(stream="all")
    [streamed] = whole(slack, ask(slack))
    script.parts = []
    [posted] = whole(slack, ask(slack))
    assert said(streamed) == said(posted)


def test_a_follow_up_reads_a_streamed_answer_back(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    ts = ask(slack)
    whole(slack, ts)
    slack.post("say", channel="D0ONCALL", user=ONCALL, text="and then?", thread_ts=ts)
    wait_for(lambda: len(script.conversations) == 2)
    earlier = script.conversations[-1].earlier[-1]
    assert earlier.speaker == "footnote"
    assert [line for line in (FIRST, SECOND, LAST) if line not in earlier.text] == []
    assert [c.id for c in earlier.cited or ()] == ["payments-runbook-0"]


def test_channels_are_spared_unless_the_settings_say_otherwise(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    whole(slack, ask(slack, "C0INCIDENT", f"{AT} how?"), "C0INCIDENT")
    running.settle(2)
    assert calls(slack) == ["chat.postMessage"]


def test_in_a_channel_the_stream_names_its_reader(
    slack: Slack, start: Start, script: Script
) -> None:
    start(stream="all")
    [reply] = whole(slack, ask(slack, "C0INCIDENT", f"{AT} how?"), "C0INCIDENT")
    [begun] = slack.calls("chat.startStream")
    assert begun["response"]["ok"]
    assert begun["args"]["recipient_user_id"] == ONCALL
    assert begun["args"]["recipient_team_id"] == "T0SANDBOX"
    assert LAST in said(reply)


@pytest.mark.parametrize(
    "error", ["channel_type_not_supported", "unknown_method", "missing_scope", "ratelimited"]
)
def test_where_streams_are_refused_the_answer_comes_whole(
    error: str, slack: Slack, start: Start, script: Script
) -> None:
    start()
    slack.post("fail", method="chat.startStream", error=error, times=0)
    ts = ask(slack)
    [reply] = whole(slack, ts)
    assert said(reply).endswith(LAST)
    assert not slack.calls("chat.appendStream", "chat.stopStream")


@pytest.mark.parametrize(
    ("method", "error", "times"),
    [
        ("chat.appendStream", "message_not_in_streaming_state", 0),
        ("chat.appendStream", "internal_error", 0),
        ("chat.stopStream", "message_not_in_streaming_state", 1),
        ("chat.stopStream", "invalid_blocks", 1),
    ],
)
def test_a_stream_that_breaks_is_finished_in_its_place(
    method: str, error: str, times: int, slack: Slack, start: Start, script: Script
) -> None:
    start()
    slack.post("fail", method=method, error=error, times=times)
    [reply] = whole(slack, ask(slack))
    [begun] = slack.calls("chat.startStream")
    assert reply["ts"] == begun["response"]["ts"]
    assert said(reply).count("kubectl rollout undo") == 1
    assert said(reply).endswith(LAST)
    assert not slack.posts()


def test_a_stream_that_outlived_slack_s_five_minutes_is_finished_in_its_place(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    slack.post("rules", stream_seconds=0)
    try:
        [reply] = whole(slack, ask(slack))
    finally:
        slack.post("rules", stream_seconds=300)
    assert calls(slack) == [
        "chat.startStream",
        "chat.appendStream",
        "chat.stopStream",
        "chat.update",
    ]
    assert said(reply).endswith(LAST)


def test_an_append_over_the_limit_is_made_up_for_by_the_next(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    slack.post("fail", method="chat.appendStream", status=429, error="ratelimited", retry_after=1)
    [reply] = whole(slack, ask(slack))
    assert said(reply).count("dashboard") == 1
    assert calls(slack) == ["chat.startStream", "chat.appendStream", "chat.stopStream"]


def test_where_nothing_can_be_mended_the_half_goes_and_the_whole_comes(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    slack.post("fail", method="chat.stopStream", error="fatal_error", times=0)
    slack.post("fail", method="chat.update", error="edit_window_closed", times=0)
    ts = ask(slack)
    [reply] = whole(slack, ts)
    assert said(reply).endswith(LAST)
    assert reply["ts"] != slack.calls("chat.startStream")[0]["response"]["ts"]


def test_a_model_that_begins_anew_has_its_last_word(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    script.reply = part("Something else altogether [payments-runbook-0].")
    [reply] = whole(slack, ask(slack))
    assert said(reply).startswith("Something else altogether")
    assert "kubectl rollout undo" not in json.dumps(reply["blocks"][:1])
    assert "kubectl" not in said(reply)


def test_a_begun_stream_whose_word_was_lost_is_found_and_becomes_the_reply(
    slack: Slack, start: Start, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start()
    lose_responses(monkeypatch, running.clients.hint, "chat_startStream")
    [reply] = whole(slack, ask(slack))
    assert reply["ts"] == slack.calls("chat.startStream")[0]["response"]["ts"]
    assert said(reply).endswith(LAST)


def test_a_long_answer_goes_on_in_a_second_message(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    steps = [f"Step {n}: {'word ' * 60}[payments-runbook-0]." for n in range(60)]
    script.parts = [part("\n\n".join(steps[:end])) for end in (10, 30, 45)]
    script.reply = part("\n\n".join(steps))
    ts = ask(slack)
    running.settle(1)
    assert len([m for m in replies(slack, ts) if m.get("metadata")]) >= 2
    all_of_it = "\n".join(map(said, replies(slack, ts)))
    assert [n for n in range(60) if all_of_it.count(f"Step {n}:") != 1] == []
    first, *_, last = replies(slack, ts)
    assert not [b for b in first["blocks"] if b.get("block_id") == "footnote_thumbs"]
    assert [b for b in last["blocks"] if b.get("block_id") == "footnote_thumbs"]


def test_the_stop_button_ends_what_grows(slack: Slack, start: Start, script: Script) -> None:
    running = start()
    ts = ask_and_wait(slack, script)
    slack.post("stop", user=ONCALL, channel="D0ONCALL", thread_ts=ts)
    running.settle(2)
    [half] = replies(slack, ts)
    assert LAST not in said(half)
    assert "not complete" in json.dumps(half["blocks"][-1])
    assert "metadata" not in half
    noted = running.journal.message(Key("T0SANDBOX", "D0ONCALL", ts))
    assert noted is not None
    assert noted.state == "stopped"


def test_the_word_stop_leaves_a_line_under_what_was_shown(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    ts = ask_and_wait(slack, script)
    slack.post("say", channel="D0ONCALL", user=ONCALL, text="stop", thread_ts=ts)
    running.settle(2)
    [half] = replies(slack, ts)
    assert "not complete" in json.dumps(half["blocks"][-1])


def test_the_half_answer_of_a_deleted_question_goes_with_it(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    ts = ask_and_wait(slack, script)
    slack.post("delete", channel="D0ONCALL", ts=ts)
    running.settle(2)
    assert len(slack.calls("chat.delete")) == 1
    assert not replies(slack, ts)


def test_a_crash_in_the_middle_is_made_good_in_the_same_message(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    ts = ask_and_wait(slack, script)
    first.die(script)
    script.gate.set()
    start()
    [reply] = whole(slack, ts)
    assert reply["ts"] == slack.calls("chat.startStream")[0]["response"]["ts"]
    assert said(reply).count("kubectl rollout undo") == 1
    assert said(reply).endswith(LAST)


def test_sigterm_in_the_middle_is_said_and_made_good(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    ts = ask_and_wait(slack, script)
    first.queue.drain(0.1)
    [half] = replies(slack, ts)
    assert "restarting" in json.dumps(half["blocks"][-1])
    script.gate.set()
    start()
    [reply] = whole(slack, ts)
    assert reply["ts"] == half["ts"]
    assert "restarting" not in json.dumps(reply["blocks"])


def test_a_question_edited_in_the_middle_has_one_reply_to_its_new_words(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    ts = ask_and_wait(slack, script, "how do I rol back?")
    slack.post("edit", channel="D0ONCALL", ts=ts, text="how do I roll back?")
    wait_for(lambda: len(script.conversations) == 2)
    script.gate.set()
    [reply] = whole(slack, ts)
    assert said(reply).count("kubectl rollout undo") == 1


def test_an_agent_that_breaks_in_the_middle_says_so_under_what_was_shown(
    slack: Slack, start: Start, script: Script
) -> None:
    def broken(_: Conversation) -> Answer:
        raise ValueError("sesame")

    running = start()
    script.reply = broken
    ts = ask(slack)
    running.settle(1)
    [reply] = replies(slack, ts)
    assert "Something went wrong" in json.dumps(reply["blocks"][-1])
    assert "sesame" not in json.dumps(reply)
