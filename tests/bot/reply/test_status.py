"""Session and status line while Footnote works, and their end."""

import pytest

from tests.bot.conftest import Start
from tests.bot.stage import Json, Running, Script, Slack
from tests.waiting import PATIENCE, wait_for

AT = "<@U0FOOTNOTE>"
LINE, SESSION = "assistant.threads.setStatus", "agents.sessions.setStatus"


def ask(slack: Slack, text: str = f"{AT} how?", **more: str) -> str:
    body = {"channel": "C0INCIDENT", "user": "U0ONCALL", "text": text, **more}
    return str(slack.post("say", **body)["ts"])


def states(slack: Slack, method: str) -> list[str]:
    return [call["args"]["status"] for call in slack.calls(method)]


def shown(slack: Slack) -> list[Json]:
    return list(slack.state().get("statuses") or ())


def test_a_session_carries_the_stop_button_and_the_line_says_what_happens(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    ask(slack)
    assert script.entered.wait(PATIENCE)
    wait_for(lambda: states(slack, LINE))
    assert states(slack, SESSION) == ["processing"]
    script.gate.set()
    running.settle(2)
    wait_for(lambda: states(slack, SESSION)[-1:] == ["active"])
    assert states(slack, LINE)[-1] == ""


def test_the_word_stop_closes_the_session(slack: Slack, start: Start, script: Script) -> None:
    running = start()
    script.gate.clear()
    ts = ask(slack)
    assert script.entered.wait(PATIENCE)
    ask(slack, "stop", thread_ts=ts)
    running.settle(3)
    wait_for(lambda: states(slack, SESSION)[-1:] == ["closed"])


def test_without_the_agent_feature_the_line_alone_is_shown_and_sessions_asked_for_once(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    slack.post("fail", method=SESSION, error="not_authorized", times=0)
    for number in range(1, 4):
        script.gate.clear()
        ask(slack)
        wait_for(lambda: states(slack, LINE)[-1:] == ["is thinking…"])
        script.gate.set()
        wait_for(lambda: states(slack, LINE).count("") == number)  # noqa: B023  # waited for here
    assert len(states(slack, SESSION)) == 1


@pytest.mark.parametrize("error", ["invalid_thread_ts", "missing_scope", "ratelimited"])
def test_the_answer_is_posted_if_slack_refuses_session_and_line(
    error: str, slack: Slack, start: Start
) -> None:
    running = start()
    slack.post("fail", method=SESSION, error=error, times=0)
    slack.post("fail", method=LINE, error=error, times=0)
    ask(slack)
    running.settle(2)
    assert len(slack.posts()) == 1


def test_a_process_that_ends_clears_what_it_shows(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    ask(slack)
    assert script.entered.wait(PATIENCE)
    wait_for(lambda: states(slack, LINE))
    running.queue.drain(0.1)
    wait_for(lambda: states(slack, SESSION)[-1] == "active")
    assert states(slack, LINE)[-1] == ""


def crash_while_answering(slack: Slack, start: Start, script: Script) -> str:
    first: Running = start()
    script.gate.clear()
    script.entered.clear()
    ts = ask(slack)
    assert script.entered.wait(PATIENCE)
    first.die(script)
    script.gate.set()
    return ts


def test_the_status_of_a_dead_process_is_cleared_if_its_question_is_deleted(
    slack: Slack, start: Start, script: Script
) -> None:
    ts = crash_while_answering(slack, start, script)
    slack.post("delete", channel="C0INCIDENT", ts=ts)
    before = len(states(slack, LINE)), len(states(slack, SESSION))
    start()
    wait_for(lambda: len(states(slack, SESSION)) > before[1])
    # The deletion may be heard before the recovery looks, or meanwhile: then both clear it.
    assert set(states(slack, LINE)[before[0] :]) == {""}
    assert set(states(slack, SESSION)[before[1] :]) == {"active"}
    assert not slack.posts()


def test_a_question_interrupted_three_times_is_given_up_with_a_line(
    slack: Slack, start: Start, script: Script
) -> None:
    ts = crash_while_answering(slack, start, script)
    for _ in range(2):
        script.gate.clear()
        script.entered.clear()
        running = start()
        assert script.entered.wait(PATIENCE)
        running.die(script)
        script.gate.set()
    asked = len(script.conversations)
    last = start()

    def told() -> list[Json]:
        return [m for m in slack.messages("C0INCIDENT", ts) if m.get("bot_id") == "B0FOOTNOTE"]

    [line] = wait_for(told)
    assert "I have given up" in line["text"]
    assert "Reference: `" in line["text"]
    assert len(script.conversations) == asked == 3
    last.recovery.recover(at_start=True)
    assert len(told()) == 1
    assert states(slack, LINE)[-1] == ""
    assert states(slack, SESSION)[-1] == "active"


def test_a_waiting_asker_sees_how_many_are_ahead(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(workers=1)
    script.gate.clear()
    for number in range(1, 4):
        ask(slack, f"{AT} question {number}?")
        running.decided(2 * number)
    wait_for(lambda: len([s for s in states(slack, LINE) if s.startswith("is waiting")]) == 2)
    assert {s for s in states(slack, LINE) if s.startswith("is waiting")} == {
        "is waiting: 1 ahead…",
        "is waiting: 2 ahead…",
    }
    script.gate.set()
    running.settle(6)
    assert len(slack.posts()) == 3


def test_a_session_ends_later_if_slack_fails_at_its_end(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    ask(slack)
    assert script.entered.wait(PATIENCE)
    wait_for(lambda: states(slack, SESSION) == ["processing"])
    slack.post("fail", method=SESSION, error="invalid_auth", times=2)
    script.gate.set()
    running.settle(2)
    wait_for(lambda: len(states(slack, SESSION)) == 2)
    running.statuses.wait_until_cleared(PATIENCE)
    for _ in range(3):
        running.recovery.recover(at_start=False)
    assert states(slack, SESSION) == ["processing", "active", "active", "active"]


def test_a_session_that_a_dead_process_left_is_ended_by_the_next_start_alone(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    slack.post("fail", method=SESSION, status=500, times=2)
    ask(slack)
    first.settle(2)
    first.statuses.wait_until_cleared(PATIENCE)
    first.disconnect()
    before = len(states(slack, SESSION))
    assert states(slack, SESSION) == ["processing", "active"]
    second = start()
    wait_for(lambda: len(states(slack, SESSION)) > before)
    second.recovery.recover(at_start=False)
    assert states(slack, SESSION)[before:] == ["active"]
