"""The shared event cases, played against bots over Socket Mode."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from agent.conversation import Conversation
from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from tests.bot.question.play import Play
from tests.bot.stage import patient_rules
from tests.cases import Json, call, family, faults, folded, named, one_of, opened, require, table

_TROUBLE = re.compile(
    r"(?i)\b(error|failed|failure|went wrong|could not|cannot|try again|no answer)\b|:(x|warning):"
)
_TROUBLED = {"x", "warning", "no_entry", "exclamation", "boom", "rotating_light"}
_WRITTEN = ("reactions.add", "assistant.threads.setStatus", "chat.update", "chat.postEphemeral")

NOT_READ = "the attached image was not read (or is read)"

NOTHING_MORE = {
    "replies": [],
    "ephemeral": "",
    "acknowledgement": "",
    "update_of_existing_reply": "",
}
"""What is expected where a case does not say otherwise."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    running = Sandbox(manifest=Manifest(), rules=patient_rules(page_size=100))
    running.start()
    yield running
    running.stop()


@dataclass(frozen=True)
class Seen:
    """A finished play, and its expectations."""

    play: Play
    expect: Json

    @cached_property
    def posts(self) -> list[Json]:
        return self.play.slack.posts()

    def calls(self, *methods: str) -> list[Json]:
        return self.play.slack.calls(*methods)

    @property
    def heard(self) -> list[Conversation]:
        return self.play.script.conversations

    @property
    def may_be_acknowledged(self) -> bool:
        return bool(self.expect["acknowledgement"] == "allowed")


@pytest.mark.parametrize("line", family("events"))
def test_events_are_answered_as_their_case_says(
    line: Json, sandbox: Sandbox, tmp_path: Path
) -> None:
    case = opened(line)
    play = call(Play, case.input, sandbox, tmp_path)
    try:
        play.run()
        require(unmet(play, case.expect))
    finally:
        play.stop()


def unmet(play: Play, expect: Json) -> list[str]:
    expect = {**NOTHING_MORE, **expect}
    return faults(expect, CHECKS, Seen(play, expect))


def replies(seen: Seen, wanted: list[Json]) -> Iterator[str]:
    places = sorted(map(_place, seen.posts))
    tolerated = not wanted and len(places) <= seen.expect.get("replies_max", 0)
    if not tolerated and places != sorted(map(_place, wanted)):
        yield f"posted in {places}"
    for fields in wanted:
        yield from call(reply, fields, seen)


def reply(
    seen: Seen,
    channel: str,
    thread_ts: str,
    after_step: int = 1,
    reply_kind: str = "",
    reply_says: str = "",
    **said: Any,
) -> Iterator[str]:
    for name in said:
        named(HEARD, name, "expectation")
    posts = [post for post in seen.posts if _place(post) == (channel, thread_ts)]
    if any(_place(post) == (channel, thread_ts) for post in seen.play.posts_before[after_step - 1]):
        yield f"it was there before step {after_step}"
    if reply_says and "not read" not in json.dumps(posts):
        yield f"it does not say: {one_of(reply_says, NOT_READ)}"
    if one_of(reply_kind, "", "short_help"):
        if seen.heard or min((len(post["text"]) for post in posts), default=500) >= 500:
            yield "no short help"
        return
    if "assistant_turns" in said:
        said["assistant_turns"] = [_text_of(each, seen.play) for each in said["assistant_turns"]]
    wrong = [faults(said, HEARD, each) for each in seen.heard] or [["nothing was asked"]]
    if all(wrong):
        yield from min(wrong, key=len)


def replies_max(seen: Seen, most: int) -> Iterator[str]:
    if len(seen.posts) > most:
        yield f"{len(seen.posts)} replies"


def silent(seen: Seen, wanted: bool) -> Iterator[str]:
    """No status either: a status announces a reply."""
    methods = _WRITTEN if wanted else ("assistant.threads.setStatus",)
    if written := {call["method"] for call in seen.calls(*methods)}:
        yield f"the bot called {written}"
    if len(seen.posts) > seen.expect.get("replies_max", 0):
        yield f"posted in {sorted(map(_place, seen.posts))}"


def ephemeral(seen: Seen, how: str) -> Iterator[str]:
    one_of(how, "", "allowed", "expected")
    count = len(seen.calls("chat.postEphemeral"))
    most = 1 if how or seen.may_be_acknowledged else 0
    if not (how == "expected") <= count <= most:
        yield f"{count} messages that only the asker sees"


def acknowledgement(seen: Seen, how: str) -> Iterator[str]:
    if not one_of(how, "", "allowed") and (added := seen.calls("reactions.add")):
        yield f"reactions: {[call['args'] for call in added]}"


def update_of_existing_reply(seen: Seen, how: str) -> Iterator[str]:
    if not one_of(how, "", "allowed") and (edits := seen.calls("chat.update")):
        yield f"{len(edits)} edits"


def docs_content(seen: Seen, how: str) -> Iterator[str]:
    one_of(how, "none")
    if seen.heard:
        yield f"asked was {[each.question for each in seen.heard]}"


def no_error_visible(seen: Seen, _wanted: bool) -> Iterator[str]:
    shown = seen.calls("chat.postMessage", "chat.postEphemeral", "chat.update")
    texts = [json.dumps(call["args"], ensure_ascii=False) for call in shown]
    yield from (text for text in texts if _TROUBLE.search(text))
    yield from {each["args"]["name"] for each in seen.calls("reactions.add")} & _TROUBLED


def acknowledged(seen: Seen, _wanted: bool) -> Iterator[str]:
    """Each event was acknowledged before its answer; Slack repeats late ones."""
    if seen.play.handled != seen.play.delivered:
        yield f"{seen.play.handled} deliveries of {seen.play.delivered} events"


def question(heard: Conversation, text: str) -> Iterator[str]:
    if folded(heard.question) != text:
        yield heard.question


def question_contains(heard: Conversation, parts: list[str]) -> Iterator[str]:
    yield from (f"{part!r} in {heard.question!r}" for part in _missing(parts, heard.question))


def question_not_contains(heard: Conversation, parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if part in heard.question)


def question_max_chars(heard: Conversation, most: int) -> Iterator[str]:
    if len(folded(heard.question)) > most:
        yield f"{len(heard.question)} characters"


def context_contains(heard: Conversation, parts: list[str]) -> Iterator[str]:
    yield from _missing(parts, _context(heard))


def context_not_contains(heard: Conversation, parts: list[str]) -> Iterator[str]:
    yield from (part for part in parts if part in _context(heard))


def context_max_chars(heard: Conversation, most: int) -> Iterator[str]:
    if len(_context(heard)) > most:
        yield f"{len(_context(heard))} characters"


def assistant_turns(heard: Conversation, wanted: list[str]) -> Iterator[str]:
    own = [folded(turn.text) for turn in heard.earlier if turn.speaker == "footnote"]
    if len(own) != len(wanted) or not all(any(t in each for each in own) for t in wanted):
        yield f"own are {own}"


def _text_of(message: str, play: Play) -> str:
    """Text of a message, given as its timestamp or as the text itself."""
    texts = {each["ts"]: each["text"] for thread in play.threads.values() for each in thread}
    return folded(texts.get(message, message))


def _missing(parts: list[str], text: str) -> list[str]:
    return [part for part in parts if folded(part) not in folded(text)]


def _context(heard: Conversation) -> str:
    return "\n".join(turn.text for turn in heard.earlier)


def _place(post: Json) -> tuple[str, str]:
    return post["channel"], post["thread_ts"]


HEARD = table(
    *(question, question_contains, question_not_contains, question_max_chars),
    *(context_contains, context_not_contains, context_max_chars, assistant_turns),
)
CHECKS = table(
    *(replies, replies_max, silent, ephemeral, acknowledgement, update_of_existing_reply),
    *(docs_content, no_error_visible, acknowledged),
)
