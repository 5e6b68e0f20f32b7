"""Questions above the limits of a person or a channel are refused in private."""

import json

import sqlalchemy as sa

from bot.journal.records import NotedMessage
from bot.question.event import Key, by_hand
from tests.bot.conftest import Start
from tests.bot.stage import Running, Script, Slack
from tests.waiting import PATIENCE, wait_for

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


def edit(slack: Slack, ts: str, text: str) -> None:
    slack.post("edit", channel="C0INCIDENT", ts=ts, text=f"{AT} {text}")


def whispered(slack: Slack) -> list[str]:
    return [call["args"]["text"] for call in slack.calls("chat.postEphemeral")]


def test_every_edit_that_makes_another_answer_counts_for_its_editor(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(user_per_minute=3)
    script.gate.clear()
    say = {"channel": "C0INCIDENT", "user": "U0ONCALL"}
    ts = slack.post("say", **say, text=f"{AT} how do I roll back?")["ts"]
    running.decided(2)
    for number in range(12):
        assert script.entered.wait(PATIENCE)
        edit(slack, ts, f"how do I roll back on host {number}?")
        running.decided(3 + number)
    script.gate.set()
    running.settle(14)
    wait_for(lambda: slack.posts())
    asked = list(dict.fromkeys(c.question for c in script.conversations))
    assert len(asked) <= 3
    assert asked[-1] == "how do I roll back on host 1?"
    assert len(whispered(slack)) == 10
    assert all("Too many questions from you" in line for line in whispered(slack))
    assert all("before this edit" in line for line in whispered(slack))
    ask(slack, "U0ENGINEER")
    running.settle(16)
    assert len(slack.posts()) == 2


def test_a_question_that_was_taken_back_and_is_asked_again_counts_once_more(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(user_per_minute=2)
    say = {"channel": "C0INCIDENT", "user": "U0ONCALL"}
    root = slack.post("say", **say, text=f"{AT} how do I roll back?")["ts"]
    running.settle(2)
    script.gate.clear()
    ts = slack.post("say", **say, text="and how do I check it?", thread_ts=root)["ts"]
    wait_for(lambda: len(script.conversations) == 2)
    for handled, text in ((4, "thanks, found it!"), (5, "and how do I check it on eu?")):
        slack.post("edit", channel="C0INCIDENT", ts=ts, text=text)
        running.decided(handled)
        wait_for(lambda: running.queue.idle)
    script.gate.set()
    assert len(script.conversations) == 2
    assert "Too many questions from you" in whispered(slack)[0]


def offered(slack: Slack, ts: str, text: str) -> str:
    """Edit an answered question; return the timestamp of the reply with *Answer again*."""
    edit(slack, ts, text)

    def reply() -> str:
        thread = slack.messages("C0INCIDENT", ts)
        return next((m["ts"] for m in thread if "footnote_again" in json.dumps(m)), "")

    return str(wait_for(reply))


def asked_and_edited(slack: Slack, running: Running) -> tuple[str, str]:
    """Timestamps of an answered question of U0ONCALL, and of its reply with *Answer again*."""
    handled = running.handled
    say = {"channel": "C0INCIDENT", "user": "U0ONCALL"}
    ts = slack.post("say", **say, text=f"{AT} how do I rol back?")["ts"]
    running.settle(handled + 2)
    return ts, offered(slack, ts, "how do I roll back?")


def ask_again(slack: Slack, reply: str) -> None:
    click = {"channel": "C0INCIDENT", "user": "U0ENGINEER", "ts": reply}
    slack.post("click", **click, action_id="footnote_again")


def test_answer_again_counts_and_is_paid_by_whoever_presses_it(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(user_per_minute=2)
    questions = []
    for number in (1, 2):
        ts, reply = asked_and_edited(slack, running)
        questions.append(ts)
        ask_again(slack, reply)
        wait_for(lambda: len(script.conversations) == 2 * number)  # noqa: B023  # called here only
        wait_for(lambda: running.queue.idle)
    ask_again(slack, offered(slack, questions[0], "how do I roll back now?"))
    [told] = wait_for(
        lambda: [m for m in slack.messages("C0INCIDENT") if m.get("_viewer") == "U0ENGINEER"]
    )
    assert "Too many questions from you" in told["text"]
    assert [c.asker_id for c in script.conversations] == ["U0ONCALL", "U0ENGINEER"] * 2


def test_after_a_crash_another_answer_is_still_paid_by_whoever_asked_for_it(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    _, reply = asked_and_edited(slack, first)
    script.gate.clear()
    script.entered.clear()
    ask_again(slack, reply)
    assert script.entered.wait(PATIENCE)
    first.die(script)
    script.gate.set()
    second = start()
    wait_for(lambda: len(slack.posts()) == 2)
    wait_for(lambda: second.queue.idle)
    assert script.conversations[-1].asker_id == "U0ENGINEER"
