"""A message in Slack -> its one reply, even if something fails on the way."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agent.answer import Answer
from agent.conversation import CitedChunk, Conversation
from bot.question.event import Key
from tests.bot.conftest import Start
from tests.bot.stage import RUNBOOK, Json, Script, Slack, answered
from tests.waiting import PATIENCE, wait_for

ONCALL, ENGINEER = "U0ONCALL", "U0ENGINEER"
AT = "<@U0FOOTNOTE>"


def say(slack: Slack, text: str, user: str = ONCALL, **more: Any) -> str:
    body = {"channel": "C0INCIDENT", "user": user, "text": text, **more}
    return str(slack.post("say", **body)["ts"])


def replies(slack: Slack, ts: str, channel: str = "C0INCIDENT") -> list[Json]:
    return [m for m in slack.messages(channel, ts) if m.get("bot_id") == "B0FOOTNOTE"]


def reply_to(slack: Slack, ts: str, channel: str = "C0INCIDENT") -> Json:
    found: Json = wait_for(lambda: replies(slack, ts, channel))[0]
    return found


def test_a_mention_gets_one_reply_in_its_thread(slack: Slack, start: Start) -> None:
    running = start()
    ts = say(slack, f"{AT} how do I roll back?")
    reply = reply_to(slack, ts)
    assert reply["thread_ts"] == ts
    running.settle(2)
    assert len(replies(slack, ts)) == 1
    [sent] = slack.posts()
    assert sent["unfurl_links"] is sent["unfurl_media"] is False
    assert sent["metadata"] == {
        "event_type": "footnote_answer",
        "event_payload": {
            "answer": sent["metadata"]["event_payload"]["answer"],
            "question": ts,
            "revision": "1a2b3c4d5e",
            "verdict": "answered",
            "part": 0,
            "parts": 1,
            "cited": [{"id": "payments-runbook-0", "hash": RUNBOOK.hash}],
        },
    }


def test_a_follow_up_brings_the_earlier_answer_and_what_it_cited(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    ts = say(slack, f"{AT} how do I roll back?")
    reply_to(slack, ts)
    say(slack, "and how do I check it?", thread_ts=ts)
    wait_for(lambda: len(replies(slack, ts)) == 2)
    asked, earlier, question = script.conversations[-1].turns
    assert (asked.name, asked.text) == ("oncall", "how do I roll back?")
    assert earlier.speaker == "footnote"
    assert "`kubectl rollout undo` [payments-runbook-0]" in earlier.text
    assert "Sources" not in earlier.text
    assert "https://" not in earlier.text
    assert earlier.cited == (CitedChunk("payments-runbook-0", RUNBOOK.hash),)
    assert question.text == "and how do I check it?"


def test_a_long_answer_comes_back_whole_from_its_parts(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    steps = "\n\n".join(f"Step {n}: {'word ' * 60}[payments-runbook-0]." for n in range(60))
    script.reply = lambda c: answered(c, steps)
    ts = say(slack, f"{AT} list all steps")
    running.settle(2)
    assert len(replies(slack, ts)) > 1
    say(slack, "what was step 57?", thread_ts=ts)
    wait_for(lambda: len(script.conversations) == 2)
    own = [t for t in script.conversations[1].earlier if t.speaker == "footnote"]
    assert len(own) == 1
    assert all(f"Step {n}:" in own[0].text for n in range(60))


def test_a_direct_message_is_answered_in_a_thread_of_its_own(slack: Slack, start: Start) -> None:
    start()
    ts = say(slack, "how do I roll back?", channel="D0ONCALL")
    assert reply_to(slack, ts, "D0ONCALL")["thread_ts"] == ts


def test_a_question_deleted_meanwhile_gets_no_answer(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    slack.post("delete", channel="C0INCIDENT", ts=ts)
    running.settle(3)
    assert not slack.posts()
    assert not slack.calls("chat.postEphemeral")


def test_stop_calls_off_the_answer_under_way(slack: Slack, start: Start, script: Script) -> None:
    running = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    stop = say(slack, "stop", thread_ts=ts)
    running.settle(3)
    assert not slack.posts()
    [reaction] = slack.calls("reactions.add")
    assert reaction["args"]["timestamp"] == stop


def test_the_asker_is_told_when_the_queue_is_full(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(workers=1, queue=1)
    script.gate.clear()
    for number in range(3):
        say(slack, f"{AT} question {number}?")
        running.decided(2 * (number + 1))
    [told] = slack.calls("chat.postEphemeral")
    assert "too many questions" in told["args"]["text"].lower()
    script.gate.set()
    wait_for(lambda: len(slack.posts()) == 2)


def test_a_failure_of_the_agent_is_a_line_with_a_reference_and_without_the_exception(
    slack: Slack, start: Start, script: Script
) -> None:
    def broken(_: Conversation) -> Answer:
        raise ValueError("sesame")

    start()
    script.reply = broken
    ts = say(slack, f"{AT} how do I roll back?")
    reply = reply_to(slack, ts)
    assert "reference" in reply["text"]
    assert "sesame" not in json.dumps(reply)
    assert "ValueError" not in json.dumps(reply)


@pytest.mark.parametrize("error", ["invalid_blocks", "msg_blocks_too_long", "msg_too_long"])
def test_content_that_slack_refuses_is_posted_as_plain_text(
    error: str, slack: Slack, start: Start, script: Script
) -> None:
    start()
    script.reply = lambda c: answered(c, "Ping <!channel> & run `x` [payments-runbook-0].")
    slack.post("fail", method="chat.postMessage", error=error)
    ts = say(slack, f"{AT} how do I roll back?")
    reply = reply_to(slack, ts)
    assert "blocks" not in slack.posts()[-1]
    assert "[payments-runbook-0]" in reply["text"]
    assert "<!channel>" not in reply["text"]


def test_a_long_answer_in_plain_text_is_whole(slack: Slack, start: Start, script: Script) -> None:
    start()
    lines = [f"qctl drain --queue payments-{n} --wait --timeout 5m" for n in range(100)]
    script.reply = lambda c: answered(c, "\n".join(["```", *lines, "```"]))
    slack.post("fail", method="chat.postMessage", error="invalid_blocks")
    say(slack, f"{AT} how do I drain the queues?")
    wait_for(lambda: "payments-99 " in "".join(post["text"] for post in slack.posts()))
    text = "\n".join(post["text"] for post in slack.posts())
    assert [line for line in lines if line not in text] == []


def test_content_refused_as_plain_text_too_is_one_short_line(slack: Slack, start: Start) -> None:
    start()
    slack.post("fail", method="chat.postMessage", error="invalid_blocks", times=2)
    ts = say(slack, f"{AT} how do I roll back?")
    assert "Reference" in reply_to(slack, ts)["text"]


def test_metadata_that_slack_refuses_is_left_out(slack: Slack, start: Start) -> None:
    start()
    slack.post("fail", method="chat.postMessage", error="metadata_too_large")
    reply = reply_to(slack, say(slack, f"{AT} how?"))
    assert "cited" not in reply["metadata"]["event_payload"]


@pytest.mark.parametrize(
    "error", ["not_in_channel", "is_archived", "token_revoked", "no_permission"]
)
def test_a_reply_that_slack_refuses_for_good_is_not_sent_again(
    error: str, slack: Slack, start: Start
) -> None:
    running = start()
    slack.post("fail", method="chat.postMessage", error=error, times=0)
    say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    assert len(slack.calls("chat.postMessage")) == 1


def test_footnote_waits_for_the_end_of_a_rate_limit(slack: Slack, start: Start) -> None:
    start()
    slack.post("fail", method="chat.postMessage", status=429, error="ratelimited", retry_after=1)
    assert reply_to(slack, say(slack, f"{AT} how?"))
    first, second = slack.calls("chat.postMessage")
    assert second["at"] - first["at"] >= 1


def test_the_reply_is_posted_once_after_a_server_error(slack: Slack, start: Start) -> None:
    running = start()
    slack.post("fail", method="chat.postMessage", status=503)
    ts = say(slack, f"{AT} how do I roll back?")
    reply_to(slack, ts)
    running.settle(2)
    assert len(replies(slack, ts)) == 1


def test_a_guest_is_refused_in_private(slack: Slack, start: Start, script: Script) -> None:
    running = start()
    say(slack, f"{AT} how?", user="U0GUEST")
    running.settle(2)
    assert not slack.posts()
    assert not script.conversations
    [told] = slack.calls("chat.postEphemeral")
    assert told["args"]["user"] == "U0GUEST"


def test_guests_may_ask_if_the_settings_allow_it(slack: Slack, start: Start) -> None:
    start(guests=True)
    reply_to(slack, say(slack, f"{AT} how?", user="U0GUEST"))


def test_a_shared_channel_is_answered_only_if_it_is_allowed(slack: Slack, start: Start) -> None:
    running = start(allowed_channels=("C0SHARED",))
    reply_to(slack, say(slack, f"{AT} how?", channel="C0SHARED"), "C0SHARED")
    say(slack, f"{AT} how?", channel="C0SHARED", user="U0EXTERNAL")
    running.settle(4)
    assert len(slack.posts()) == 1


def test_the_status_tells_what_happens_and_is_cleared(
    slack: Slack, start: Start, script: Script
) -> None:
    start()

    def shown() -> list[str]:
        return [c["args"]["status"] for c in slack.calls("assistant.threads.setStatus")]

    script.gate.clear()
    say(slack, f"{AT} how do I roll back?")
    wait_for(lambda: shown() == ["is thinking…"])
    script.gate.set()
    wait_for(lambda: shown()[1:] == [""])


def test_the_reply_is_posted_if_slack_refuses_the_status(slack: Slack, start: Start) -> None:
    start()
    slack.post("fail", method="assistant.threads.setStatus", error="invalid_thread_ts", times=0)
    reply_to(slack, say(slack, f"{AT} how?"))


def test_a_status_is_refreshed_before_slack_lets_it_fade(
    slack: Slack, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.reply.status.REFRESH_SECONDS", 0.05)
    monkeypatch.setattr("bot.reply.status.PAUSE_SECONDS", 0.01)
    running = start()
    ts = say(slack, "anything")
    status = running.statuses.open(Key("T0SANDBOX", "C0INCIDENT", ts), ts, "is thinking…")
    wait_for(lambda: len(slack.calls("assistant.threads.setStatus")) >= 3)
    status.close()
    wait_for(lambda: slack.calls("assistant.threads.setStatus")[-1]["args"]["status"] == "")


def test_an_answer_in_the_journal_holds_ids_and_numbers(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.reply = lambda c: replace(answered(c), seconds=1.5, model="claude-opus-5-5")
    ts = say(slack, f"{AT} how?")
    reply = reply_to(slack, ts)
    running.settle(2)
    record = running.journal.answer(reply["metadata"]["event_payload"]["answer"])
    assert record is not None
    assert (record.ts, record.user, record.reply_ts) == (ts, ONCALL, reply["ts"])
    assert (record.verdict, record.model, record.seconds) == ("answered", "claude-opus-5-5", 1.5)
    assert [c["id"] for c in record.citations] == ["payments-runbook-0"]


def test_a_question_edited_while_it_is_answered_gets_one_answer_to_its_new_words(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I rol back?")
    assert script.entered.wait(PATIENCE)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} how do I roll back?")
    wait_for(lambda: len(script.conversations) == 2)
    script.gate.set()
    reply_to(slack, ts)
    running.settle(3)
    assert script.conversations[-1].question == "how do I roll back?"
    assert len(replies(slack, ts)) == 1


def test_a_question_edited_after_its_answer_offers_to_answer_again(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    ts = say(slack, f"{AT} how do I rol back?")
    reply_to(slack, ts)
    running.settle(2)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} how do I roll back?")
    wait_for(lambda: slack.calls("chat.update"))
    assert len(replies(slack, ts)) == 1
    [reply] = replies(slack, ts)
    [button] = [b for b in reply["blocks"] if b.get("block_id") == "footnote_again"]
    assert button["elements"][0]["value"] == f"{ts} {ts}"
    place = {"channel": "C0INCIDENT", "ts": reply["ts"]}
    slack.post("click", user=ONCALL, action_id="footnote_again", **place)
    wait_for(lambda: len(replies(slack, ts)) == 2)
    assert script.conversations[-1].question == "how do I roll back?"
    assert "footnote_again" not in json.dumps(replies(slack, ts)[0])


def test_replies_in_threads_of_others_are_not_looked_up_again_and_again(
    slack: Slack, start: Start
) -> None:
    running = start()
    ts = say(slack, "deploying payments 4.12")
    for number, text in enumerate(("ok", "is it out?", "yes", "good")):
        say(slack, text, user=ENGINEER, thread_ts=ts)
        running.settle(number + 2)
    assert len(slack.calls("conversations.replies")) == 1
    assert not slack.calls("users.info")
    say(slack, f"{AT} where is the dashboard?", thread_ts=ts)
    reply_to(slack, ts)
    running.settle(7)
    say(slack, "and the alerts?", thread_ts=ts)
    wait_for(lambda: len(replies(slack, ts)) == 2)


def test_a_dozen_questions_in_one_channel_are_all_answered_at_one_message_a_second(
    slack: Slack, start: Start
) -> None:
    slack.post("rules", posting_limit=True)
    try:
        start()
        stamps = [say(slack, f"{AT} question {n}?") for n in range(12)]
        wait_for(lambda: len(slack.posts()) == 12)
        assert [len(replies(slack, ts)) for ts in stamps] == [1] * 12
    finally:
        slack.post("rules", posting_limit=False)


def test_the_stop_button_calls_the_answer_off(slack: Slack, start: Start, script: Script) -> None:
    running = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    slack.post("stop", user=ONCALL, channel="C0INCIDENT", thread_ts=ts)
    [word] = wait_for(lambda: slack.posts())
    running.settle(2)
    assert (word["thread_ts"], word["text"][:7]) == (ts, "Stopped")
    assert len(slack.posts()) == 1
