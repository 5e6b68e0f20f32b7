"""Questions in, replies out, and the count of both: lost, doubled, crossed, half, stuck."""

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tests.chaos.pages import PAGES, limit_of, service
from tests.chaos.processes import until

Kind = Literal["mention", "direct", "alert", "follow"]
Json = dict[str, Any]

CHANNELS = ("C0GENERAL", "C0INCIDENT", "C0PRIVATE")
PEOPLE = ("U0ONCALL", "U0ENGINEER")
FOUR: tuple[Kind, ...] = ("mention", "direct", "alert", "follow")
SETTLE_SECONDS = 30.0
"""Seconds that statuses and half answers get to go away after the last reply."""


class Workspace(Protocol):
    """What the ledger needs of the sandbox's endpoints for people."""

    def post(self, name: str, **body: Any) -> Json: ...

    def messages(self, channel: str, thread_ts: str = "") -> list[Json]: ...

    def state(self) -> Json: ...


@dataclass(frozen=True)
class Asked:
    """A question, and the page that its answer has to come from."""

    page: int
    kind: Kind
    channel: str
    ts: str
    thread_ts: str


@dataclass
class Count:
    """The figures of a ledger. All but the first two should be 0."""

    asked: int = 0
    answered: int = 0
    lost: int = 0
    """Questions without a reply."""
    doubled: int = 0
    """Questions with more than one reply."""
    crossed: int = 0
    """Replies in another thread, or about another page."""
    half: int = 0
    """Messages that are the beginning of an answer."""
    stuck: int = 0
    """Threads that go on showing work under way."""
    verdicts: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    """First lines of the replies that are crossed or not answers."""

    def figures(self) -> Json:
        names = ("asked", "answered", "lost", "doubled", "crossed", "half", "stuck")
        return {**{name: getattr(self, name) for name in names}, "verdicts": dict(self.verdicts)}


class Ledger:
    """The questions of one trial, each with a page of its own in turn."""

    def __init__(self, slack: Workspace, tag: str = "q") -> None:
        self._slack = slack
        self._tag = tag
        self._lock = threading.Lock()
        self._number = random.randrange(PAGES)
        self._root: Asked | None = None
        self.asked: list[Asked] = []

    def ask(self, kind: Kind = "mention", channel: str = "", about: int | None = None) -> Asked:
        """Ask one question, about the page of this number or about one after the other.

        ``follow`` asks without a mention, in the thread of the first one.
        """
        with self._lock:
            number = self._number = self._number + 1
        page = number % PAGES if about is None else about
        text = f"what is the limit of {service(page)}? ({self._tag}{number})"
        user = PEOPLE[number % len(PEOPLE)]
        channel = channel or CHANNELS[number % len(CHANNELS)]
        thread = ""
        if kind == "direct":
            channel = f"D{user[1:]}"
        elif kind == "follow":
            root = self.root()
            channel, thread, user = root.channel, root.ts, "U0ONCALL"
        else:
            text = f"@Footnote {text}"
        if kind == "alert":
            thread = str(self._slack.post("alert", channel=channel)["ts"])
        place = {"thread_ts": thread} if thread else {}
        said = self._slack.post("say", channel=channel, user=user, text=text, **place)
        ts = str(said["ts"])
        return self.note(Asked(page, kind, channel, ts, thread or ts))

    def note(self, asked: Asked) -> Asked:
        """Count a question that was asked in another way."""
        with self._lock:
            self.asked.append(asked)
        return asked

    def some(self, kinds: Sequence[Kind]) -> None:
        for kind in kinds:
            self.ask(kind)

    def root(self) -> Asked:
        """Return an answered question whose thread can be continued."""
        if self._root is None:
            self._root = self.ask("mention", CHANNELS[0])
            self.wait(60)
        return self._root

    def replies(self) -> dict[tuple[str, str], list[Json]]:
        """Channel and timestamp of a question -> first messages of its replies."""
        replies: dict[tuple[str, str], list[Json]] = {}
        for channel, message in self._messages():
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            first = not payload.get("part") and not payload.get("piece")
            if payload.get("question") and first:
                replies.setdefault((channel, payload["question"]), []).append(message)
        return replies

    def unanswered(self) -> list[Asked]:
        replies = self.replies()
        return [each for each in list(self.asked) if (each.channel, each.ts) not in replies]

    def wait(self, seconds: float, pause: float = 0.3) -> list[Asked]:
        """Wait until every question has a reply; return those without one."""
        until(lambda: not self.unanswered(), seconds, pause)
        return self.unanswered()

    def seconds(self, limit: float) -> list[float]:
        """Wait like ``wait``; return the seconds until each reply that came, in order."""
        begun = time.monotonic()
        at: dict[Asked, float] = {}
        while len(at) < len(self.asked) and time.monotonic() - begun < limit:
            replies = self.replies()
            for each in self.asked:
                if (each.channel, each.ts) in replies:
                    at.setdefault(each, time.monotonic() - begun)
            time.sleep(0.2)
        return sorted(at.values())

    def count(self, settle: float = SETTLE_SECONDS) -> Count:
        """Count everything, after statuses and streams have had the time to end."""
        until(lambda: not (self._half() or self._stuck()), settle, 0.3)
        count = Count(asked=len(self.asked), half=self._half(), stuck=self._stuck())
        replies = self.replies()
        for each in self.asked:
            own = replies.get((each.channel, each.ts), [])
            count.answered += bool(own)
            count.lost += not own
            count.doubled += len(own) > 1
            for message in own:
                self._read(each, message, count)
        return count

    def _read(self, asked: Asked, message: Json, count: Count) -> None:
        verdict = message["metadata"]["event_payload"].get("verdict") or "line"
        text = words_of(message)
        count.verdicts[verdict] += 1
        crossed = message.get("thread_ts") != asked.thread_ts or (
            verdict == "answered" and f"{limit_of(asked.page)} requests" not in text
        )
        count.crossed += crossed
        if crossed or verdict != "answered":
            line = re.sub(r"`[0-9a-f]{8}`", "`...`", text.strip().split("\n")[0])
            count.lines[line[:160]] += 1

    def _messages(self) -> Iterator[tuple[str, Json]]:
        for channel in sorted({each.channel for each in list(self.asked)}):
            for message in self._slack.messages(channel):
                yield channel, message

    def _threads(self) -> set[tuple[str, str]]:
        return {(each.channel, each.thread_ts) for each in self.asked}

    def _half(self) -> int:
        threads = self._threads()
        return sum(
            (channel, message.get("thread_ts")) in threads
            for channel, message in self._messages()
            if message.get("bot_id") and not message.get("metadata") and "_viewer" not in message
        )

    def _stuck(self) -> int:
        state = self._slack.state()
        stuck = [each for each in state["statuses"] if each["status"]]
        stuck += [each for each in state["sessions"] if each.get("status") == "processing"]
        threads = self._threads()
        return len({(e["channel"], e["thread_ts"]) for e in stuck} & threads)


def words_of(message: Json) -> str:
    """Return the text of a message, or that of its blocks."""
    if (message.get("text") or "").strip():
        return str(message["text"])
    return " ".join(_texts(message.get("blocks") or []))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("text", "markdown_text") and isinstance(inner, str):
                yield inner
            else:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
