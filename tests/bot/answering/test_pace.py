"""A channel that Slack has limited holds no worker, and its answers come in order."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from agent.answer import Answer
from agent.conversation import Conversation
from bot.channels import Channel, Channels
from tests.bot.answering.test_outbox import AT, NEVER, ONCALL, POST, long_answer, replies, say
from tests.bot.conftest import Start
from tests.bot.stage import Script, Slack, answered
from tests.waiting import wait_for

LONG_TIME = 3_600


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a limited channel take a message each 50 ms."""
    for module in ("bot.slack.pace", "bot.answering.outbox"):
        monkeypatch.setattr(f"{module}.INTERVAL", 0.05)


def limit(slack: Slack, seconds: int, method: str = POST, times: int = 1) -> None:
    slack.post("fail", method=method, error="ratelimited", retry_after=seconds, times=times)


def test_a_limited_channel_holds_no_worker_and_is_not_asked_again_before_its_time(
    slack: Slack, start: Start
) -> None:
    running = start(workers=1)
    limit(slack, LONG_TIME)
    for number in range(3):
        say(slack, f"{AT} question {number}?")
    running.settle(6)
    elsewhere = say(slack, f"{AT} and here?", channel="C0GENERAL")
    wait_for(lambda: replies(slack, elsewhere, "C0GENERAL"))
    running.settle(8)
    calls = slack.calls(POST)
    assert [call["args"]["channel"] for call in calls] == ["C0INCIDENT", "C0GENERAL"]
    left = running.journal.replies_not_taken(0.0)
    assert [(reply.channel, reply.code) for reply in left] == [("C0INCIDENT", "ratelimited")] * 3


def test_answers_of_a_limited_channel_are_posted_in_the_order_in_which_they_were_ready(
    slack: Slack, start: Start
) -> None:
    running = start(workers=1, retries=NEVER)
    limit(slack, 1)
    asked = []
    for number in range(5):
        asked.append(say(slack, f"{AT} question {number}?"))
        running.settle(2 * number + 2)
    wait_for(lambda: all(replies(slack, ts) for ts in asked))
    running.settle(10)
    assert [post["metadata"]["event_payload"]["question"] for post in slack.posts()] == asked
    assert len(slack.calls(POST)) == 6


def test_parts_of_an_answer_stay_in_order_in_a_limited_channel(
    slack: Slack, start: Start, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(retries=NEVER)
    script.reply = long_answer
    post = running.clients.post.chat_postMessage

    def post_and_limit(**arguments: Any) -> Any:
        response = post(**arguments)
        limit(slack, 1)
        return response

    monkeypatch.setattr(running.clients.post, "chat_postMessage", post_and_limit)
    ts = say(slack, f"{AT} how do I roll back?")
    wait_for(
        lambda: (
            (own := replies(slack, ts))
            and len(own) == own[0]["metadata"]["event_payload"]["parts"] > 1
        )
    )
    parts = [m["metadata"]["event_payload"]["part"] for m in replies(slack, ts)]
    assert parts == list(range(len(parts)))
    assert len(script.conversations) == 1


@pytest.mark.parametrize("method", ["chat.stopStream", POST])
def test_a_streamed_answer_waits_and_is_neither_deleted_nor_posted_anew(
    method: str, slack: Slack, start: Start, script: Script
) -> None:
    running = start(retries=NEVER)
    script.parts = [lambda conversation: answered(conversation, "Run it [payments-runbook-0].")]
    script.reply = lambda conversation: answered(
        conversation, "Run it [payments-runbook-0].\n\nThen wait [payments-runbook-0]."
    )
    limit(slack, 1, method)
    ts = say(slack, "how do I roll back?", channel="D0ONCALL")
    wait_for(lambda: any("Then wait" in str(m) for m in replies(slack, ts, "D0ONCALL")))
    running.settle(1)
    assert len(replies(slack, ts, "D0ONCALL")) == 1
    assert not slack.calls("chat.delete", "chat.update", POST)


def test_a_runbook_is_replaced_when_slack_allows_it_and_not_followed_by_a_second_message(
    slack: Slack, start: Start
) -> None:
    running = start(retries=NEVER)
    limit(slack, 1, "chat.update")
    root = say(slack, "QueueStuck", user="U0ALERTS", bot="B0ALERTS")
    say(slack, f"{AT} what now?", thread_ts=root)
    wait_for(lambda: "rollout undo" in str(replies(slack, root)))
    running.settle(3)
    assert len(replies(slack, root)) == 1


def test_a_private_answer_waits_for_the_limit_of_its_channel_too(
    slack: Slack, start: Start
) -> None:
    start(retries=NEVER, channels=Channels({"C0INCIDENT": Channel(ephemeral=True)}))
    limit(slack, 1, "chat.postEphemeral")
    say(slack, f"{AT} how do I roll back?")
    [answer] = wait_for(
        lambda: [m for m in slack.messages("C0INCIDENT") if "rollout undo" in m["text"]]
    )
    assert answer["_viewer"] == ONCALL


def test_help_in_a_limited_channel_waits_without_a_thread_and_comes_later(
    slack: Slack, start: Start
) -> None:
    running = start()
    limit(slack, LONG_TIME)
    say(slack, AT)
    running.settle(2)
    elsewhere = say(slack, AT, channel="C0GENERAL")
    wait_for(lambda: replies(slack, elsewhere, "C0GENERAL"))


def test_an_edit_is_answered_although_the_first_answer_waits_in_a_limited_channel(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(retries=NEVER)
    limit(slack, LONG_TIME)
    ts = say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} how do I roll forward?")
    wait_for(lambda: len(script.conversations) == 2)
    assert script.conversations[-1].question == "how do I roll forward?"


def by_turns(permits: threading.Semaphore) -> Callable[[Conversation], Answer]:
    def reply(conversation: Conversation) -> Answer:
        permits.acquire()
        return answered(conversation)

    return reply


def test_a_channel_with_many_questions_does_not_delay_one_elsewhere(
    slack: Slack, start: Start, script: Script
) -> None:
    permits = threading.Semaphore(0)
    script.reply = by_turns(permits)
    running = start(workers=2)
    for number in range(6):
        say(slack, f"{AT} question {number}?")
    running.decided(12)
    say(slack, f"{AT} and here?", channel="C0GENERAL")
    wait_for(lambda: script.conversations[-1].question == "and here?")
    assert len(script.conversations) == 3
    permits.release(7)
    running.settle(14)


def test_the_status_says_how_many_are_ahead_and_again_when_they_are_fewer(
    slack: Slack, start: Start, script: Script
) -> None:
    permits = threading.Semaphore(0)
    script.reply = by_turns(permits)
    running = start(workers=1)
    for number in range(4):
        say(slack, f"{AT} question {number}?")
        running.decided(2 * number + 2)
        wait_for(lambda: script.conversations)
    last = say(slack, f"{AT} and I?")

    def lines() -> list[str]:
        calls = [call["args"] for call in slack.calls("assistant.threads.setStatus")]
        return [args["status"] for args in calls if args["thread_ts"] == last]

    wait_for(lambda: "is waiting: 4 ahead…" in lines())
    permits.release(2)
    wait_for(lambda: "is waiting: 2 ahead…" in lines())
    permits.release(3)
    running.settle(10)


def test_the_time_of_an_answer_begins_with_its_question(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(workers=1)
    script.gate.clear()
    for text in ("first?", "second?"):
        say(slack, f"{AT} {text}")
    running.decided(4)
    [first] = wait_for(lambda: list(script.conversations))
    script.gate.set()
    running.settle(4)
    assert script.conversations[1].waited > first.waited
