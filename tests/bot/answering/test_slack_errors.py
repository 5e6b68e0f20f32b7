"""Calls that Slack refuses or loses, and deliveries that are malformed."""

import json
import logging
from dataclasses import astuple, replace
from typing import Any

import pytest
from slack_bolt import App

from bot.question.event import Question
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.slack.clients import SlackRefused, identify, open_clients
from bot.slack.identity import REPLY
from bot.slack.socket_mode import SlackSocket
from tests.bot.conftest import Start
from tests.bot.stage import Json, Script, Slack, lose_responses
from tests.waiting import PATIENCE, wait_for

ONCALL = "U0ONCALL"
AT = "<@U0FOOTNOTE>"
PLACE = {"channel": "C0INCIDENT", "user": ONCALL}


def say(slack: Slack, text: str, **more: Any) -> str:
    return str(slack.post("say", **{**PLACE, "text": text, **more})["ts"])


def replies(slack: Slack, ts: str) -> list[Json]:
    return [m for m in slack.messages("C0INCIDENT", ts) if m.get("bot_id") == "B0FOOTNOTE"]


def reply_to(slack: Slack, ts: str) -> Json:
    found: Json = wait_for(lambda: replies(slack, ts))[0]
    return found


@pytest.mark.parametrize(
    "error",
    [
        "not_in_channel", "is_archived", "thread_locked", "missing_scope", "restricted_action",
        "restricted_action_read_only_channel",
    ],
)  # fmt: skip
def test_if_a_channel_accepts_no_reply_the_asker_is_told_why_in_a_direct_message(
    error: str, slack: Slack, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    running = start()
    slack.post("fail", method="chat.postMessage", error=error)
    slack.post("fail", method="chat.postEphemeral", error=error)
    ts = say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    assert not replies(slack, ts)
    [line] = [m["text"] for m in slack.messages("D0ONCALL") if m.get("bot_id")]
    assert line.startswith("I cannot reply to your question in <#C0INCIDENT>: ")
    assert f"no reply possible in C0INCIDENT: {error}" in caplog.text
    assert "xoxb" not in caplog.text
    [refusal] = running.journal.replies_not_taken(0.0)
    assert (refusal.channel, refusal.code, refusal.is_waiting) == ("C0INCIDENT", error, False)
    reply_to(slack, say(slack, f"{AT} and now?"))


def test_an_asker_who_can_be_told_in_the_channel_gets_no_direct_message(
    slack: Slack, start: Start
) -> None:
    running = start()
    slack.post("fail", method="chat.postMessage", error="restricted_action")
    say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    [line] = [m["text"] for m in slack.messages("C0INCIDENT") if "_viewer" in m]
    assert line.endswith("only some people may post there.")
    assert not slack.messages("D0ONCALL")


@pytest.mark.parametrize("error", ["channel_not_found", "thread_not_found", "message_not_found"])
def test_a_deleted_question_ends_without_a_line(error: str, slack: Slack, start: Start) -> None:
    running = start()
    slack.post("fail", method="chat.postMessage", error=error)
    say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    assert len(slack.calls("chat.postMessage", "chat.postEphemeral")) == 1


@pytest.mark.parametrize(
    "error",
    [
        "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_blocks_too_many",
        "msg_too_long", "markdown_text_conflict", "no_text", "invalid_arguments",
    ],
)  # fmt: skip
def test_content_that_is_refused_is_sent_once_more_as_plain_parts(
    error: str, slack: Slack, start: Start
) -> None:
    running = start()
    slack.post("fail", method="chat.postMessage", error=error)
    ts = say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    [reply] = replies(slack, ts)
    assert "[payments-runbook-0]" in reply["text"]
    assert len(slack.calls("chat.postMessage")) == 2


def test_a_reply_whose_response_was_lost_is_not_posted_again(
    slack: Slack, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start()
    lost = lose_responses(monkeypatch, running.clients.post, "chat_postMessage", times=1)
    ts = say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    assert lost
    assert len(replies(slack, ts)) == 1


@pytest.mark.parametrize(
    "error", ["missing_scope", "thread_not_found", "channel_not_found", "fatal_error"]
)
def test_a_question_is_answered_without_a_thread_that_cannot_be_read(
    error: str, slack: Slack, start: Start, script: Script
) -> None:
    start()
    root = say(slack, "ledger is slow")
    slack.post("fail", method="conversations.replies", error=error, times=0)
    say(slack, f"{AT} why?", thread_ts=root)
    reply_to(slack, root)
    assert script.conversations[-1].question == "why?"


def test_a_question_whose_thread_is_gone_ends(slack: Slack, start: Start, script: Script) -> None:
    running = start()
    root = say(slack, "ledger is slow")
    script.gate.clear()
    ts = say(slack, f"{AT} why?", thread_ts=root)
    assert script.entered.wait(PATIENCE)
    slack.post("fail", method="chat.postMessage", error="thread_not_found", times=0)
    slack.post("fail", method="conversations.replies", error="thread_not_found", times=0)
    script.gate.set()
    running.settle(3)
    assert not replies(slack, root)
    [call] = slack.calls("chat.postMessage")
    assert call["response"]["error"] == "thread_not_found"
    assert ts


def test_a_question_deleted_while_it_waits_is_not_answered(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(workers=1)
    script.gate.clear()
    first = say(slack, f"{AT} first?")
    assert script.entered.wait(PATIENCE)
    second = say(slack, f"{AT} second?")
    running.decided(4)
    slack.post("delete", channel="C0INCIDENT", ts=second)
    running.decided(5)
    script.gate.set()
    running.settle(5)
    assert len(replies(slack, first)) == 1
    assert not replies(slack, second)
    assert [c.question for c in script.conversations] == ["first?"]


def strange() -> list[Json]:
    event = {"type": "message", "channel": "C0INCIDENT", "ts": "1700000000.000100"}
    mention = {**event, "type": "app_mention", "text": f"{AT} how?", "user": ONCALL}
    events: list[Any] = [
        {},
        {"type": "message"},
        {**event, "user": ONCALL},
        {**event, "user": None, "text": None, "blocks": None, "attachments": None},
        {**event, "subtype": "message_changed"},
        {**event, "subtype": "message_changed", "message": {}, "previous_message": None},
        {**event, "subtype": "message_deleted"},
        {**event, "subtype": "a_new_subtype", "text": "x"},
        {name: value for name, value in mention.items() if name != "ts"},
        {name: value for name, value in mention.items() if name != "channel"},
        {"type": "agent_session_stopped"},
        {"type": "app_home_opened"},
        {"type": "an_event_of_next_year", "payload": [1, 2]},
    ]
    body = {"type": "event_callback", "team_id": "T0SANDBOX"}
    bodies = [{**body, "event_id": f"Ev{n}", "event": event} for n, event in enumerate(events)]
    return [*bodies, {"type": "event_callback", "event": {"type": "message"}}]


def test_payloads_with_missing_keys_and_unknown_events_are_acknowledged_once(
    slack: Slack, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    running = start()
    bodies = strange()
    with caplog.at_level(logging.ERROR):
        slack.deliver(*bodies)
        running.decided(len(bodies))
        assert not slack.posts()
        ts = say(slack, f"{AT} how do I roll back?")
        reply_to(slack, ts)
    # Nothing was delivered again for want of an acknowledgement.
    running.settle(len(bodies) + 2)
    assert running.handled == len(bodies) + 2
    assert not [record for record in caplog.records if "socket" not in record.getMessage()]


def test_a_message_of_forty_thousand_characters_is_answered_and_its_asker_told(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    ts = say(slack, f"{AT} why? {'stack trace ' * 3_300}"[:40_000])
    reply = reply_to(slack, ts)
    assert "too long to read whole" in json.dumps(reply["blocks"])
    assert len(script.conversations[-1].question) < 13_000


@pytest.mark.parametrize(
    "failure",
    [{"error": "internal_error"}, {"error": "fatal_error"}, {"status": 503}, {"status": 500}],
)
def test_a_question_is_kept_while_slack_fails_after_a_crash(
    failure: Json, slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    first.die(script)
    script.gate.set()
    slack.post("fail", method="conversations.replies", times=2, **failure)
    second = start()
    assert not replies(slack, ts)
    second.recovery.recover(at_start=True)
    second.settle(0)
    assert len(replies(slack, ts)) == 1


def test_a_claim_that_nobody_works_on_runs_out(slack: Slack, start: Start, script: Script) -> None:
    running = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    worked_on = running.journal.in_thread(running.me.team_id, "C0INCIDENT", ts)[0].key
    dropped = replace(worked_on, ts="1.1")
    team, channel, other = astuple(dropped)
    running.journal.note(
        Question(team, channel, other, other, ONCALL, "?", "channel", is_mention=True)
    )
    assert running.journal.claim(dropped)

    def leases() -> list[float]:
        noted = [running.journal.message(key) for key in (worked_on, dropped)]
        return [each.lease_until for each in noted if each is not None]

    before = leases()
    running.queue.renew()
    after = leases()
    assert after[0] > before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(
    "body",
    [
        {"type": "event_callback", "event": None},
        {"type": "event_callback", "event": 5},
        {"type": "event_callback", "event": {"type": None}},
        {"type": "block_actions", "actions": None},
        {"type": "block_actions", "actions": []},
        {"type": "view_submission", "view": None},
    ],
)
def test_a_malformed_delivery_is_acknowledged_and_ignored(
    body: Json, slack: Slack, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    running = start()
    slack.deliver(body)
    reply_to(slack, say(slack, f"{AT} how do I roll back?"))
    running.settle(3)
    assert running.handled == 3
    assert "Failed to run" not in caplog.text
    assert "ignored a delivery" in caplog.text


def test_a_refused_call_is_logged_once(
    slack: Slack, workspace: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    settings: Json = {"bot_token": "xoxb-sandbox"}
    slack.post("fail", method="apps.connections.open", error="invalid_auth", times=0)
    reachable = BotSettings(**settings, slack_api_url=workspace.api_url)
    app = App(client=open_clients(reachable).read, request_verification_enabled=False)
    with pytest.raises(SlackRefused, match=r"Socket Mode does not open \(invalid_auth\)"):
        SlackSocket(app, "xapp-sandbox").connect()
    away = BotSettings(**settings, slack_api_url="http://127.0.0.1:9/api/")
    with pytest.raises(SlackRefused, match="cannot be reached"):
        identify(open_clients(away).read)
    assert not [record for record in caplog.records if record.name.startswith("slack")]


@pytest.mark.parametrize("trouble", [{"error": "internal_error"}, {"status": 502}])
def test_reading_a_thread_is_repeated_if_slack_fails_once(
    trouble: Json, slack: Slack, start: Start, script: Script
) -> None:
    start()
    root = say(slack, "ledger is slow")
    slack.post("fail", method="conversations.replies", times=1, **trouble)
    say(slack, f"{AT} why?", thread_ts=root)
    reply_to(slack, root)
    assert [turn.text for turn in script.conversations[-1].earlier] == ["ledger is slow"]


def test_a_follow_up_is_answered_once_its_thread_can_be_read(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    root = say(slack, f"{AT} how do I roll back?")
    reply_to(slack, root)
    running.settle(2)
    slack.post("fail", method="conversations.replies", error="fatal_error", times=2)
    say(slack, "and how do I check it?", thread_ts=root)
    running.settle(3)
    assert len(replies(slack, root)) == 1
    running.recovery.recover(at_start=True)
    wait_for(lambda: len(replies(slack, root)) == 2)
    assert script.conversations[-1].question == "and how do I check it?"


def test_while_slack_limits_the_reading_of_threads_no_other_question_waits(
    slack: Slack,
    workspace: Sandbox,
    start: Start,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.slack.clients._SHORT_WAIT", 0)
    start(user_per_minute=0, channel_per_minute=0)
    root = say(slack, f"{AT} how do I roll back?")
    reply_to(slack, root)
    slack.post("fail", method="conversations.replies", status=429, retry_after=1, times=0)
    for _ in range(10):
        say(slack, f"{AT} and then?", thread_ts=root)
    other = say(slack, f"{AT} how?", channel="C0GENERAL")
    wait_for(lambda: slack.messages("C0GENERAL", other)[1:])
    assert len(replies(slack, root)) == 1
    workspace.slack.failures.clear()
    wait_for(lambda: len(replies(slack, root)) == 11)
    assert sum(bool(each.earlier) for each in script.conversations) == 10


def test_an_answer_that_a_crash_left_without_its_last_part_is_made_again(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    script.gate.clear()
    ts = say(slack, f"{AT} how do I roll back?")
    assert script.entered.wait(PATIENCE)
    payload = {"answer": "a1", "question": ts, "part": 0, "parts": 2}
    half = first.clients.post.chat_postMessage(
        channel="C0INCIDENT",
        thread_ts=ts,
        text="First half",
        metadata={"event_type": REPLY, "event_payload": payload},
    )
    first.die(script)
    script.gate.set()
    start()

    def made_again() -> Json | None:
        found = replies(slack, ts)
        return found[0] if len(found) == 1 and found[0]["ts"] != half["ts"] else None

    reply = wait_for(made_again)
    assert reply["metadata"]["event_payload"]["parts"] == 1
