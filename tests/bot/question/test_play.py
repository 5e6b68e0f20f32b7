"""Moments and receiving processes of events, as the shared cases name them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from tests.bot.question.play import Play
from tests.bot.question.test_event_cases import unmet
from tests.bot.stage import patient_rules
from tests.cases import Json, Unknown

TS, LATER = "1764400001.000100", "1764400002.000100"
REPLY = {"channel": "C0ONCALL", "thread_ts": TS}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    running = Sandbox(manifest=Manifest(), rules=patient_rules(page_size=100))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def stage(sandbox: Sandbox, tmp_path: Path) -> Iterator[Any]:
    """Plays steps; all processes are stopped at the end."""
    plays: list[Play] = []

    def stage(*steps: Json, **more: Any) -> Play:
        plays.append(Play(sandbox, tmp_path, list(steps), **more))
        plays[-1].run()
        return plays[-1]

    yield stage
    for play in plays:
        play.stop()


def mention(kind: str = "app_mention", ts: str = TS, **fields: Any) -> Json:
    event = {"type": kind, "user": "U0SAM", "text": "<@U0BOTSELF> how do I roll back?", "ts": ts}
    place = {"channel": "C0ONCALL", "event_ts": ts}
    more = {"channel_type": "channel"} if kind == "message" else {}
    return {
        "op": "event",
        "event_id": f"Ev{kind}{ts}",
        "event": {**event, **place, **more},
    } | fields


def test_replicas_that_get_one_event_at_the_same_moment_answer_once(stage: Any) -> None:
    play = stage(
        mention(replica="one", at_s=0),
        mention(replica="two", at_s=0),
        mention("message", replica="two", at_s=0),
        mention("message", replica="one", at_s=0.2, retry_num=1, retry_reason="timeout"),
    )
    assert {name: running.handled for name, running in play.running.items()} == {"one": 2, "two": 2}
    assert unmet(play, {"replies": [REPLY], "acknowledged": True, "no_error_visible": True}) == []


def test_a_later_moment_comes_after_the_answer(stage: Any) -> None:
    follow_up = mention("message", LATER, at_s=60)
    follow_up["event"] |= {"text": "and in staging?", "thread_ts": TS}
    play = stage(mention(at_s=0), follow_up)
    assert len(play.posts_before[1]) == 1
    assert unmet(play, {"replies": [REPLY, {**REPLY, "after_step": 1}]}) == []


def test_what_does_not_hold_is_told(stage: Any) -> None:
    play = stage(mention())
    wrong = {
        "replies": [{**REPLY, "question": "other", "context_contains": ["other"]}],
        "silent": True,
        "ephemeral": "expected",
        "docs_content": "none",
    }
    names = {fault.partition(":")[0] for fault in unmet(play, wrong)}
    assert names == wrong.keys()


def test_words_about_the_time_that_nobody_knows_fail(stage: Any) -> None:
    with pytest.raises(Unknown, match="some time"):
        stage(mention(), timing="some time")
