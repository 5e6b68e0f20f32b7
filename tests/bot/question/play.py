"""A case of Slack events, played against bots that are connected to a sandbox."""

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from bot.sandbox.server import Sandbox
from tests.bot.stage import Running, Script, Slack
from tests.cases import Json, Unknown, call, carry_out, one_of, table
from tests.waiting import PATIENCE, wait_for

BOT = {"user_id": "U0BOTSELF", "bot_id": "B0BOTSELF", "app_id": "A0BOTSELF"}
TEAM = "T0EXAMPLE"

_AT_WORK = 3.0
"""Seconds for which an answer is under way, where a case gives moments."""


class Play:
    """Plays one case, from the reset on. Call ``stop`` at the end."""

    def __init__(
        self,
        sandbox: Sandbox,
        folder: Path,
        steps: list[Json],
        users: Json | None = None,
        channels: Json | None = None,
        threads: dict[str, list[Json]] | None = None,
        timing: str = "",
    ) -> None:
        self.sandbox, self.folder = sandbox, folder
        self.steps, self.threads = steps, threads or {}
        self.slack, self.script = Slack(sandbox.url), Script()
        self.held = _arrives_before_the_answer(timing)
        """Answers are held until all events are delivered."""
        self.slack.post(
            "reset",
            bot=BOT,
            team=TEAM,
            users=users or {},
            channels=channels or {},
            threads=self.threads,
        )
        self.delivered = 0
        self.posts_before: list[list[Json]] = []
        """The posts before each step."""
        names = dict.fromkeys(step["replica"] for step in steps if "replica" in step)
        self.names = list(names) or [""]
        self.running: dict[str, Running] = {}
        for name in self.names:
            self.start(name)

    def run(self) -> None:
        moments = list(_moments(self.steps))
        for together, following in zip(moments, [*moments[1:], []], strict=True):
            self.posts_before += [self.slack.posts()] * len(together)
            if together[0]["op"] != "event":
                carry_out(OPERATIONS, together[0], self)
                continue
            self.deliver(together)
            if not self.held and not _soon(together, following):
                self.answered()
        self.answered()

    def stop(self) -> None:
        self.script.gate.set()
        for running in self.running.values():
            running.stop()

    def start(self, name: str) -> None:
        """Start a process. Several share a database."""
        url = f"sqlite:///{self.folder}/shared.sqlite" if len(self.names) > 1 else None
        self.running[name] = Running(self.sandbox, self.folder, self.script, database_url=url)

    def lose(self, name: str) -> Running:
        """Return a process that is about to end, and forget its deliveries."""
        running = self.running.pop(name)
        self.delivered -= running.handled
        return running

    def deliver(self, steps: Iterable[Json]) -> None:
        """Deliver all at once, wait until all are acknowledged and decided, and hold answers."""
        self.script.gate.clear()
        sent = [call(Envelope, {k: v for k, v in step.items() if k != "op"}) for step in steps]
        for replica, some in groupby(sent, lambda envelope: envelope.replica):
            with self._only(replica):
                self.slack.deliver(*(envelope.body for envelope in some))
        # No process counts the echo of what it posted itself.
        self.delivered += sum(each.body["event"].get("user") != BOT["user_id"] for each in sent)
        self._decided()
        for each in sent:
            if each.dies:
                self._die(each.replica or self.names[0])

    def answered(self) -> None:
        """Wait until all delivered events are answered."""
        self.script.gate.set()
        self._decided()
        for running in self.running.values():
            running.settle(0)

    @property
    def handled(self) -> int:
        return sum(running.handled for running in self.running.values())

    def _decided(self) -> None:
        running = list(self.running.values())
        wait_for(lambda: not any(each.connection.waiting for each in running))
        wait_for(lambda: self.handled >= self.delivered)
        for each in running:
            each.decided(0)

    def _die(self, name: str) -> None:
        assert self.script.entered.wait(PATIENCE)
        self.lose(name).die(self.script)
        self.script.conversations.clear()

    @contextmanager
    def _only(self, name: str) -> Iterator[None]:
        """Let Slack send to this process only, or to any if ``name`` is empty."""
        others = [r.connection for n, r in self.running.items() if name not in ("", n)]
        for connection in others:
            connection.draining = True
        try:
            yield
        finally:
            for connection in others:
                connection.draining = False


class Envelope:
    """One delivery of an event."""

    def __init__(
        self,
        event: Json,
        event_id: str,
        retry_num: int | None = None,
        retry_reason: str | None = None,
        is_ext_shared_channel: bool | None = None,
        replica: str = "",
        at_s: float | None = None,
        process_dies: str = "",
    ) -> None:
        self.replica, self.dies = replica, bool(process_dies)
        one_of(process_dies, "", "before_first_post")
        optional = {
            "retry_num": retry_num,
            "retry_reason": retry_reason,
            "is_ext_shared_channel": is_ext_shared_channel,
        }
        self.body: dict[str, Any] = {
            "type": "event_callback",
            "team_id": TEAM,
            "api_app_id": BOT["app_id"],
            "event_id": event_id,
            "event_time": int(time.time()),
            "event": event,
            **{name: value for name, value in optional.items() if value is not None},
        }


def repeat(play: Play, step: Json, times: int) -> None:
    one_of(step["op"], "event")
    for number in range(times):
        play.deliver([{**step, "event_id": f"EvR{number}"}])
        play.answered()


def restart(play: Play) -> None:
    for name in play.names:
        if name in play.running:
            play.lose(name).stop()
        play.start(name)


def wait_until_answered(play: Play) -> None:
    play.answered()


OPERATIONS = table(repeat, restart, wait_until_answered)


def _moments(steps: list[Json]) -> Iterator[list[Json]]:
    """Group the steps of one moment, in order."""
    for at_s, some in groupby(steps, lambda step: step.get("at_s")):
        together = list(some)
        yield from [together] if at_s is not None else ([step] for step in together)


def _soon(together: list[Json], following: list[Json]) -> bool:
    """Return True if the following steps arrive while an answer is under way."""
    first, then = (steps[0].get("at_s") if steps else None for steps in (together, following))
    return first is not None and then is not None and then - first < _AT_WORK


def _arrives_before_the_answer(timing: str) -> bool:
    if timing and not re.search(r"\b(before|while|during|after)\b", timing):
        raise Unknown(f"timing {timing!r} is not known to the tests")
    return re.search(r"\b(before|while|during)\b", timing) is not None
