"""Each question is answered once, over a crash, an orderly end and a second process."""

from pathlib import Path

from tests.bot.answering.test_answering import AT, ONCALL, replies, reply_to, say
from tests.bot.conftest import Start
from tests.bot.stage import Script, Slack
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
