"""Payloads on their way to the app: first attempt, acknowledgement, redeliveries.

A transport sends one payload and returns the app's acknowledgement, or the reason why none came.
Without an acknowledgement the payload is sent again, up to three times, with Slack's retry fields.
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
class Acknowledgement:
    """The app acknowledged a payload; ``payload`` is the body of its response."""

    payload: Json | None = None


@dataclass(frozen=True)
class NoAcknowledgement:
    """The app did not acknowledge a payload; ``reason`` is Slack's word for the cause."""

    reason: str
    final: bool = False
    """True if the app asked for no redelivery."""


Pending = asyncio.Future[Acknowledgement | NoAcknowledgement]
"""The outcome of a payload on its way to the app."""


class Transport(Protocol):
    async def send(self, kind: str, payload: Json, retry: Retry | None) -> Pending:
        """Start to send the payload; the future holds the outcome."""
        ...


class EventDelivery:
    def __init__(self, transport: Transport, rules: Rules) -> None:
        self.transport = transport
        self._rules = rules
        self.under_way: set[asyncio.Task[None]] = set()
        """Payloads that are not sent yet, or not acknowledged."""

    def event(self, body: Json) -> None:
        """Deliver in the background, with redeliveries."""
        self._start(self._until_answered(body, None))

    async def events_in_order(self, bodies: list[Json]) -> int:
        """Deliver each body exactly as it is, each one after the one before was sent.

        Returns how many are sent by now; the others wait until an app is connected.
        """
        sent: list[None] = []
        under_way = self._start(self._in_order(bodies, sent))
        await asyncio.wait([under_way], timeout=self._rules.ack_seconds)
        return len(sent)

    async def _in_order(self, bodies: list[Json], sent: list[None]) -> None:
        for original in bodies:
            body = dict(original)
            attempt = body.pop("retry_num", body.pop("retry_attempt", None))
            reason = str(body.pop("retry_reason", "timeout"))
            retry = Retry(int(attempt), reason) if attempt else None
            outcome = await self.transport.send("events_api", body, retry)
            sent.append(None)
            self._start(self._until_answered(body, outcome, retry))

    async def interaction(self, kind: str, payload: Json) -> Acknowledgement | NoAcknowledgement:
        """Deliver once and wait: Slack never redelivers an interaction."""
        sending = self.transport.send(kind, payload, None)
        try:
            return await (await asyncio.wait_for(sending, self._rules.ack_seconds))
        except TimeoutError:
            return NoAcknowledgement("timeout")

    def forget(self) -> None:
        """Stop all deliveries and redeliveries that are under way."""
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
        outcome: Pending | None,
        retry: Retry | None = None,
    ) -> None:
        first = retry.attempt if retry else 0
        for attempt, pause in enumerate([*self._rules.retry_delays, None], start=first + 1):
            pending = outcome or await self.transport.send("events_api", body, retry)
            outcome = None
            result = await pending
            if isinstance(result, Acknowledgement) or result.final or pause is None or attempt > 3:
                return
            retry = Retry(attempt, result.reason)
            await asyncio.sleep(pause)
