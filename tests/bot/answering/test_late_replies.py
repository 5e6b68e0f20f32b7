"""Half-posted answers, runbooks and edits while Slack does not accept a reply."""

import threading
from types import TracebackType
from typing import Any

import pytest

from agent.answer import Answer
from agent.conversation import Conversation
from bot.answering.outbox import Retries
from bot.channels import Channel, Channels
from tests.bot.answering.test_outbox import (
    AT,
    AT_ONCE,
    ONCALL,
    POST,
    long_answer,
    refuse,
    replies,
    say,
)
from tests.bot.conftest import Start
from tests.bot.stage import Running, Script, Slack, answered, lose_responses
from tests.waiting import PATIENCE, wait_for

INCIDENT = "C0INCIDENT"
LATE = "Slack did not accept it for an hour"
OUT_OF_DATE = Retries(first_pause=0.01, longest_pause=0.001, answer=0.0)


def taken(running: Running) -> None:
    """Wait until no reply waits for Slack."""
    wait_for(lambda: running.queue.idle and not running.journal.replies_not_taken(0.0))


def under_an_alert(slack: Slack, script: Script) -> tuple[str, str]:
    """Post an alert and a question, and wait for the runbook; the answer is under way."""
    script.gate.clear()
    root = say(slack, "QueueStuck", user="U0ALERTS", bot="B0ALERTS")
    ts = say(slack, f"{AT} what now?", thread_ts=root)
    wait_for(lambda: replies(slack, root))
    return root, ts


def test_the_line_after_an_hour_replaces_a_half_posted_answer(
    slack: Slack, start: Start, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(retries=OUT_OF_DATE)
    script.reply = long_answer
    posts = refuse(monkeypatch, running.clients.post, range(2, 5), ConnectionResetError)
    ts = say(slack, f"{AT} how do I roll back?")
    wait_for(lambda: len(posts) > 4)
    taken(running)
    assert [LATE in m["text"] for m in replies(slack, ts)] == [True]


def test_the_line_after_an_hour_replaces_a_streamed_reply(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(retries=OUT_OF_DATE)
    script.parts = [lambda conversation: answered(conversation, "Run it [payments-runbook-0].")]
    for method in ("chat.stopStream", "chat.update", "chat.delete", POST):
        slack.post("fail", method=method, status=500, times=2)
    ts = say(slack, "how do I roll back?", channel="D0ONCALL")
    wait_for(lambda: any(LATE in m["text"] for m in replies(slack, ts, "D0ONCALL")))
    taken(running)
    assert [LATE in m["text"] for m in replies(slack, ts, "D0ONCALL")] == [True]


def test_the_line_after_an_hour_is_private_if_answers_are(slack: Slack, start: Start) -> None:
    start(retries=OUT_OF_DATE, channels=Channels({INCIDENT: Channel(ephemeral=True)}))
    slack.post("fail", method="chat.postEphemeral", status=500)
    say(slack, f"{AT} how do I roll back?")
    [line] = wait_for(lambda: [m for m in slack.messages(INCIDENT) if LATE in m["text"]])
    assert line.get("_viewer") == ONCALL


def test_a_runbook_promises_no_answer_after_the_line_even_if_slack_failed_all_the_time(
    slack: Slack, start: Start, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(retries=OUT_OF_DATE)
    root, _ts = under_an_alert(slack, script)
    client = running.clients.post
    post, update, lines = client.chat_postMessage, client.chat_update, list[str]()

    def away(**_arguments: Any) -> Any:
        raise ConnectionRefusedError

    def post_lines_at_last(**arguments: Any) -> Any:
        lines.append(arguments["text"])
        if sum(LATE in text for text in lines) < 2:
            raise ConnectionRefusedError
        monkeypatch.setattr(client, "chat_update", update)
        return post(**arguments)

    monkeypatch.setattr(client, "chat_update", away)
    monkeypatch.setattr(client, "chat_postMessage", post_lines_at_last)
    script.gate.set()
    wait_for(lambda: len(replies(slack, root)) > 1)
    taken(running)
    runbook, _line = replies(slack, root)
    assert LATE in str(runbook["blocks"])


def test_a_runbook_promises_no_answer_after_the_answer_has_failed(
    slack: Slack, start: Start, script: Script
) -> None:
    def broken(_conversation: Conversation) -> Answer:
        raise ValueError("sesame")

    start()
    script.reply = broken
    root, _ts = under_an_alert(slack, script)
    script.gate.set()
    wait_for(lambda: len(replies(slack, root)) > 1)
    wait_for(lambda: "Something went wrong" in str(replies(slack, root)[0]))


def test_an_answer_whose_response_was_lost_does_not_replace_the_runbook_as_well(
    slack: Slack, start: Start, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(retries=AT_ONCE)
    root, ts = under_an_alert(slack, script)
    lost = lose_responses(monkeypatch, running.clients.post, "chat_postMessage")
    slack.post("fail", method="chat.update", status=500)
    slack.post("fail", method="conversations.replies", status=500, times=3)
    script.gate.set()
    wait_for(lambda: lost)
    taken(running)
    asked = [m["metadata"]["event_payload"]["question"] for m in replies(slack, root)]
    assert asked.count(ts) == 1


class Gap:
    """A lock that calls ``inside`` when a worker has released it for the first time."""

    def __init__(self, lock: threading.Lock, inside: Any) -> None:
        self._lock, self._inside = lock, inside

    def __enter__(self) -> bool:
        return self._lock.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.__exit__(kind, error, trace)
        if self._inside and threading.current_thread().name.startswith("answer-"):
            inside, self._inside = self._inside, None
            inside()


def test_an_edit_just_after_the_post_comes_too_late_and_is_not_lost(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    queue: Any = running.queue  # a gap of microseconds
    [pending] = queue._pending.values()
    too_late = threading.Event()
    queue._lock = Gap(queue._lock, lambda: queue.reword(pending.reply, too_late.set))
    script.gate.set()
    running.settle(2)
    assert too_late.is_set()
