"""A ready answer waits until Slack accepts it, and is posted once."""

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from slack_sdk.webhook import WebhookClient, WebhookResponse
from typer.testing import CliRunner

from agent.answer import Answer
from agent.conversation import Conversation
from bot.answering.outbox import Retries
from bot.cli import app
from bot.journal.not_taken import NotTaken
from bot.listeners.home import reply_lines
from tests.bot.conftest import Start
from tests.bot.stage import Json, Script, Slack, answered, lose_responses
from tests.waiting import PATIENCE, wait_for

ONCALL = "U0ONCALL"
AT = "<@U0FOOTNOTE>"
POST = "chat.postMessage"
AT_ONCE = Retries(first_pause=0.01, longest_pause=0.01)
NEVER = Retries(first_pause=PATIENCE * 10, longest_pause=PATIENCE * 10)
LONG = "\n\n".join(f"Step {n}: " + "turn the valve a little. " * 60 for n in range(12))


def say(slack: Slack, text: str, channel: str = "C0INCIDENT", **more: Any) -> str:
    return str(
        slack.post("say", **{"channel": channel, "user": ONCALL, "text": text, **more})["ts"]
    )


def replies(slack: Slack, ts: str, channel: str = "C0INCIDENT") -> list[Json]:
    return [m for m in slack.messages(channel, ts) if m.get("bot_id") == "B0FOOTNOTE"]


def waiting(running: Any) -> list[str]:
    return [reply.code for reply in running.journal.replies_not_taken(0.0) if reply.is_waiting]


def long_answer(conversation: Conversation) -> Answer:
    return answered(conversation, f"{LONG} [payments-runbook-0].")


@pytest.mark.parametrize(
    "failure",
    [
        {"status": 500}, {"status": 503}, {"error": "internal_error"}, {"error": "invalid_auth"},
        {"error": "token_revoked"}, {"error": "token_expired"}, {"error": "account_inactive"},
        {"error": "org_login_required"}, {"error": "something_slack_will_think_of"},
    ],
)  # fmt: skip
def test_a_waiting_answer_is_posted_once_and_not_made_again(
    failure: Json, slack: Slack, start: Start, script: Script
) -> None:
    running = start(retries=AT_ONCE)
    slack.post("fail", method=POST, times=9, **failure)
    ts = say(slack, f"{AT} how do I roll back?")
    [reply] = wait_for(lambda: replies(slack, ts))
    assert "kubectl rollout undo" in reply["text"]
    running.settle(2)
    assert len(replies(slack, ts)) == 1
    assert len(script.conversations) == 1
    assert not running.journal.replies_not_taken(0.0)


def test_askers_and_operators_see_that_a_reply_waits_for_slack(slack: Slack, start: Start) -> None:
    running = start(retries=NEVER)
    slack.post("fail", method=POST, error="invalid_auth")
    say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    assert waiting(running) == ["invalid_auth"]
    shown = wait_for(
        lambda: [
            call
            for call in slack.calls("assistant.threads.setStatus")
            if "waits for Slack" in call["args"]["status"]
        ]
    )
    assert shown


def test_waiting_answers_are_sent_when_slack_accepts_another_one(
    slack: Slack, start: Start
) -> None:
    running = start(retries=NEVER, workers=1)
    slack.post("fail", method=POST, error="invalid_auth", times=2)
    asked = [say(slack, f"{AT} question {n}?") for n in range(2)]
    running.settle(4)
    assert waiting(running) == ["invalid_auth"] * 2
    asked.append(say(slack, f"{AT} and this?"))
    wait_for(lambda: all(replies(slack, ts) for ts in asked))


def refuse(
    monkeypatch: pytest.MonkeyPatch, client: Any, calls: range, error: type[Exception]
) -> list[Any]:
    """Fail the posts with these numbers, counted from 1. Return the arguments of all posts."""
    post, posts = client.chat_postMessage, list[Any]()

    def post_or_fail(**arguments: Any) -> Any:
        posts.append(arguments)
        if len(posts) in calls:
            raise error
        return post(**arguments)

    monkeypatch.setattr(client, "chat_postMessage", post_or_fail)
    return posts


def test_accepted_parts_of_an_answer_are_not_sent_again(
    slack: Slack, start: Start, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(retries=AT_ONCE)
    script.reply = long_answer
    refuse(monkeypatch, running.clients.post, range(2, 6), ConnectionRefusedError)
    ts = say(slack, f"{AT} how do I roll back?")
    parts = wait_for(lambda: (own := replies(slack, ts)) and len(own) > 1 and own)
    running.settle(2)
    payloads = [m["metadata"]["event_payload"] for m in replies(slack, ts)]
    assert [p["part"] for p in payloads] == list(range(payloads[0]["parts"]))
    assert len(parts) > 1
    assert len(script.conversations) == 1


def test_a_post_whose_response_was_lost_is_not_repeated_while_the_thread_is_unreadable(
    slack: Slack, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start(retries=AT_ONCE)
    lost = lose_responses(monkeypatch, running.clients.post, "chat_postMessage")
    slack.post("fail", method="conversations.replies", status=500, times=5)
    ts = say(slack, f"{AT} how do I roll back?")
    wait_for(lambda: not running.journal.replies_not_taken(0.0) and running.queue.idle and lost)
    running.settle(2)
    assert len(lost) == 1
    assert len(replies(slack, ts)) == 1


def test_a_line_after_an_hour_has_a_button_to_try_again(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(retries=Retries(first_pause=0.01, longest_pause=0.001, answer=0.0))
    slack.post("fail", method=POST, status=500, times=3)
    ts = say(slack, f"{AT} how do I roll back?")
    [line] = wait_for(lambda: replies(slack, ts))
    running.settle(2)
    assert "Slack did not accept it for an hour" in line["text"]
    assert "Try again" in json.dumps(line["blocks"])
    assert len(script.conversations) == 1
    place = {"channel": "C0INCIDENT", "ts": line["ts"]}
    slack.post("click", user=ONCALL, action_id="footnote_again", **place)
    [_line, answer] = wait_for(lambda: (own := replies(slack, ts)) and len(own) == 2 and own)
    assert "kubectl rollout undo" in answer["text"]
    assert "Try again" not in json.dumps(replies(slack, ts)[0]["blocks"])


def test_a_question_ends_if_slack_does_not_accept_the_line_either(
    slack: Slack, start: Start
) -> None:
    running = start(retries=Retries(0.01, 0.001, answer=0.0, line=0.05))
    slack.post("fail", method=POST, error="invalid_auth", times=0)
    slack.post("fail", method="chat.postEphemeral", error="invalid_auth", times=0)
    say(slack, f"{AT} how do I roll back?")
    running.decided(2)

    def ended() -> bool:
        left = running.journal.replies_not_taken(0.0)
        return bool(left) and not left[0].is_waiting

    wait_for(ended)


def test_after_a_restart_the_question_is_answered_once(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start(retries=NEVER)
    slack.post("fail", method=POST, error="token_revoked", times=2)
    ts = say(slack, f"{AT} how do I roll back?")
    first.settle(2)
    first.stop()
    second = start()
    wait_for(lambda: replies(slack, ts))
    second.settle(0)
    assert len(replies(slack, ts)) == 1


def test_the_end_of_a_process_tries_once_more(slack: Slack, start: Start, script: Script) -> None:
    running = start(retries=NEVER)
    slack.post("fail", method=POST, error="token_revoked")
    ts = say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    assert waiting(running)
    running.queue.drain(PATIENCE)
    assert len(replies(slack, ts)) == 1
    assert len(script.conversations) == 1


@pytest.mark.parametrize("is_thread_readable", [True, False])
def test_a_question_edited_while_its_answer_waits_is_answered_in_its_new_words(
    is_thread_readable: bool, slack: Slack, start: Start, script: Script
) -> None:
    running = start(retries=NEVER)
    slack.post("fail", method=POST, error="invalid_auth")
    ts = say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    if not is_thread_readable:
        slack.post("fail", method="conversations.replies", error="invalid_auth")
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} how do I roll forward?")
    wait_for(lambda: replies(slack, ts))
    running.settle(3)
    assert len(replies(slack, ts)) == 1
    assert script.conversations[-1].question == "how do I roll forward?"


def test_a_question_deleted_while_its_answer_waits_is_not_answered(
    slack: Slack, start: Start
) -> None:
    running = start(retries=NEVER)
    slack.post("fail", method=POST, error="invalid_auth")
    ts = say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    slack.post("delete", channel="C0INCIDENT", ts=ts)
    running.settle(3)
    wait_for(lambda: not waiting(running))
    later = say(slack, f"{AT} and now?")
    wait_for(lambda: replies(slack, later))
    assert not replies(slack, ts)


def test_a_streamed_reply_becomes_the_answer_after_a_wait(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(retries=AT_ONCE)
    script.parts = [lambda conversation: answered(conversation, "Run it [payments-runbook-0].")]
    methods = ("chat.stopStream", "chat.update", "chat.delete", POST)
    for method in methods:
        slack.post("fail", method=method, status=500, times=4)
    ts = say(slack, "how do I roll back?", channel="D0ONCALL")
    wait_for(lambda: any("rollout undo" in str(m) for m in replies(slack, ts, "D0ONCALL")))
    running.settle(1)
    wait_for(lambda: not running.journal.replies_not_taken(0.0))
    assert len(replies(slack, ts, "D0ONCALL")) == 1


def test_help_that_slack_does_not_accept_is_sent_in_the_next_round(
    slack: Slack, start: Start
) -> None:
    running = start()
    slack.post("fail", method=POST, error="invalid_auth", times=2)
    ts = say(slack, AT)
    running.settle(2)
    for _ in range(3):
        running.recovery.recover(at_start=True)
        running.settle(2)
    [line] = replies(slack, ts)
    assert "Ask me something about the docs" in line["text"]


def test_a_private_answer_waits_for_its_response_url(
    slack: Slack, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([503, 502, 429])
    send = WebhookClient.send_dict

    def fail_at_first(self: WebhookClient, body: Json, headers: Any = None) -> WebhookResponse:
        if "rollout" in str(body) and (status := next(failures, None)):
            return WebhookResponse(url=self.url, status_code=status, body="", headers={})
        return send(self, body, headers)

    monkeypatch.setattr(WebhookClient, "send_dict", fail_at_first)
    running = start(retries=AT_ONCE)
    slack.post("command", channel="C0INCIDENT", user=ONCALL, text="how do I roll back?")
    wait_for(lambda: [m for m in slack.messages("C0INCIDENT") if "rollout" in str(m)])
    running.settle(1)
    assert len([m for m in slack.messages("C0INCIDENT") if "rollout" in str(m)]) == 1


def test_status_counts_replies_by_slacks_error_and_names_no_channel() -> None:
    refused = [NotTaken("C0SECRET", "is_archived", 0.0, False) for _ in range(2)]
    lines = reply_lines([NotTaken("C0SECRET", "invalid_auth", 0.0, True), *refused])
    assert lines == snapshot(
        [
            ":warning: *Replies* that wait for Slack: `invalid_auth` 1.",
            ":warning: *Replies* that were refused in the last day: `is_archived` 2.",
        ]
    )
    assert reply_lines([]) == []


def test_footnote_status_lists_the_replies_that_slack_has_not_accepted(
    slack: Slack,
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = start(retries=NEVER)
    slack.post("fail", method=POST, error="invalid_auth")
    say(slack, f"{AT} how do I roll back?")
    running.settle(2)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path))
    told = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)
    [reply] = told["replies"]
    assert reply["waiting"]
    assert (reply["channel"], reply["code"]) == ("C0INCIDENT", "invalid_auth")
    lines = CliRunner().invoke(app, ["status"]).stdout
    assert f"in C0INCIDENT waits for Slack: {reply['code']}" in lines
