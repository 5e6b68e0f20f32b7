"""``python -m tests.bench.slack_load``: the Slack side under many mentions at once.

The sandbox runs in its own process. The bot is wired as in production, except for its agent, which
only waits. Two measures: 200 mentions in ten seconds, and how soon somebody sees that
work has begun while twenty threads are active.
"""

import functools
import platform
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np

from agent.answer import Answer
from agent.conversation import Conversation
from tests.bench.machine import machine
from tests.bench.measure import Sheet, percentiles
from tests.bot.stage import Json, Running, Slack, answered
from tests.waiting import free_port, wait_for

MENTIONS, WITHIN = 200, 10.0
THREADS, FOLLOW_UPS = 20, 100
TAKES = 0.4
"""Seconds that an answer takes."""
CHANNELS = ("C0GENERAL", "C0INCIDENT", "C0PRIVATE")
USERS = ("U0ONCALL", "U0ENGINEER")
_SIGNS = ("agents.sessions.setStatus", "assistant.threads.setStatus", "chat.postMessage")
_NO_SIGN = ("", "active", "closed")


class Acks:
    """Records when Bolt has acknowledged each event."""

    def __init__(self, running: Running) -> None:
        self._at: dict[str, list[float]] = {}
        running.socket.socket_mode_request_listeners.append(self._hear)

    def _hear(self, _client: object, request: Any) -> None:
        ts = str((request.payload.get("event") or {}).get("ts"))
        self._at.setdefault(ts, []).append(time.time())

    def milliseconds(self, asked: list["Mention"]) -> list[float]:
        return [1_000 * (at - each.sent) for each in asked for at in self._at[each.ts]]


class Agent:
    """An agent that waits, then always gives the same answer."""

    def answer(self, conversation: Conversation, *, cancel: Any = None, **_: Any) -> Answer:
        cancel.wait(TAKES)
        return answered(conversation)


@dataclass
class Workspace:
    """The part of a sandbox that ``Running`` uses, for a sandbox in another process."""

    port: int
    api_url: str = field(init=False)

    def __post_init__(self) -> None:
        self.api_url = f"{self.url}/api/"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Remote(Running):
    """A bot whose sandbox runs in another process: only the bot's end of the socket is visible."""

    def connections(self) -> list[object]:
        return [self.socket] if self.socket.is_connected() else []


@dataclass
class Mention:
    channel: str
    ts: str
    sent: float
    thread_ts: str = ""

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts


def mention(slack: Slack, number: int, thread: Mention | None = None) -> Mention:
    """One mention, as Slack delivers it: two events of one message."""
    channel = thread.channel if thread else CHANNELS[number % len(CHANNELS)]
    now = time.time()
    sent = Mention(channel, f"{int(now)}.{number:06d}", now, thread.root if thread else "")
    event = {
        "channel": channel,
        "user": USERS[number % len(USERS)],
        "text": f"<@U0FOOTNOTE> question {number}: how do I roll back?",
        "ts": sent.ts,
        **({"thread_ts": sent.thread_ts} if thread else {}),
    }
    bodies = [
        {
            "type": "event_callback",
            "team_id": "T0SANDBOX",
            "event_id": f"Ev{kind}{sent.ts}",
            "event": {**event, "type": kind, "channel_type": "channel"},
        }
        for kind in ("app_mention", "message")
    ]
    slack.deliver(*bodies)
    return sent


def replies(slack: Slack, asked: list[Mention]) -> list[int]:
    """Number of replies to each mention."""
    counts: dict[str, int] = {}
    for post in slack.calls("chat.postMessage"):
        if post["response"] and post["response"]["ok"]:
            question = post["args"]["metadata"]["event_payload"]["question"]
            counts[question] = counts.get(question, 0) + 1
    return [counts.get(each.ts, 0) for each in asked]


def signs(slack: Slack, asked: list[Mention]) -> list[float]:
    """Milliseconds from each event to the first thing seen in its thread."""
    calls = [c for c in slack.calls(*_SIGNS) if c["args"].get("status") not in _NO_SIGN]
    taken = []
    for each in asked:
        seen = [c["at"] for c in calls if c["args"].get("thread_ts") == each.root]
        taken.append(1_000 * (min(at for at in seen if at >= each.sent) - each.sent))
    return taken


def storm(sheet: Sheet, slack: Slack, running: Running) -> None:
    acks = Acks(running)
    sheet.head(f"{MENTIONS} mentions in {WITHIN:.0f} s, {running.settings.workers} workers")
    begun = time.perf_counter()

    def send(number: int) -> Mention:
        time.sleep(max(0.0, begun + number * WITHIN / MENTIONS - time.perf_counter()))
        return mention(slack, number)

    with ThreadPoolExecutor(64) as pool:
        asked = list(pool.map(send, range(MENTIONS)))
    sheet.line("sent in", f"{time.perf_counter() - begun:.1f} s")
    wait_for(lambda: running.queue.idle, 120)
    sheet.line("all answered after", f"{time.perf_counter() - begun:.1f} s")
    taken = acks.milliseconds(asked)
    p99, slowest = float(np.percentile(taken, 99)), max(taken)
    sheet.line(
        "events, each acknowledged, p50 p95", "{:.0f}, {:.0f} ms".format(*percentiles(taken))
    )
    sheet.line("    p99", f"{p99:.0f} ms", aim="500 ms", reached=p99 < 500)
    sheet.line("    slowest", f"{slowest:.0f} ms", aim="3000 ms", reached=slowest < 3_000)
    sheet.line("    delivered again", f"{len(taken) - 2 * MENTIONS}")
    counts = replies(slack, asked)
    once = counts.count(1)
    sheet.line("answered once", f"{once} of {MENTIONS}", aim="all", reached=once == MENTIONS)
    told = [c for c in slack.calls(_SIGNS[1]) if str(c["args"]["status"]).startswith("is waiting")]
    sheet.line("told that they wait", f"{len({c['args']['thread_ts'] for c in told})}")
    first, later = percentiles(signs(slack, asked))
    sheet.line("first visible sign, p50 p95", f"{first:.0f}, {later:.0f} ms")


def sights(sheet: Sheet, slack: Slack, running: Running) -> None:
    sheet.head(f"First visible sign with {THREADS} threads active, {FOLLOW_UPS} follow-ups")
    roots = [mention(slack, number) for number in range(THREADS)]
    wait_for(lambda: running.queue.idle, 60)
    stop = threading.Event()
    asked: list[Mention] = []
    # Each thread has one question at a time, so that a sign can be told to belong to it.
    for number in range(FOLLOW_UPS // THREADS):
        with ThreadPoolExecutor(THREADS) as pool:

            def send(place: int, number: int = number) -> Mention:
                stop.wait(place * 0.05)
                return mention(slack, 1_000 * (number + 1) + place, roots[place])

            asked += pool.map(send, range(THREADS))
        wait_for(lambda: running.queue.idle, 60)
    taken = signs(slack, asked)
    p50, p95 = percentiles(taken)
    sheet.line("p50", f"{p50:.0f} ms")
    sheet.line("p95", f"{p95:.0f} ms", aim="300 ms", reached=p95 < 300)
    counts = replies(slack, asked)
    sheet.line("answered once", f"{counts.count(1)} of {len(asked)}")


def main() -> None:
    sheet = Sheet()
    sheet.head(f"{machine()}, Python {platform.python_version()}")
    for part in (storm, sights):
        workspace = Workspace(free_port())
        command = [sys.executable, "-m", "bot", "sandbox", "--port", str(workspace.port)]
        sandbox = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            slack = Slack(workspace.url)
            wait_for(functools.partial(_is_up, slack), 60)
            with tempfile.TemporaryDirectory(prefix="footnote-bench-") as work:
                running = Remote(workspace, Path(work), Agent(), queue=MENTIONS)  # type: ignore[arg-type]  # what it uses of both is there
                with closing(_Stopping(running)):
                    part(sheet, slack, running)
        finally:
            sandbox.terminate()
            sandbox.wait()
    sheet.head(f"Missed: {', '.join(sheet.missed) or 'none'}")


@dataclass
class _Stopping:
    running: Running

    def close(self) -> None:
        self.running.stop()


def _is_up(slack: Slack) -> Json | None:
    try:
        return slack.state()
    except (URLError, ConnectionError):
        return None


if __name__ == "__main__":
    main()
