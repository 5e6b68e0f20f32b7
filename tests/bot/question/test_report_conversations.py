"""Shared reports of conversations that went wrong."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.answer import Answer
from agent.conversation import Conversation
from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.index import open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.bot.stage import Running, Script, Slack, answered
from tests.cases import Json, call, faults, named, one_of, remark, require, table
from tests.conftest import ROOT
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.reports import reports
from tests.waiting import wait_for

CHANNEL, TEAM, APP = "C0INCIDENT", "T0SANDBOX", "A0FOOTNOTE"
_NOT_IN_DOCS = "NOT IN DOCS\n"
_SIGNS = ("assistant.threads.setStatus", "chat.postMessage", "chat.startStream")

Start = Callable[..., Running]


class Talk:
    """Messages to a running bot, and its replies."""

    def __init__(self, slack: Slack, running: Running, script: Script) -> None:
        self.slack, self.running, self.script = slack, running, script
        self.root, self.delivered = "", 0
        slack.post("reset")
        script.conversations.clear()

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Wait until the events of the block are answered or ignored."""
        before = self.running.handled
        yield
        self.running.settle(before + self.delivered)

    @property
    def texts(self) -> list[str]:
        return [json.dumps(post, ensure_ascii=False) for post in self.slack.posts()]


@pytest.mark.parametrize("case", reports("conversation"))
def test_a_conversation_takes_the_course_of_its_report(
    case: Json, slack: Slack, script: Script, start: Start, tmp_path: Path
) -> None:
    given = {name: value for name, value in case.items() if name != "folder"}
    found, running = [], start()
    for last in [None, *given.pop("same_with", [])]:
        found += call(unmet, given, Talk(slack, running, script), tmp_path, last)
    require(found)


def unmet(
    talk: Talk,
    folder: Path,
    last: str | None,
    expect: Json,
    steps: list[Json] | None = None,
    say: Json | None = None,
    event: Json | None = None,
    docs: str = "",
    model_says: str = "",
) -> list[str]:
    """Return the faults; ``last`` replaces the words of the last message."""
    one_of(docs, "", "examples/docs")
    talk.script.reply = lambda conversation: _reply(conversation, model_says)
    steps = [
        *(steps or ()),
        *([{"say": say}] if say else ()),
        *([{"event": event}] if event else ()),
    ]
    if last is not None:
        steps[-1] = {"say": {**steps[-1]["say"], "text": last}}
    for step in steps:
        [(name, value)] = step.items()
        named(STEPS, name, "step")(talk, value)
    return faults(expect, CHECKS, talk)


def _reply(conversation: Conversation, says: str) -> Answer:
    answer = answered(conversation, says.removeprefix(_NOT_IN_DOCS))
    return replace(answer, verdict="not_in_docs") if says.startswith(_NOT_IN_DOCS) else answer


def say(
    talk: Talk,
    user: str,
    text: str,
    channel: str = CHANNEL,
    in_thread: bool = False,
    files: tuple[Json, ...] = (),
) -> None:
    place = {"channel": channel, "thread_ts": talk.root if in_thread else ""}
    with talk.settled():
        said = talk.slack.post("say", user=user, text=text, files=list(files), **place)
        talk.delivered = len(said["events"])
    talk.root = talk.root or said["ts"]


def event(talk: Talk, fields: Json) -> None:
    body = {"type": "event_callback", "team_id": TEAM, "api_app_id": APP, "event_id": "Ev1"}
    with talk.settled():
        talk.delivered = 1
        talk.slack.deliver({**body, "event_time": 1, "event": fields})


def wait_for_reply(talk: Talk, wanted: bool) -> None:
    assert wanted
    wait_for(talk.slack.posts)


def fail(talk: Talk, method: str, error: str, status: int, retry_after: int, times: int) -> None:
    """Fail with a shortened wait: only acts during the wait matter."""
    order = {"method": method, "error": error, "status": status, "times": times}
    talk.slack.post("fail", **order, retry_after=min(1, retry_after))


STEPS: dict[str, Callable[[Talk, Any], None]] = {
    "say": lambda talk, fields: call(say, fields, talk),
    "event": event,
    "wait_for_reply": wait_for_reply,
    "fail": lambda talk, fields: call(fail, fields, talk),
}


def replies(talk: Talk, count: int) -> Iterator[str]:
    if len(talk.slack.posts()) != count:
        yield f"{len(talk.slack.posts())} after {[c.question for c in talk.script.conversations]}"


def first_sign_within_seconds(talk: Talk, _seconds: float) -> Iterator[str]:
    """A sign is shown before a second attempt to read the thread."""
    methods = [call["method"] for call in talk.slack.calls()]
    reads = [n for n, method in enumerate(methods) if method == "conversations.replies"]
    if len(reads) > 1 and not any(method in _SIGNS for method in methods[: reads[1]]):
        yield f"{len(reads)} attempts to read the thread before any sign"


def answer_within_seconds(talk: Talk, _words: str) -> Iterator[str]:
    """The answer says that the thread could not be read."""
    if not talk.texts:
        yield "no answer"
    yield from (
        "no word that the thread was not read"
        for text in talk.texts
        if not re.search(r"thread[^.]* (not|cannot)( be)? read", text)
    )


def question_given_to_the_model_contains(talk: Talk, part: str) -> Iterator[str]:
    asked = [turn.text for each in talk.script.conversations for turn in each.turns]
    if not any(part in text for text in asked):
        yield f"asked was {asked}"


def without_a_model(talk: Talk, words: str) -> Iterator[str]:
    """The quoted passages have the codes of the words."""
    codes = re.findall(r"\b[A-Z]+-\d+\b", words)
    settings = IndexSettings(docs_repo=str(ROOT / "examples" / "docs"), data_dir=Path("data"))
    embedder = HashingEmbedder()
    index = open_index(settings, embedder)
    try:
        run_ingest(settings, index, embedder)
        answer = build_agent(index, AgentSettings()).answer(talk.script.conversations[-1])
    finally:
        index.close()
    yield from (f"{code} in {answer.text[:99]!r}" for code in codes if code not in answer.text)


def not_said(talk: Talk, words: str) -> Iterator[str]:
    yield from (text for text in talk.texts if words in text)


CHECKS = table(
    *(replies, first_sign_within_seconds, answer_within_seconds, without_a_model, not_said),
    question_given_to_the_model_contains,
) | {"why": remark}
