"""Socket Mode: tickets, connections, envelopes and their acknowledgements."""

import asyncio
import secrets
from itertools import count
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from bot.sandbox.events.delivery import Acknowledgement, NoAcknowledgement, Pending, Retry
from bot.sandbox.workspace.refusal import Json, Refusal
from bot.sandbox.workspace.rules import Rules

MOST_CONNECTIONS = 10


class AppConnection:
    """One open WebSocket of the app."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.waiting: dict[str, Pending] = {}
        self.draining = False

    def acknowledge(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        outcome = self.waiting.pop(str(message.get("envelope_id")), None)
        if outcome is not None and not outcome.done():
            outcome.set_result(Acknowledgement(message.get("payload")))

    def lost(self) -> None:
        for outcome in self.waiting.values():
            if not outcome.done():
                outcome.set_result(NoAcknowledgement("timeout"))
        self.waiting.clear()


class SocketMode:
    """The transport of an app that connects to Slack instead of serving an endpoint.

    Payloads wait until an app is connected, so a person may write before the bot runs.
    """

    def __init__(self, rules: Rules, app_id: str = "A0FOOTNOTE") -> None:
        self._rules = rules
        self._app_id = app_id
        self._tickets: set[str] = set()
        self._turn = count()
        self._opened = asyncio.Event()
        self.connections: list[AppConnection] = []

    def new_ticket(self) -> str:
        if len(self._open()) >= MOST_CONNECTIONS:
            raise Refusal("too_many_websockets")
        ticket = secrets.token_hex(16)
        self._tickets.add(ticket)
        return ticket

    async def send(self, kind: str, payload: Json, retry: Retry | None) -> Pending:
        envelope: Json = {
            "envelope_id": secrets.token_hex(16),
            "type": kind,
            "payload": payload,
            "accepts_response_payload": kind != "events_api",
        }
        if kind == "events_api":
            envelope["retry_attempt"] = retry.attempt if retry else 0
            envelope["retry_reason"] = retry.reason if retry else ""
        outcome: Pending = asyncio.get_running_loop().create_future()
        while True:
            connection = await self._next()
            connection.waiting[envelope["envelope_id"]] = outcome
            try:
                await connection.socket.send_json(envelope)
            except (WebSocketDisconnect, RuntimeError):
                connection.waiting.pop(envelope["envelope_id"], None)
                self._drop(connection)
                continue
            break
        asyncio.get_running_loop().call_later(self._rules.ack_seconds, _give_up, outcome)
        return outcome

    async def serve(self, socket: WebSocket) -> None:
        """Serve one connection: send hello, read acknowledgements until it closes."""
        ticket = socket.query_params.get("ticket", "")
        if ticket not in self._tickets:
            await socket.close(1008)
            return
        self._tickets.discard(ticket)
        await socket.accept()
        connection = AppConnection(socket)
        await socket.send_json(self._hello())
        self.connections.append(connection)
        self._opened.set()
        try:
            while True:
                connection.acknowledge(await socket.receive_json())
        except (WebSocketDisconnect, ValueError):
            pass
        finally:
            self._drop(connection)
            connection.lost()

    async def ask_to_disconnect(self, reason: str) -> int:
        """Ask every connection to close, as Slack does when it refreshes them."""
        connections = self._open()
        for connection in connections:
            await connection.socket.send_json(
                {"type": "disconnect", "reason": reason, "debug_info": {"host": "sandbox"}}
            )
            if reason == "warning":
                continue
            connection.draining = True
            asyncio.get_running_loop().call_later(
                self._rules.close_seconds, asyncio.ensure_future, _close(connection.socket)
            )
        self._opened.clear() if not self._open() else None
        return len(connections)

    async def drop(self) -> int:
        """Close every connection without a warning, as a broken network does."""
        cut = list(self.connections)
        for connection in cut:
            connection.draining = True
            await _close(connection.socket)
        return len(cut)

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self._open()) + 1,
            "debug_info": {
                "host": "sandbox",
                "build_number": 1,
                "approximate_connection_time": 3600,
            },
            "connection_info": {"app_id": self._app_id},
        }

    def _open(self) -> list[AppConnection]:
        return [connection for connection in self.connections if not connection.draining]

    async def _next(self) -> AppConnection:
        while not (ready := self._open()):
            self._opened.clear()
            await self._opened.wait()
        return ready[next(self._turn) % len(ready)]

    def _drop(self, connection: AppConnection) -> None:
        if connection in self.connections:
            self.connections.remove(connection)


async def _close(socket: WebSocket) -> None:
    if socket.application_state is WebSocketState.CONNECTED:
        await socket.close(1000)


def _give_up(outcome: Pending) -> None:
    if not outcome.done():
        outcome.set_result(NoAcknowledgement("timeout"))
