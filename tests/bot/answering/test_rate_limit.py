"""Questions above the limits of a person or a channel are refused in private."""

import sqlalchemy as sa

from bot.journal.records import NotedMessage
from bot.question.event import Key, by_hand
from tests.bot.conftest import Start
from tests.bot.stage import Script, Slack

AT = "<@U0FOOTNOTE>"


def ask(slack: Slack, user: str = "U0ONCALL", channel: str = "C0INCIDENT") -> None:
    slack.post("say", channel=channel, user=user, text=f"{AT} how do I roll back?")


def test_above_the_limit_a_person_is_told_when_to_ask_again(slack: Slack, start: Start) -> None:
    running = start(user_per_minute=2)
    for number in range(1, 4):
        ask(slack)
        running.settle(2 * number)
    ask(slack, "U0ENGINEER")
    running.settle(8)
    assert len(slack.posts()) == 3
    [told] = slack.calls("chat.postEphemeral")
    assert told["args"]["user"] == "U0ONCALL"
    assert "Too many questions from you" in told["args"]["text"]
    assert "ask again in " in told["args"]["text"]


def test_above_the_limit_of_a_channel_its_next_asker_is_told(slack: Slack, start: Start) -> None:
    running = start(channel_per_minute=1)
    ask(slack)
    running.settle(2)
    ask(slack, "U0ENGINEER")
    ask(slack, "U0ENGINEER", "C0GENERAL")
    running.settle(6)
    assert len(slack.posts()) == 2
    [told] = slack.calls("chat.postEphemeral")
    assert told["args"]["user"] == "U0ENGINEER"
    assert "Too many questions from this channel" in told["args"]["text"]


def test_the_limit_holds_over_a_restart_and_refused_questions_do_not_count(
    slack: Slack, start: Start
) -> None:
    first = start(user_per_minute=1)
    ask(slack)
    first.settle(2)
    first.stop()
    second = start(user_per_minute=1)
    for number in range(1, 4):
        ask(slack)
        second.settle(2 * number)
    assert len(slack.posts()) == 1
    assert len(slack.calls("chat.postEphemeral")) == 3


def test_a_minute_later_there_is_room_again(slack: Slack, start: Start) -> None:
    running = start(user_per_minute=1)
    ask(slack)
    running.settle(2)
    with running.journal.session() as session:
        session.execute(sa.update(NotedMessage).values(claimed_at=NotedMessage.claimed_at - 61))
    ask(slack)
    running.settle(4)
    assert len(slack.posts()) == 2


def test_private_answers_count_as_well(slack: Slack, start: Start, script: Script) -> None:
    running = start(user_per_minute=1)
    private = by_hand("command", Key("T0SANDBOX", "C0GENERAL", "1.1-U0ONCALL"), "U0ONCALL")
    running.journal.note(private)
    assert running.journal.claim(private.key)
    ask(slack)
    running.settle(2)
    assert not slack.posts()


def test_without_limits_everybody_is_answered(slack: Slack, start: Start) -> None:
    running = start(user_per_minute=0, channel_per_minute=0)
    for _ in range(5):
        ask(slack)
    running.settle(10)
    assert len(slack.posts()) == 5
