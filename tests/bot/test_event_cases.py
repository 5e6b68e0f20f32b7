"""The shared event cases, played against the bot over Socket Mode."""

import importlib.util
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.conversation import Conversation
from bot.manifest import Manifest
from bot.sandbox.server import Sandbox
from tests.bot.stage import Running, Script, Slack, patient_rules
from tests.conftest import ROOT
from tests.waiting import PATIENCE, wait_for

Json = dict[str, Any]
FOLDER = Path(__import__("os").environ.get("FOOTNOTE_SHARED", ROOT.parent / "shared")) / "cases"
BOT = {"user_id": "U0BOTSELF", "bot_id": "B0BOTSELF", "app_id": "A0BOTSELF"}


def load() -> list[Json]:
    file = FOLDER / "dev" / "events.jsonl"
    if not file.is_file():
        return []
    spec = importlib.util.spec_from_file_location("check", FOLDER / "check.py")
    assert spec is not None
    assert spec.loader is not None
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    return [check.expand(json.loads(line)) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    running = Sandbox(manifest=Manifest(), rules=patient_rules(page_size=100))
    running.start()
    yield running
    running.stop()


class Play:
    """One case, from reset to what was seen."""

    def __init__(self, case: Json, sandbox: Sandbox, folder: Path) -> None:
        self.input = case["input"]
        self.sandbox, self.folder = sandbox, folder
        self.slack = Slack(sandbox.url)
        self.script = Script()
        self.slack.post(
            "reset",
            bot=BOT,
            team="T0EXAMPLE",
            users=self.input.get("users") or {},
            channels=self.input.get("channels") or {},
            threads=self.input.get("threads") or {},
        )
        self.delivered = 0
        self.posts_after: list[int] = []
        self.steps = [each for step in self.input["steps"] for each in flat(step)]
        self.running = self._start()
        self.replicas = [self._start() for _ in self._named_replicas()[1:]]

    def run(self) -> None:
        if re.search(r"\b(before|while|during)\b", self.input.get("timing", "")):
            self.script.gate.clear()
        for step in self.steps:
            getattr(self, f"_{step['op']}")(step)
            self.posts_after.append(len(self.slack.posts()))
        self.script.gate.set()
        self._settle()

    def stop(self) -> None:
        for running in (self.running, *self.replicas):
            running.stop()

    def _start(self) -> Running:
        """A process; several share a database. Which of them gets an event is up to Slack."""
        several = len(self._named_replicas()) > 1
        url = f"sqlite:///{self.folder}/shared.sqlite" if several else None
        return Running(self.sandbox, self.folder, self.script, database_url=url)

    def _named_replicas(self) -> list[object]:
        return list(dict.fromkeys(step["replica"] for step in self.steps if "replica" in step))

    def _decided(self) -> None:
        processes = (self.running, *self.replicas)
        wait_for(lambda: sum(each.handled for each in processes) >= self.delivered)
        for running in processes:
            running.decided(0)

    def _settle(self) -> None:
        self._decided()
        for running in (self.running, *self.replicas):
            running.settle(0)

    def _event(self, step: Json) -> None:
        dies = bool(step.get("process_dies"))
        if dies:
            self.script.gate.clear()
        self.slack.deliver(envelope(step))
        self.delivered += step["event"].get("user") != BOT["user_id"]  # no process counts an echo
        if dies:
            assert self.script.entered.wait(PATIENCE)
            self.running.die(self.script)
            self.script.gate.set()
            self.script.conversations.clear()
        elif self.script.gate.is_set():
            self._settle()
        else:
            self._decided()

    def _wait_until_answered(self, _step: Json) -> None:
        self.script.gate.set()
        self._settle()

    def _restart(self, _step: Json) -> None:
        self.running.stop()
        self.delivered = sum(each.handled for each in self.replicas)
        self.running = self._start()


def flat(step: Json) -> list[Json]:
    if step["op"] != "repeat":
        return [step]
    return [{**step["step"], "event_id": f"EvR{n}"} for n in range(step["times"])]


def envelope(step: Json) -> Json:
    body = {
        "type": "event_callback",
        "team_id": "T0EXAMPLE",
        "api_app_id": "A0BOTSELF",
        "event_id": step["event_id"],
        "event_time": int(time.time()),
        "event": step["event"],
    }
    optional = ("retry_num", "retry_reason", "is_ext_shared_channel")
    return {**body, **{name: step[name] for name in optional if name in step}}


@pytest.mark.parametrize("case", load(), ids=lambda case: str(case["id"]))
def test_event_case(case: Json, sandbox: Sandbox, tmp_path: Path) -> None:
    """What happens in Slack is answered, or not, as the case says."""
    play = Play(case, sandbox, tmp_path)
    try:
        play.run()
        check(case["expect"], play)
    finally:
        play.stop()


def check(expect: Json, play: Play) -> None:
    posts = play.slack.posts()
    wanted = expect.get("replies", [])
    threads = sorted((p["channel"], p["thread_ts"]) for p in posts)
    if wanted or len(threads) > expect.get("replies_max", 0):
        assert threads == sorted((w["channel"], w["thread_ts"]) for w in wanted)
    whispers = play.slack.calls("chat.postEphemeral")
    match expect.get("ephemeral"):
        case "expected":
            assert len(whispers) == 1
        case "allowed":
            assert len(whispers) <= 1
        case _:
            assert not whispers
    if expect.get("silent"):
        written = ("reactions.add", "assistant.threads.setStatus", "chat.update")
        assert not play.slack.calls(*written)
    if expect.get("docs_content") == "none":
        assert not play.script.conversations
    for reply in wanted:
        check_reply(reply, play, posts)


def check_reply(reply: Json, play: Play, posts: list[Json]) -> None:
    place = (reply["channel"], reply["thread_ts"])
    there = [post for post in posts if (post["channel"], post["thread_ts"]) == place]
    if "after_step" in reply:
        assert play.posts_after[reply["after_step"] - 2] == 0
    if "reply_says" in reply:
        assert "not read" in json.dumps(there)
    if reply.get("reply_kind") == "short_help":
        assert not play.script.conversations
        assert min(len(post["text"]) for post in there) < 500
        return
    heard = [c for c in play.script.conversations if fits(reply, c)]
    assert heard, [c.question for c in play.script.conversations]
    check_context(reply, heard[-1], play)


def fits(reply: Json, conversation: Conversation) -> bool:
    question = " ".join(conversation.question.split())
    return (
        ("question" not in reply or question == reply["question"])
        and all(part in question for part in reply.get("question_contains", []))
        and not any(part in question for part in reply.get("question_not_contains", []))
        and len(question) <= reply.get("question_max_chars", len(question))
    )


def check_context(reply: Json, conversation: Conversation, play: Play) -> None:
    context = "\n".join(turn.text for turn in conversation.earlier)
    for part in reply.get("context_contains", []):
        assert part in context
    for part in reply.get("context_not_contains", []):
        assert part not in context
    assert len(context) <= reply.get("context_max_chars", len(context))
    if "assistant_turns" in reply:
        own = [turn for turn in conversation.earlier if turn.speaker == "footnote"]
        assert len(own) == len(reply["assistant_turns"])
