"""Commands, the shortcut and the buttons, from the act to the reply."""

import functools
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.answer import Answer
from bot.reply.wording import NOT_KEPT
from tests.bot.conftest import Start
from tests.bot.stage import Json, Script, Slack, answered, lose_responses
from tests.waiting import PATIENCE, wait_for

ONCALL, ENGINEER = "U0ONCALL", "U0ENGINEER"
INCIDENT = "C0INCIDENT"


def say(slack: Slack, text: str, user: str = ENGINEER, **more: Any) -> str:
    body = {"channel": INCIDENT, "user": user, "text": text, **more}
    return str(slack.post("say", **body)["ts"])


def ask_about(slack: Slack, ts: str, user: str) -> None:
    place = {"channel": INCIDENT, "ts": ts, "user": user}
    slack.post("shortcut", **place, callback_id="ask_about_message")


def command(slack: Slack, text: str, channel: str = INCIDENT) -> None:
    slack.post("command", channel=channel, user=ONCALL, text=text)


def replies(slack: Slack, ts: str) -> list[Json]:
    return [m for m in slack.messages(INCIDENT, ts) if m.get("bot_id") == "B0FOOTNOTE"]


def answered_times(slack: Slack, ts: str, times: int) -> bool:
    return len(replies(slack, ts)) == times


def whispers(slack: Slack, channel: str = INCIDENT) -> list[Json]:
    return [m for m in slack.messages(channel) if "_viewer" in m]


def test_the_shortcut_answers_each_person_who_uses_it(slack: Slack, start: Start) -> None:
    running = start()
    ts = say(slack, "is the queue of payments stuck")
    for number, user in enumerate((ONCALL, ENGINEER), 1):
        ask_about(slack, ts, user)
        wait_for(functools.partial(answered_times, slack, ts, number))
        wait_for(lambda: running.queue.idle)  # until then it is being answered
    running.settle(3)
    askers = [m["metadata"]["event_payload"]["asker"] for m in replies(slack, ts)]
    assert askers == [ONCALL, ENGINEER]


def test_a_shortcut_used_again_while_its_answer_is_under_way_adds_none(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    ts = say(slack, "is the queue of payments stuck")
    ask_about(slack, ts, ONCALL)
    assert script.entered.wait(PATIENCE)
    for user in (ENGINEER, ONCALL):
        ask_about(slack, ts, user)
    wait_for(lambda: len(whispers(slack)) == 3)
    script.gate.set()
    running.settle(4)
    assert len(replies(slack, ts)) == 1
    assert {m["text"] for m in whispers(slack)} == {"The answer comes in the thread."}


def test_the_shortcut_is_about_its_message_and_not_about_later_ones(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    ts = say(slack, "the queue of payments is stuck")
    say(slack, "lunch anyone", thread_ts=ts)
    ask_about(slack, ts, ONCALL)
    wait_for(lambda: replies(slack, ts))
    said = [turn.text for turn in script.conversations[-1].turns]
    assert "the queue of payments is stuck" in said
    assert "lunch anyone" not in said


def test_a_person_who_used_the_shortcut_may_follow_up_without_a_mention(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    ts = say(slack, "the queue of payments is stuck")
    ask_about(slack, ts, ONCALL)
    wait_for(lambda: replies(slack, ts))
    say(slack, "and how do I drain it?", ONCALL, thread_ts=ts)
    wait_for(lambda: len(replies(slack, ts)) == 2)
    assert script.conversations[-1].question == "and how do I drain it?"


def test_a_shortcut_says_that_an_answer_comes_only_when_one_does(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start(user_per_minute=1)
    script.gate.clear()
    ts = say(slack, "the queue of payments is stuck")
    ask_about(slack, ts, ONCALL)
    [told] = wait_for(lambda: whispers(slack))
    assert told["text"] == "The answer comes in the thread."
    ask_about(slack, say(slack, "the ledger is slow"), ONCALL)
    wait_for(lambda: slack.calls("chat.postEphemeral"))
    script.gate.set()
    running.settle(4)
    texts = [m["text"] for m in whispers(slack)] + [
        c["args"]["text"] for c in slack.calls("chat.postEphemeral")
    ]
    assert sum("The answer comes" in text for text in texts) == 1
    assert any("Too many questions" in text for text in texts)


def test_a_shortcut_in_a_channel_without_footnote_says_so_and_promises_nothing(
    slack: Slack, start: Start, script: Script
) -> None:
    slack.post("reset", channels={INCIDENT: {"is_member": False}})
    running = start()
    ts = say(slack, "the queue of payments is stuck")
    ask_about(slack, ts, ONCALL)
    [told] = wait_for(lambda: whispers(slack))
    assert (
        told["text"] == "I am not in this channel, so I cannot post here. Invite me and try again."
    )
    wait_for(lambda: running.queue.idle)
    assert not script.conversations


def test_a_shortcut_is_found_again_after_a_crash(
    slack: Slack, start: Start, script: Script
) -> None:
    first = start()
    script.gate.clear()
    ts = say(slack, "the queue of payments is stuck")
    ask_about(slack, ts, ONCALL)
    assert script.entered.wait(PATIENCE)
    first.die(script)
    script.gate.set()
    start()
    wait_for(lambda: replies(slack, ts))
    assert script.conversations[-1].turns[0].text == "the queue of payments is stuck"


def test_a_private_answer_of_any_length_keeps_its_end_and_says_what_is_missing(
    slack: Slack, start: Start, script: Script
) -> None:
    start()
    steps = "\n\n".join(f"Step {n}: {'word ' * 300}[payments-runbook-0]." for n in range(60))
    script.reply = lambda c: answered(c, steps)
    command(slack, "list all steps")
    shown = wait_for(lambda: found if len(found := whispers(slack)) == 5 else None)
    end = json.dumps(shown[-1]["blocks"])
    assert "Step 59" in end
    assert "too long to be shown" in end
    assert "footnote_share" in end
    assert "footnote_human" not in json.dumps(shown)


def test_a_private_question_that_goes_wrong_says_so(
    slack: Slack, start: Start, script: Script
) -> None:
    def broken(_: Any) -> Answer:
        raise RuntimeError("broken")

    running = start()
    script.reply = broken
    command(slack, "how do I roll back?")
    wait_for(lambda: any("Something went wrong" in m["text"] for m in whispers(slack)))
    assert not slack.posts()
    wait_for(lambda: running.queue.idle)


@contextmanager
def journal_away(folder: Path) -> Iterator[None]:
    """Rename the journal's table for a while, so that every access fails."""
    with sqlite3.connect(folder / "journal.sqlite", timeout=20) as journal:
        journal.execute("ALTER TABLE messages RENAME TO away")
    yield
    with journal:
        journal.execute("ALTER TABLE away RENAME TO messages")
    journal.close()


def test_private_askers_are_answered_and_told_that_the_journal_is_away(
    slack: Slack, start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    start()
    with journal_away(tmp_path):
        command(slack, "how do I roll back?")
        wait_for(lambda: "rollout undo" in json.dumps(whispers(slack)))
    assert NOT_KEPT in json.dumps(whispers(slack))
    assert "Traceback" not in caplog.text


def test_a_mention_that_cannot_be_noted_is_answered_once_and_noted_later(
    slack: Slack, start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    running = start()
    with journal_away(tmp_path):
        sent = slack.post("say", channel=INCIDENT, user=ONCALL, text="<@U0FOOTNOTE> how?")
        [reply] = wait_for(lambda: replies(slack, sent["ts"]))
        assert NOT_KEPT in json.dumps(reply)
        slack.deliver(*sent["events"])
        running.settle(4)
    wait_for(lambda: not running.journal.is_away)
    slack.deliver(*sent["events"])
    running.settle(6)
    assert len(replies(slack, sent["ts"])) == 1
    with sqlite3.connect(tmp_path / "journal.sqlite") as journal:
        states = journal.execute("SELECT state FROM messages").fetchall()
    assert states == [("answered",)]
    assert caplog.text.count("Questions are kept in memory meanwhile") == 1
    assert "Traceback" not in caplog.text


def test_a_private_question_is_told_when_the_process_ends_first(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    script.gate.clear()
    command(slack, "how do I roll back?")
    assert script.entered.wait(PATIENCE)
    running.queue.drain(0.1)
    assert any("Please ask again" in m["text"] for m in whispers(slack))


def test_in_a_direct_message_there_is_no_channel_to_share_in(slack: Slack, start: Start) -> None:
    start()
    command(slack, "how do I roll back?", "D0ONCALL")
    wait_for(lambda: "rollout undo" in json.dumps(whispers(slack, "D0ONCALL")))
    assert "footnote_share" not in json.dumps(whispers(slack, "D0ONCALL"))


def test_a_shared_answer_begins_a_thread_that_can_be_continued(
    slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    command(slack, "how do I roll back?")
    [answer] = wait_for(lambda: [m for m in whispers(slack) if "footnote_share" in json.dumps(m)])
    place = {"channel": INCIDENT, "user": ONCALL, "ts": answer["ts"]}
    slack.post("click", **place, action_id="footnote_share")
    shared = wait_for(lambda: found if len(found := slack.calls("chat.postMessage")) == 2 else None)
    root = shared[0]["response"]["ts"]
    assert "footnote_human" in json.dumps(shared[1]["args"])
    wait_for(lambda: running.journal.answers()[0].thread_ts == root)
    say(slack, "and how do I check it?", ONCALL, thread_ts=root)
    wait_for(lambda: len(replies(slack, root)) == 3)
    assert script.conversations[-1].question == "and how do I check it?"


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        ({"status": 429, "retry_after": 60}, "share it again in a minute"),
        ({"error": "not_in_channel"}, "Invite me"),
        ({"error": "is_archived"}, "the channel is archived"),
    ],
    ids=str,
)
def test_who_cannot_share_an_answer_hears_why_and_can_try_again(
    trouble: Json, says: str, slack: Slack, start: Start
) -> None:
    start()
    command(slack, "how do I roll back?")
    [answer] = wait_for(lambda: [m for m in whispers(slack) if "footnote_share" in json.dumps(m)])
    place = {"channel": INCIDENT, "user": ONCALL, "ts": answer["ts"]}
    slack.post("fail", method="chat.postMessage", times=1, **trouble)
    slack.post("click", **place, action_id="footnote_share")
    wait_for(lambda: [m for m in whispers(slack) if says in m["text"]])
    slack.post("click", **place, action_id="footnote_share")
    wait_for(lambda: len(slack.posts()) == 2)


def test_an_update_whose_response_was_lost_is_not_posted_as_well(
    slack: Slack, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start()
    lost = lose_responses(monkeypatch, running.clients.post, "chat_update")
    alert = [{"title": "Stuck", "fallback": "Stuck"}]
    body = {"channel": INCIDENT, "user": "U0ALERTS", "bot": "B0ALERTS", "text": ""}
    ts = str(slack.post("say", **body, attachments=alert)["ts"])
    say(slack, "<@U0FOOTNOTE> what now?", ONCALL, thread_ts=ts)
    wait_for(lambda: lost)
    running.settle(3)
    assert len(replies(slack, ts)) == 1


@pytest.mark.parametrize("gone", [False, True])
def test_answer_again_says_that_the_question_cannot_be_read(
    gone: bool, slack: Slack, start: Start, script: Script
) -> None:
    running = start()
    at = "<@U0FOOTNOTE>"
    ts = say(slack, f"{at} how do I rol back?", ONCALL)
    wait_for(lambda: replies(slack, ts))
    running.settle(2)
    slack.post("edit", channel=INCIDENT, ts=ts, text=f"{at} how do I roll back?")
    [reply] = wait_for(lambda: [m for m in replies(slack, ts) if "footnote_again" in str(m)])
    if gone:
        slack.post("delete", channel=INCIDENT, ts=ts)
    else:
        slack.post("fail", method="conversations.replies", error="missing_scope", times=1)
    slack.post("click", channel=INCIDENT, user=ONCALL, ts=reply["ts"], action_id="footnote_again")
    wait_for(lambda: whispers(slack))
    assert len(script.conversations) == 1
    assert ("footnote_again" in json.dumps(replies(slack, ts))) is not gone


@pytest.mark.parametrize(
    ("user", "says"), [("U0GUEST", "guest accounts"), (ONCALL, "Too many questions")]
)
def test_answer_again_keeps_the_rules_of_asking(
    user: str, says: str, slack: Slack, start: Start, script: Script
) -> None:
    running = start(user_per_minute=1)
    at = "<@U0FOOTNOTE>"
    ts = say(slack, f"{at} how do I rol back?", ONCALL)
    wait_for(lambda: replies(slack, ts))
    running.settle(2)
    slack.post("edit", channel=INCIDENT, ts=ts, text=f"{at} how do I roll back?")
    wait_for(lambda: "footnote_again" in json.dumps(replies(slack, ts)))
    place = {"channel": INCIDENT, "user": user, "ts": replies(slack, ts)[0]["ts"]}
    slack.post("click", **place, action_id="footnote_again")
    wait_for(lambda: any(says in m["text"] for m in whispers(slack)))
    assert len(script.conversations) == 1
    assert "footnote_again" in json.dumps(replies(slack, ts))
