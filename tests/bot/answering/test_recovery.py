"""Each question is answered once, over a crash, an orderly end and a second process."""

import shutil
import sqlite3
import threading
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.webhook import WebhookClient

from agent.answer import Answer
from agent.conversation import Conversation
from bot.listeners.bolt import BRIEF
from bot.question.event import Key
from bot.reply.in_private import InPrivate
from bot.reply.wording import LOOKING_UP, LOST, NOT_KEPT, RESTARTING
from tests.bot.answering.test_answering import AT, ONCALL, replies, reply_to, say
from tests.bot.conftest import Start
from tests.bot.journal.test_standby import renamed
from tests.bot.stage import Json, Script, Slack, answered
from tests.waiting import PATIENCE, wait_for


def test_after_a_crash_before_the_reply_the_next_start_answers(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    first.die(script)
    script.gate.set()
    assert not replies(slack, ts)
    second = start()
    reply_to(slack, ts)
    second.settle(0)
    assert len(replies(slack, ts)) == 1


def test_a_crash_between_reply_and_journal_does_not_answer_twice(
    slack: Slack, start: Start, script: Script, tmp_path: Path
) -> None:
    first = start()
    ts = say(slack, f"{AT} how do I roll back?")
    reply_to(slack, ts)
    first.settle(2)
    first.stop()
    (tmp_path / "journal.sqlite").unlink()  # nothing was written, and Slack delivers again
    second = start()
    event = {"type": "app_mention", "channel": "C0INCIDENT", "user": ONCALL, "ts": ts}
    body = {"type": "event_callback", "event": {**event, "text": f"{AT} how do I roll back?"}}
    slack.deliver({**body, "team_id": "T0SANDBOX", "event_id": "Ev1", "retry_num": 1})
    second.settle(1)
    assert len(replies(slack, ts)) == 1
    assert len(script.conversations) == 1


def test_sigterm_leaves_unfinished_answers_for_the_next_start(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    first.queue.drain(0.1)
    script.gate.set()
    start()
    reply_to(slack, ts)
    assert len(replies(slack, ts)) == 1


def test_two_replicas_answer_once(
    slack: Slack, start: Start, script: Script, database: str | None, tmp_path: Path
) -> None:
    url = database or f"sqlite:///{tmp_path}/shared.sqlite"
    one, two = start(database_url=url), start(database_url=url)
    stamps = [say(slack, f"{AT} question {n}?") for n in range(6)]
    wait_for(lambda: one.handled + two.handled >= 12)
    for running in (one, two):
        running.settle(0)
    assert [len(replies(slack, ts)) for ts in stamps] == [1] * 6
    assert len(script.conversations) == 6
    assert one.handled
    assert two.handled


def test_what_is_read_or_waits_to_be_read_when_the_process_ends_is_left_for_the_next_start(
    slack: Slack, start: Start
) -> None:
    first = start()
    root = say(slack, f"{AT} how do I roll back?")
    reply_to(slack, root)
    first.settle(2)
    slack.post("fail", method="conversations.replies", delay=0.7, times=2)
    stamps = [say(slack, f"{AT} and then?", thread_ts=root)]
    wait_for(lambda: first.handled >= 4)  # the thread is being read
    busy = threading.Event()
    for _ in range(8):
        first.listeners.submit(busy.wait)
    stamps.append(say(slack, f"{AT} what else?"))
    wait_for(lambda: first.handled >= 6)
    first.disconnect()
    first.listeners.shutdown(wait=False, cancel_futures=True)
    first.queue.drain(0)
    busy.set()
    wait([each for each in first.listeners.futures if not each.cancelled()], PATIENCE)
    second = start()
    wait_for(lambda: all(about(slack, root, ts) for ts in stamps))
    second.settle(0)
    assert [len(about(slack, root, ts)) for ts in stamps] == [1, 1]
    assert not [m for m in slack.messages("C0INCIDENT") if "_viewer" in m]


def test_an_edit_that_waits_when_the_process_ends_is_left_for_the_next_start(
    slack: Slack, start: Start
) -> None:
    first = start()
    root = say(slack, f"{AT} how do I roll back?")
    reply_to(slack, root)
    ts = say(slack, "thanks!", thread_ts=root)
    first.settle(3)
    busy = threading.Event()
    for _ in range(8):
        first.listeners.submit(busy.wait)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text="thanks! And for the EU?")
    wait_for(lambda: first.handled >= 4)
    first.disconnect()
    first.listeners.shutdown(wait=False, cancel_futures=True)
    busy.set()
    second = start()
    wait_for(lambda: about(slack, root, ts))
    second.settle(0)
    assert len(about(slack, root, ts)) == 1


def about(slack: Slack, root: str, ts: str) -> list[Json]:
    thread = [*slack.messages("C0INCIDENT", root), *slack.messages("C0INCIDENT", ts)]
    payloads = {
        m["ts"]: m["metadata"]["event_payload"]["question"] for m in thread if m.get("metadata")
    }
    return [m for m in thread if payloads.get(m["ts"]) == ts]


def test_who_asks_in_private_when_the_process_ends_is_told_so_once(
    slack: Slack, start: Start
) -> None:
    first = start()
    first.queue.drain(0)
    slack.post("command", channel="C0INCIDENT", user=ONCALL, text="how do I roll back?")
    seen = wait_for(lambda: whispers(slack) if len(whispers(slack)) > 1 else None)
    start()
    assert seen == whispers(slack) == [LOOKING_UP, RESTARTING]


def test_who_asked_in_private_before_a_crash_is_told_so_once_when_slack_accepts_it(
    slack: Slack, start: Start, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = start()
    script.gate.clear()
    slack.post("command", channel="C0INCIDENT", user=ONCALL, text="how do I roll back?")
    assert script.entered.wait(PATIENCE)
    monkeypatch.setattr(InPrivate, "whisper", lambda *_: False)  # no words from a dead process
    first.die(script)
    send, failures = WebhookClient.send_dict, list[Any]()

    def fail_twice(self: WebhookClient, message: Any) -> Any:
        if len(failures) < 2:
            failures.append(message)
            raise ConnectionRefusedError
        return send(self, message)

    monkeypatch.setattr(WebhookClient, "send_dict", fail_twice)
    second = start()
    for _ in range(3):
        second.recovery.recover(at_start=True)
    assert whispers(slack) == [LOOKING_UP, LOST]
    assert len(failures) == 2
    assert len(script.conversations) == 1


def test_events_that_come_after_the_end_are_kept_without_a_word_in_the_log(
    slack: Slack, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    first = start()
    first.listeners.shutdown()
    ts = say(slack, f"{AT} how?")
    wait_for(lambda: first.journal.message(Key("T0SANDBOX", "C0INCIDENT", ts)))
    wait_for(lambda: first.handled >= 2)
    first.disconnect()
    start()
    reply_to(slack, ts)
    assert not caplog.records


def test_lost_acknowledgements_are_one_line_in_the_log_and_lose_no_question(
    slack: Slack, start: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(_response: object) -> None:
        raise BrokenPipeError

    running = start()
    monkeypatch.setattr(BRIEF, "next", 0.0)
    monkeypatch.setattr(running.socket, "send_socket_mode_response", lose)
    stamps = [say(slack, f"{AT} how?") for _ in range(3)]
    for ts in stamps:
        reply_to(slack, ts)
    running.settle(0)
    assert [record.name for record in caplog.records] == ["slack_bolt.footnote"]
    assert "Traceback" not in caplog.text


def whispers(slack: Slack) -> list[str]:
    return [m["text"] for m in slack.messages("C0INCIDENT") if "_viewer" in m]


def test_a_ready_answer_is_posted_although_the_journal_went_away_meanwhile(
    slack: Slack, start: Start, script: Script, database: str | None, tmp_path: Path
) -> None:
    running = start(database_url=database)
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    with renamed(database, tmp_path):
        script.gate.set()
        reply = reply_to(slack, ts)
        assert NOT_KEPT in str(reply["blocks"])
        running.settle(2)
    wait_for(lambda: not running.journal.is_away)
    noted = running.journal.message(Key("T0SANDBOX", "C0INCIDENT", ts))
    assert noted is not None
    assert noted.state == "answered"


def test_two_replicas_without_their_database_post_one_answer(
    slack: Slack, start: Start, script: Script, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/shared.sqlite"
    running = [start(database_url=url) for _ in range(2)]
    turn = threading.Lock()

    def one_after_the_other(conversation: Conversation) -> Answer:
        if not turn.acquire(blocking=False):  # the second answer is ready after the first post
            wait_for(lambda: replies(slack, ts))
        return answered(conversation)

    script.reply = one_after_the_other
    script.gate.clear()
    with renamed(url, tmp_path):
        sent = slack.post("say", channel="C0INCIDENT", user=ONCALL, text=f"{AT} how?")
        ts = sent["ts"]
        wait_for(lambda: script.conversations)
        [mention] = [body for body in sent["events"] if body["event"]["type"] == "app_mention"]
        while len(script.conversations) < 2:
            slack.deliver(mention)
        script.gate.set()
        reply_to(slack, ts)
        for each in running:
            each.settle(0)
        assert len(replies(slack, ts)) == 1
    for each in running:
        wait_for(lambda: not each.journal.is_away)  # noqa: B023  # waited for here
        each.recovery.recover(at_start=False)
    assert len(replies(slack, ts)) == 1


def test_without_their_database_replicas_answer_each_mention_once_from_the_first(
    slack: Slack, start: Start, script: Script, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/shared.sqlite"
    running = [start(database_url=url) for _ in range(2)]
    with renamed(url, tmp_path):
        stamps = [say(slack, f"{AT} question {n}?") for n in range(6)]
        wait_for(lambda: sum(each.handled for each in running) >= 12)
        for each in running:
            each.settle(0)
    assert [len(replies(slack, ts)) for ts in stamps] == [1] * 6
    assert len(script.conversations) == 6


@pytest.mark.parametrize(
    "event", [{"type": "message"}, {"type": "app_mention", "retry_num": 1}], ids=str
)
def test_without_the_database_an_event_that_another_replica_may_have_is_answered_later(
    event: Json, slack: Slack, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.journal.claims._NOTED_SECONDS", 0.0)
    url, ts = f"sqlite:///{tmp_path}/shared.sqlite", "1790000000.000100"
    running = start(database_url=url)
    message = {"type": event["type"], "channel": "C0INCIDENT", "user": ONCALL, "ts": ts}
    body = {"type": "event_callback", "event": {**message, "text": f"{AT} how?"}}
    retry = {"retry_num": event["retry_num"]} if "retry_num" in event else {}
    with renamed(url, tmp_path):
        slack.deliver({**body, "team_id": "T0SANDBOX", "event_id": "Ev1", **retry})
        running.settle(1)
        assert not replies(slack, ts)
        running.recovery.recover(at_start=False)
        running.settle(1)
        assert len(replies(slack, ts)) == 1


def test_a_data_folder_that_is_removed_while_the_bot_runs_loses_no_question(
    slack: Slack, start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    running = start()
    stamps = [say(slack, f"{AT} how?")]
    reply_to(slack, stamps[0])
    running.settle(2)
    shutil.rmtree(tmp_path)
    stamps.append(say(slack, f"{AT} how?"))
    reply_to(slack, stamps[1])
    running.settle(4)
    wait_for(lambda: not running.journal.is_away)
    with sqlite3.connect(tmp_path / "journal.sqlite") as journal:
        rows = journal.execute("SELECT ts, state FROM messages ORDER BY ts").fetchall()
    assert rows == [(ts, "answered") for ts in stamps]
    assert caplog.text.count("it is made again") == 1
    assert "Traceback" not in caplog.text


def test_who_waits_when_the_process_ends_without_its_journal_is_told_to_ask_again(
    slack: Slack, start: Start, script: Script, tmp_path: Path
) -> None:
    running = start()
    script.gate.clear()
    with renamed(None, tmp_path):
        say(slack, f"{AT} how do I roll back?")
        assert script.entered.wait(PATIENCE)
        running.queue.drain(0.1)
        assert whispers(slack) == [RESTARTING]
