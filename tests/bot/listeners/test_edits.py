"""Edited, deleted and unreadable questions, and messages without words in their text."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from bot.question.event import read_question
from bot.question.thread_message import read_thread_message
from tests.bot.conftest import Start
from tests.bot.stage import Json, Script, Slack
from tests.waiting import PATIENCE, wait_for

ONCALL = "U0ONCALL"
AT = "<@U0FOOTNOTE>"


def say(slack: Slack, text: str, **more: Any) -> str:
    body = {"channel": "C0INCIDENT", "user": ONCALL, "text": text, **more}
    return str(slack.post("say", **body)["ts"])


def event(kind: str, **fields: Any) -> Json:
    base = {"channel": "C0INCIDENT", "channel_type": "channel", "user": ONCALL}
    body = {"type": "event_callback", "team_id": "T0SANDBOX"}
    event_id = f"Ev{kind}{fields.get('ts')}{fields.get('subtype', '')}"
    return {**body, "event_id": event_id, "event": {"type": kind, **base, **fields}}


def answered_thread(slack: Slack) -> str:
    ts = say(slack, f"{AT} how do I roll back?")
    wait_for(lambda: slack.posts())
    return ts


@pytest.mark.parametrize("words", ["oops", f"{AT} stop"])
def test_the_answer_to_a_mention_is_called_off_if_its_new_words_ask_nothing(
    words: str, slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    running.decided(2)
    assert script.entered.wait(PATIENCE)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=words)
    wait_for(lambda: running.queue.idle)
    script.gate.set()
    running.settle(3)
    assert not slack.posts()


def test_a_follow_up_edited_into_thanks_is_called_off_and_answered_once_it_asks_again(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    root = answered_thread(slack)
    running.settle(2)
    script.gate.clear()
    script.entered.clear()
    ts = say(slack, "and how do I check it?", thread_ts=root)
    assert script.entered.wait(PATIENCE)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text="thanks, found it!")
    wait_for(lambda: running.queue.idle)
    script.gate.set()
    assert len(slack.posts()) == 1
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} and how do I check it?")
    wait_for(lambda: len(slack.posts()) == 2)


def test_a_follow_up_is_answered_in_its_new_words_although_its_thread_cannot_be_read(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    root = answered_thread(slack)
    running.settle(2)
    script.gate.clear()
    script.entered.clear()
    ts = say(slack, "and how do I check it?", thread_ts=root)
    assert script.entered.wait(PATIENCE)
    slack.post("fail", method="conversations.replies", error="invalid_auth", times=1)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text="and how do I undo it?")
    wait_for(lambda: script.conversations[-1].question == "and how do I undo it?")
    script.gate.set()
    running.settle(4)
    assert len(slack.posts()) == 2


def test_an_edit_that_comes_while_the_answer_is_posted_is_offered_an_answer_of_its_own(
    slack: Slack, start: Start, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start()
    client = running.clients.post
    post, posting, gate = client.chat_postMessage, threading.Event(), threading.Event()

    def post_slowly(**arguments: Any) -> Any:
        posting.set()
        assert gate.wait(PATIENCE)
        return post(**arguments)

    monkeypatch.setattr(client, "chat_postMessage", post_slowly)
    ts = say(slack, f"{AT} how do I rol back?")
    assert posting.wait(PATIENCE)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} how do I roll back?")
    running.decided(3)
    gate.set()
    wait_for(lambda: "footnote_again" in json.dumps(slack.messages("C0INCIDENT", ts)))
    running.settle(3)
    assert len(script.conversations) == 1


def test_a_process_that_gets_the_edit_takes_the_question_over(
    slack: Slack, start: Start, script: Script, tmp_path: Path
) -> None:
    shared = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    first = start(database_url=shared)
    script.gate.clear()
    ts = say(slack, f"{AT} how do I rol back?")
    first.decided(2)
    assert script.entered.wait(PATIENCE)
    second = start(database_url=shared)
    [message] = slack.messages("C0INCIDENT", ts)
    edited = {**message, "text": f"{AT} how do I roll back?", "edited": {"ts": ts}}
    question = read_question(
        read_thread_message(edited, second.me), second.me, channel="C0INCIDENT"
    )
    assert question is not None
    second.reviser.revise(question)
    wait_for(lambda: len(script.conversations) == 2)
    script.gate.set()
    wait_for(lambda: first.queue.idle and second.queue.idle)
    assert script.conversations[-1].question == "how do I roll back?"
    assert [post["metadata"]["event_payload"]["answer"] for post in slack.posts()] == [
        second.journal.answers()[0].id
    ]


def test_answer_again_is_completed_after_a_crash_and_the_first_answer_stays(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    ts = answered_thread(slack)
    first.settle(2)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} how do I roll back on eu?")
    wait_for(lambda: "footnote_again" in json.dumps(slack.messages("C0INCIDENT", ts)))
    script.gate.clear()
    script.entered.clear()
    [_, reply] = slack.messages("C0INCIDENT", ts)
    place = {"channel": "C0INCIDENT", "user": ONCALL, "ts": reply["ts"]}
    slack.post("click", **place, action_id="footnote_again")
    assert script.entered.wait(PATIENCE)
    first.die(script)
    script.gate.set()
    second = start()
    wait_for(lambda: len(slack.posts()) == 2)
    wait_for(lambda: second.queue.idle)
    assert len(slack.messages("C0INCIDENT", ts)) == 3
    assert script.conversations[-1].question == "how do I roll back on eu?"
    second.recovery.recover(at_start=True)
    assert len(slack.posts()) == 2


def test_a_question_that_was_deleted_before_its_event_came_is_not_answered(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    ts = "1764400001.000100"
    gone = event("message", subtype="message_deleted", deleted_ts=ts, ts="1764400003.000100")
    slack.deliver(gone)
    running.settle(1)
    slack.deliver(event("app_mention", text=f"{AT} how?", ts=ts))
    running.settle(2)
    assert not slack.posts()
    assert not script.conversations


def test_a_bare_mention_in_an_unreadable_thread_is_told_so(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    root = say(slack, "refunds are stuck")
    slack.post("fail", method="conversations.replies", error="missing_scope", times=0)
    say(slack, AT, thread_ts=root)
    [line] = wait_for(lambda: slack.posts())
    assert "could not read this thread" in line["text"]
    assert not script.conversations


@pytest.mark.parametrize("channel", ["C0INCIDENT", "D0ONCALL"])
def test_a_message_with_only_a_file_is_told_that_it_is_not_read(
    channel: str, slack: Slack, start: Start, script: Script
) -> None:
    start()
    text = AT if channel == "C0INCIDENT" else ""
    kind = "channel" if channel == "C0INCIDENT" else "im"
    files = [{"id": "F0SHOT", "name": "<!here> shot.png", "mimetype": "image/png"}]
    place = {"channel": channel, "channel_type": kind, "ts": "1764400001.000100"}
    slack.deliver(event("message", subtype="file_share", text=text, files=files, **place))
    [line] = wait_for(lambda: slack.posts())
    assert "not read: `&lt;!here&gt; shot.png`" in line["text"]
    assert not script.conversations


def test_under_a_snippet_without_words_a_bare_mention_names_the_snippet_as_unread(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    root = "1764400001.000100"
    files = [{"id": "F0LOG", "name": "crash.log", "mimetype": "text/plain"}]
    slack.deliver(event("message", subtype="file_share", text="", files=files, ts=root))
    say(slack, AT, thread_ts=root)
    [line] = wait_for(lambda: slack.posts())
    assert "not read: `crash.log`" in line["text"]
    assert not script.conversations


def test_a_follow_up_with_words_only_in_blocks_is_answered(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    root = answered_thread(slack)
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": "and then?"}]}
    blocks = [{"type": "rich_text", "elements": [section]}]
    slack.deliver(event("message", text="", blocks=blocks, ts="1999999999.000100", thread_ts=root))
    wait_for(lambda: len(slack.posts()) == 2)
    assert script.conversations[-1].question == "and then?"


def test_a_follow_up_that_asked_nothing_is_answered_once_it_was_edited_into_a_question(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    root = answered_thread(slack)
    running.settle(2)
    ts = say(slack, "ok", thread_ts=root)
    running.settle(3)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text="ok, and for the EU?")
    wait_for(lambda: len(slack.posts()) == 2)
    assert script.conversations[-1].question == "ok, and for the EU?"


def test_a_bare_mention_that_is_edited_into_a_question_is_answered_after_the_help(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    ts = say(slack, AT)
    wait_for(lambda: slack.posts())
    running.settle(2)
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} how do I roll back?")
    wait_for(lambda: len(slack.posts()) == 2)
    running.settle(3)
    assert [c.question for c in script.conversations] == ["how do I roll back?"]
    assert len(slack.posts()) == 2


def under_an_alert(slack: Slack, script: Script) -> tuple[str, str]:
    """Post an alert and a question, and wait for the runbook; the answer is under way."""
    script.gate.clear()
    root = say(slack, "RefundsStuck", bot="B0ALERTS")
    ts = say(slack, f"{AT} what now?", thread_ts=root)
    assert script.entered.wait(PATIENCE)
    return root, ts


def runbooks(slack: Slack, root: str) -> list[Json]:
    return [m for m in slack.messages("C0INCIDENT", root) if m.get("bot_id") == "B0FOOTNOTE"]


def test_a_runbook_is_deleted_with_its_question(slack: Slack, start: Start, script: Script) -> None:
    running = start()
    root, ts = under_an_alert(slack, script)
    assert len(runbooks(slack, root)) == 1
    slack.post("delete", channel="C0INCIDENT", ts=ts)
    wait_for(lambda: running.queue.idle)
    assert not runbooks(slack, root)


def test_a_runbook_stays_after_a_word_to_stop_without_its_promise(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    root, _ = under_an_alert(slack, script)
    say(slack, "stop", thread_ts=root)
    wait_for(lambda: running.queue.idle)
    [runbook] = runbooks(slack, root)
    assert runbook["text"].startswith("Runbook")
    assert "Stopped" in str(runbook["blocks"])
