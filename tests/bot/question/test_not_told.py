"""While Slack does not say who asks, or who reads a channel, nobody is let in by mistake."""

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from slack_sdk import WebClient

from bot.channels import Channel
from bot.question.access import TRY_AGAIN, Access, Asker
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.slack.identity import Identity
from bot.slack.people import NotTold, People
from tests.bot.conftest import Start
from tests.bot.stage import Json, Script, Slack
from tests.waiting import wait_for

AT = "<@U0FOOTNOTE>"
GUEST, MEMBER, INCIDENT = "U0GUEST", "U0ONCALL", "C0INCIDENT"
FAILURES: list[Json] = [{"error": "ratelimited"}, {"error": "missing_scope"}, {"status": 503}]


@pytest.fixture
def people(slack: Slack, workspace: Sandbox) -> People:
    return People(WebClient("xoxb-sandbox", base_url=workspace.api_url))


def access(people: People, **settings: Any) -> Access:
    me = Identity("U0FOOTNOTE", None, "T0SANDBOX")
    bot_settings = BotSettings(bot_token="xoxb-1", **settings)
    return Access(people, me, bot_settings, lambda _: Channel())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the cache of people is ahead of the real clock."""
    ahead = [0.0]
    late = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead[0])
    monkeypatch.setattr("bot.slack.people.time", late)
    return ahead


def lines_to(slack: Slack, user: str) -> list[str]:
    calls = [c["args"] for c in slack.calls("chat.postEphemeral")]
    return [args["text"] for args in calls if args["user"] == user]


def test_nobody_is_answered_while_slack_does_not_say_who_asks(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    slack.post("fail", method="users.info", error="missing_scope", times=0)
    slack.post("say", channel=INCIDENT, user=GUEST, text=f"{AT} how do I roll back?")
    assert wait_for(lambda: lines_to(slack, GUEST)) == [TRY_AGAIN]
    slack.post("command", channel=INCIDENT, user=GUEST, text="how do I roll back?")
    wait_for(lambda: [m for m in slack.messages(INCIDENT) if m.get("_viewer") == GUEST])
    assert not script.conversations


def test_a_follow_up_without_a_mention_is_told_as_well(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    ts = slack.post("say", channel=INCIDENT, user=MEMBER, text=f"{AT} how do I roll back?")["ts"]
    running.settle(2)
    slack.post("fail", method="users.info", error="missing_scope", times=0)
    slack.post("say", channel=INCIDENT, user="U0ENGINEER", text="and on eu?", thread_ts=ts)
    running.settle(3)
    slack.post("say", channel=INCIDENT, user=MEMBER, text=f"{AT} and on eu?", thread_ts=ts)
    running.settle(5)
    assert lines_to(slack, "U0ENGINEER") in ([], [TRY_AGAIN])
    assert len(script.conversations) == 2  # the member is remembered


@pytest.mark.parametrize("failure", FAILURES)
def test_a_member_is_remembered_for_a_day_and_a_stranger_never_let_in(
    failure: Json, slack: Slack, clock: list[float], people: People
) -> None:
    rules = access(people)
    assert rules.refusal(Asker(MEMBER)) is None
    slack.post("fail", method="users.info", times=0, **failure)
    clock[0] += 4_000
    assert rules.refusal(Asker(MEMBER)) is None
    assert rules.refusal(Asker("U0ENGINEER")) == TRY_AGAIN
    clock[0] += 86_400
    assert rules.refusal(Asker(MEMBER)) == TRY_AGAIN
    assert access(people, allowed_users=("U0ENGINEER",)).refusal(Asker("U0ENGINEER")) is None


def test_slack_is_asked_again_some_seconds_after_a_failure(
    slack: Slack, clock: list[float], people: People
) -> None:
    slack.post("fail", method="users.info", error="missing_scope", times=1)
    for _ in range(2):
        with pytest.raises(NotTold):
            people.person(MEMBER)
    assert len(slack.calls("users.info")) == 1
    assert people.name(MEMBER) is None
    clock[0] += 6
    assert people.person(MEMBER) is not None


def test_a_mention_without_a_word_on_sharing_is_refused_while_the_channel_is_unknown(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(allowed_users=(MEMBER,))
    slack.post("fail", method="conversations.info", error="missing_scope", times=0)
    event = {"type": "app_mention", "channel": "C0SHARED", "user": MEMBER, "text": f"{AT} how?"}
    event |= {"ts": "1764400001.000100"}
    body = {"type": "event_callback", "team_id": "T0SANDBOX", "event_id": "Ev1"}
    slack.deliver({**body, "event": event})
    running.settle(1)
    assert lines_to(slack, MEMBER) == [TRY_AGAIN]
    assert not script.conversations
    said = {**event, "ts": "1764400002.000100", "channel": INCIDENT}
    slack.deliver({**body, "event_id": "Ev2", "event": said, "is_ext_shared_channel": False})
    running.settle(2)
    assert len(script.conversations) == 1


def test_the_home_tab_says_so_too(slack: Slack, start: Start) -> None:
    start()
    slack.post("fail", method="users.info", error="missing_scope", times=0)
    slack.post("home", user=GUEST, tab="home")
    [call] = wait_for(lambda: slack.calls("views.publish"))
    assert TRY_AGAIN in json.dumps(call["args"]["view"])
