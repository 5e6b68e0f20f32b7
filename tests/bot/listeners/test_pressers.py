"""Buttons and forms are for those who see the answer, where they see it."""

import json
import time

import pytest

from agent.answer import Answer
from bot.blocks.elements import actions, button
from bot.channels import Channel, Channels
from bot.journal.records import AnswerRecord, answer_record
from bot.question.event import Key, by_hand
from bot.reply.wording import NOT_YOURS
from tests.bot.conftest import Start
from tests.bot.stage import RUNBOOK, Json, Running, Script, Slack
from tests.waiting import PATIENCE, wait_for

AT = "<@U0FOOTNOTE>"
ONCALL, ENGINEER, GUEST = "U0ONCALL", "U0ENGINEER", "U0GUEST"
INCIDENT, GENERAL = "C0INCIDENT", "C0GENERAL"


def told(slack: Slack, user: str, channel: str = INCIDENT) -> list[str]:
    seen = [m["text"] for m in slack.messages(channel) if m.get("_viewer") == user]
    whispers = [c["args"] for c in slack.calls("chat.postEphemeral")]
    return seen + [w["text"] for w in whispers if w["user"] == user and w["channel"] == channel]


def press(
    slack: Slack, running: Running, action_id: str, value: str, *, user: str, channel: str
) -> None:
    """Press a button whose value somebody else chose: it names any answer."""
    blocks = [actions("forged", [button(action_id, "Press", value)])]
    posted = running.clients.post.chat_postMessage(channel=channel, text="x", blocks=blocks)
    place = {"channel": channel, "ts": posted["ts"]}
    slack.post("click", user=user, action_id=action_id, **place)


def private_answer(slack: Slack, running: Running) -> tuple[Json, str]:
    """A private answer for U0ONCALL: its message, and its id."""
    slack.post("command", channel=INCIDENT, user=ONCALL, text="how do I roll back?")
    [message] = wait_for(
        lambda: [m for m in slack.messages(INCIDENT) if "footnote_share" in json.dumps(m)]
    )
    wait_for(lambda: running.journal.answers() and running.queue.idle)
    return message, running.journal.answers()[0].id


@pytest.mark.parametrize(("user", "channel"), [(ENGINEER, INCIDENT), (ONCALL, GENERAL)])
@pytest.mark.parametrize("action_id", ["footnote_share", "footnote_human", "footnote_passages"])
def test_the_buttons_of_a_private_answer_are_for_its_asker_where_they_asked(
    action_id: str, user: str, channel: str, slack: Slack, start: Start
) -> None:
    running = start()
    message, ident = private_answer(slack, running)
    press(slack, running, action_id, ident, user=user, channel=channel)
    wait_for(lambda: NOT_YOURS in told(slack, user, channel))
    assert len(slack.posts()) == 1  # the forged button alone
    place = {"channel": INCIDENT, "user": ONCALL, "ts": message["ts"]}
    slack.post("click", **place, action_id="footnote_share")
    wait_for(lambda: len(slack.posts()) == 3)


@pytest.mark.parametrize("vote", ["up", "down"])
def test_a_vote_counts_only_where_the_answer_is(vote: str, slack: Slack, start: Start) -> None:
    running = start()
    _, ident = private_answer(slack, running)
    for user, channel in ((ENGINEER, INCIDENT), (ONCALL, GENERAL)):
        value = f"{ident}:{vote}"
        press(slack, running, "footnote_feedback", value, user=user, channel=channel)
        wait_for(lambda: NOT_YOURS in told(slack, user, channel))  # noqa: B023  # called here only
    press(slack, running, "footnote_feedback", "gone:up", user=ONCALL, channel=INCIDENT)
    wait_for(lambda: any("no longer have" in line for line in told(slack, ONCALL)))
    assert running.journal.votes() == []
    assert not slack.calls("views.open")


def test_a_reason_is_kept_only_from_somebody_who_voted(slack: Slack, start: Start) -> None:
    running = start()
    slack.post("say", channel=INCIDENT, user=ONCALL, text=f"{AT} how do I roll back?")
    [reply] = wait_for(lambda: slack.posts())
    running.settle(2)
    ident = reply["metadata"]["event_payload"]["answer"]
    press(slack, running, "footnote_feedback", f"{ident}:down", user=ENGINEER, channel=INCIDENT)
    wait_for(lambda: slack.calls("views.open"))
    with running.journal.session() as session:
        for vote in running.journal.votes():
            session.delete(vote)
    slack.post("submit", user=ENGINEER, values={"reason": "forged"})
    running.settle(4)
    assert running.journal.votes() == []
    press(slack, running, "footnote_feedback", f"{ident}:down", user=ENGINEER, channel=INCIDENT)
    wait_for(lambda: len(slack.calls("views.open")) == 2)
    slack.post("submit", user=ENGINEER, values={"reason": "too short"})
    wait_for(lambda: running.journal.votes()[0].reason == "too short")


def test_a_shared_answer_is_for_everybody_in_its_channel(slack: Slack, start: Start) -> None:
    running = start()
    message, ident = private_answer(slack, running)
    place = {"channel": INCIDENT, "user": ONCALL, "ts": message["ts"]}
    slack.post("click", **place, action_id="footnote_share")
    wait_for(lambda: running.journal.answers()[0].reply_ts)
    press(slack, running, "footnote_feedback", f"{ident}:up", user=ENGINEER, channel=INCIDENT)
    wait_for(lambda: running.journal.votes(ident))


def test_where_answers_are_private_only_the_asker_may_ask_again(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(channels=Channels({INCIDENT: Channel(ephemeral=True)}))
    ts = slack.post("say", channel=INCIDENT, user=ONCALL, text=f"{AT} how do I roll back?")["ts"]
    running.settle(2)
    wait_for(lambda: running.journal.answers()[0].reply_ts == "")
    again = f"{ts} {ts}"
    press(slack, running, "footnote_again", again, user=ENGINEER, channel=INCIDENT)
    wait_for(lambda: NOT_YOURS in told(slack, ENGINEER))
    assert len(script.conversations) == 1
    press(slack, running, "footnote_again", again, user=ONCALL, channel=INCIDENT)
    wait_for(lambda: len(script.conversations) == 2)


def test_the_stop_button_stops_nothing_for_a_guest_who_is_told_why(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    ts = slack.post("say", channel=INCIDENT, user=ONCALL, text=f"{AT} how do I roll back?")["ts"]
    assert script.entered.wait(PATIENCE)
    slack.post("stop", user=GUEST, channel=INCIDENT, thread_ts=ts)
    wait_for(lambda: any("guest accounts" in line for line in told(slack, GUEST)))
    script.gate.set()
    running.settle(2)
    assert len(slack.posts()) == 1
    assert running.journal.answers()


def record(**more: object) -> AnswerRecord:
    asked = by_hand("message", Key("T0SANDBOX", INCIDENT, "1.1"), ONCALL)
    found = answer_record(asked, Answer("a1", "?", "answered", citations=(RUNBOOK,)), "1.2")
    for name, value in more.items():
        setattr(found, name, value)
    return found


@pytest.mark.parametrize(
    ("more", "for_others"),
    [
        ({}, True),
        ({"reply_ts": None}, True),  # pressed before its timestamp was recorded
        ({"reply_ts": ""}, False),
        ({"reply_ts": None, "thread_ts": ""}, False),
    ],
)
def test_an_answer_that_slack_showed_to_one_person_is_for_that_person(
    more: Json, for_others: bool
) -> None:
    answer = record(**more, at=time.time())
    assert answer.is_for(ONCALL, INCIDENT)
    assert answer.is_for(ENGINEER, INCIDENT) is for_others
    assert not answer.is_for(ONCALL, GENERAL)
