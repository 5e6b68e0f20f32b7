"""Payloads on their way to the app: first attempt, acknowledgement, redeliveries.

A transport sends one payload and comes back with the app's answer, or with the reason why there is
none. Without an answer the payload is sent again, up to three times, with Slack's retry fields.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.rules import Rules


@dataclass(frozen=True)
class Retry:
    attempt: int
    reason: str


@dataclass(frozen=True)
class Answer:
    """The app's acknowledgement; ``payload`` is what it said with it."""

    payload: Json | None = None


@dataclass(frozen=True)
class Silence:
    """No acknowledgement, in Slack's words for why."""

    reason: str
    final: bool = False
    """The app asked for no redelivery."""


class Transport(Protocol):
    async def send(
        self, kind: str, payload: Json, retry: Retry | None
    ) -> "asyncio.Future[Answer | Silence]":
        """Put the payload on its way; the future is the outcome."""
        ...


class Delivery:
    def __init__(self, transport: Transport, rules: Rules) -> None:
        self.transport = transport
        self._rules = rules
        self.under_way: set[asyncio.Task[None]] = set()
        """What waits for its acknowledgement, or to be sent."""

    def event(self, body: Json) -> None:
        """Deliver in the background, with redeliveries."""
        self._start(self._until_answered(body, None))

    async def events_in_order(self, bodies: list[Json]) -> int:
        """Deliver each exactly as given, the next one after the one before was sent.

        How many are sent by now comes back; while nobody is connected, the rest waits.
        """
        sent: list[None] = []
        under_way = self._start(self._in_order(bodies, sent))
        await asyncio.wait([under_way], timeout=self._rules.ack_seconds)
        return len(sent)

    async def _in_order(self, bodies: list[Json], sent: list[None]) -> None:
        for given in bodies:
            body = dict(given)
            attempt = body.pop("retry_num", body.pop("retry_attempt", None))
            reason = str(body.pop("retry_reason", "timeout"))
            retry = Retry(int(attempt), reason) if attempt else None
            outcome = await self.transport.send("events_api", body, retry)
            sent.append(None)
            self._start(self._until_answered(body, outcome, retry))

    async def interaction(self, kind: str, payload: Json) -> Answer | Silence:
        """Deliver once and wait: Slack never redelivers what a person did."""
        sending = self.transport.send(kind, payload, None)
        try:
            return await (await asyncio.wait_for(sending, self._rules.ack_seconds))
        except TimeoutError:
            return Silence("timeout")

    def forget(self) -> None:
        """Stop redeliveries; what was sent stays sent."""
        for task in self.under_way:
            task.cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.under_way.add(task)
        task.add_done_callback(self.under_way.discard)
        return task

    async def _until_answered(
        self,
        body: Json,
        outcome: "asyncio.Future[Answer | Silence] | None",
        retry: Retry | None = None,
    ) -> None:
        first = retry.attempt if retry else 0
        for attempt, pause in enumerate([*self._rules.retry_delays, None], start=first + 1):
            pending = outcome or await self.transport.send("events_api", body, retry)
            outcome = None
            result = await pending
            if isinstance(result, Answer) or result.final or pause is None or attempt > 3:
                return
            retry = Retry(attempt, result.reason)
            await asyncio.sleep(pause)
