"""The bot as production composes it, connected to a sandbox; only the agent is scripted.

Everything between Slack's socket and the conversation is real: Bolt, the journal on disk, threads
read over HTTP. A ``Script`` stands where the agent does, so that a test sees what it was asked.
"""

import json
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from agent.answer import Answer
from agent.conversation import Conversation
from agent.errors import Cancelled
from agent.grounding import read_segments
from bot.answering.in_turn import InTurn
from bot.answering.outbox import Retries
from bot.blocks import render_answer
from bot.build import Parts, build_bot
from bot.channels import Channel, Channels
from bot.journal.claims import Journal, open_journal
from bot.sandbox.events.sockets import SocketMode
from bot.sandbox.server import Sandbox
from bot.sandbox.workspace.rules import Rules
from bot.settings import BotSettings
from bot.slack.clients import identify, open_clients
from bot.slack.socket_mode import SlackSocket
from ingest.documents import Passage
from ingest.index import open_index
from ingest.settings import IndexSettings
from tests.waiting import PATIENCE, wait_for

Json = dict[str, Any]

RUNBOOK = Passage(
    id="payments-runbook-0",
    path="payments-runbook.md",
    title="Payments runbook",
    heading=("Rollback",),
    lines=(3, 9),
    text="Run `kubectl rollout undo`.",
    hash="0123456789abcdef",
    url="https://docs.example.com/payments-runbook.md#L3-L9",
)


class Script:
    """In place of the agent: records each conversation, and answers when the gate is open."""

    def __init__(self) -> None:
        self.conversations: list[Conversation] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.dead = threading.Event()
        self.reply: Callable[[Conversation], Answer] = answered
        self.parts: list[Callable[[Conversation], Answer]] = []
        """Beginnings of the answer, shown one after the other before it ends."""

    def answer(
        self,
        conversation: Conversation,
        *,
        on_progress: Any = None,
        on_paragraph: Any = None,
        cancel: Any = None,
    ) -> Answer:
        self.conversations.append(conversation)
        for part in self.parts if on_paragraph else ():
            on_paragraph(part(conversation))
        self.entered.set()
        while not self.gate.wait(0.01):
            if self.dead.is_set() or (cancel is not None and cancel.is_set()):
                raise Cancelled("called off")
        return self.reply(conversation)


def answered(conversation: Conversation, text: str = "") -> Answer:
    """Return an answer with one citation and a new id."""
    number = answered.count = getattr(answered, "count", 0) + 1  # type: ignore[attr-defined]  # a counter
    return Answer(
        id=f"answer{number}",
        question=conversation.question,
        verdict="answered",
        segments=read_segments(
            text or "Run `kubectl rollout undo` [payments-runbook-0].", [RUNBOOK.id]
        ),
        citations=(RUNBOOK,),
        passages=(RUNBOOK,),
        revision="1a2b3c4d5e",
    )


class Listeners(InTurn):
    """Bolt's listener executor, with its futures kept."""

    def __init__(self) -> None:
        super().__init__(8)
        self.futures: list[Future[Any]] = []

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(*args, **kwargs)
        self.futures.append(future)
        return future


class Running:
    """One bot, as one process runs it."""

    def __init__(
        self,
        sandbox: Sandbox,
        folder: Path,
        script: Script,
        channels: Channels | None = None,
        retries: Retries | None = None,
        request_ingest: Callable[[], bool] = lambda: True,
        **settings: Any,
    ) -> None:
        self.settings = BotSettings(
            bot_token="xoxb-sandbox", slack_api_url=sandbox.api_url, **settings
        )
        self.clients = open_clients(self.settings)
        self.me = identify(self.clients.read)
        self.journal: Journal = open_journal(self.settings.journal_url, folder, has_standby=True)
        self.index = open_index(IndexSettings(data_dir=folder), collections={})
        self.listeners = Listeners()
        bot = build_bot(
            Parts(
                settings=self.settings,
                clients=self.clients,
                me=self.me,
                journal=self.journal,
                index=self.index,
                agent=script,
                render=render_answer,
                find_runbook=self.runbook,
                last_run=lambda: None,
                reindex=request_ingest,
                listening=self.listeners,
                channels=channels or Channels(),
                retries=retries or Retries(),
            )
        )
        self.queue, self.recovery, self.reviser = bot.queue, bot.recovery, bot.reviser
        self.statuses, self.app = bot.statuses, bot.app
        self._sandbox = sandbox
        others = self.connections()
        self._handled: list[Any] = []
        self.socket = SlackSocket(bot.app, "xapp-sandbox")
        self.socket.socket_mode_request_listeners.append(self._count)
        self.socket.connect()
        [self.connection] = wait_for(lambda: [c for c in self.connections() if c not in others])
        self.recovery.recover(at_start=True)

    def connections(self) -> list[object]:
        """The sandbox's open sockets: it may notice an end later than the bot."""
        transport = self._sandbox.slack.delivery.transport
        assert isinstance(transport, SocketMode)
        return list(transport.connections)

    @staticmethod
    def runbook(text: str, channel: Channel) -> Json | None:
        """Return a runbook for every alert about something stuck."""
        parts = ", ".join(channel.collections or ())
        return {"text": f"Runbook {parts}", "blocks": []} if "Stuck" in text else None

    def _count(self, _client: Any, request: Any) -> None:
        """Keep acknowledged deliveries, except events about the bot's own posts."""
        event = request.payload.get("event") or {}
        if not isinstance(event, dict) or event.get("user") != self.me.user_id:
            self._handled.append(event)

    @property
    def handled(self) -> int:
        return len(self._handled)

    def decided(self, delivered: int) -> None:
        """Wait until so many deliveries are acknowledged and their listeners are done."""
        wait_for(lambda: self.handled >= delivered)
        wait(list(self.listeners.futures), timeout=PATIENCE)

    def settle(self, delivered: int) -> None:
        """Wait until so many deliveries are decided and answered."""
        self.decided(delivered)
        wait_for(lambda: self.queue.idle)

    def disconnect(self) -> None:
        """Disconnect, so that nothing is delivered here and lost."""
        self.socket.close()
        wait_for(lambda: self.connection not in self.connections())

    def stop(self) -> None:
        self.disconnect()
        self.queue.drain(20)
        self.statuses.wait_until_cleared(PATIENCE)
        self.listeners.shutdown()
        self.journal.close()
        self.index.close()

    def die(self, script: Script) -> None:
        """As after SIGKILL: answers under way are not posted, and nothing is written any more.

        Only their statuses are cleared, which a killed process does not do.
        """
        self.disconnect()
        self.listeners.shutdown()
        script.dead.set()
        wait_for(lambda: self.queue.idle)
        self.queue.drain(0)
        self.statuses.wait_until_cleared(PATIENCE)
        script.dead.clear()
        self.journal.close()
        self.index.close()


def lose_responses(
    monkeypatch: pytest.MonkeyPatch, client: object, method: str, times: int = 1_000
) -> list[Any]:
    """Lose the first responses to a method, although its calls arrive. Return the lost ones."""
    call, lost = getattr(client, method), list[Any]()

    def lose(**arguments: Any) -> Any:
        response = call(**arguments)
        if len(lost) == times:
            return response
        lost.append(response)
        raise TimeoutError

    monkeypatch.setattr(client, method, lose)
    return lost


def patient_rules(**others: Any) -> Rules:
    """Rules of a Slack that waits longer than a slow machine needs, so it repeats no delivery."""
    return Rules(ack_seconds=20, trigger_seconds=PATIENCE, **others)


class Slack:
    """The sandbox's endpoints for people and tests."""

    def __init__(self, url: str) -> None:
        self._url = url

    def post(self, name: str, **body: Any) -> Json:
        return self._fetch(f"/sandbox/{name}", json.dumps(body).encode())

    def deliver(self, *bodies: Json) -> Json:
        return self._fetch("/sandbox/event", json.dumps(list(bodies)).encode())

    def calls(self, *methods: str) -> list[Json]:
        found: list[Json] = self._fetch("/sandbox/calls")["calls"]
        return [call for call in found if not methods or call["method"] in methods]

    def posts(self) -> list[Json]:
        """Arguments of every message that was posted."""
        return [
            call["args"]
            for call in self.calls("chat.postMessage")
            if isinstance(call["response"], dict) and call["response"]["ok"]
        ]

    def messages(self, channel: str, thread_ts: str = "") -> list[Json]:
        query = f"/sandbox/messages?channel={channel}&thread_ts={thread_ts}"
        found: list[Json] = self._fetch(query)["messages"]
        return found

    def url(self, path: str) -> str:
        return self._url + path

    def state(self) -> Json:
        return self._fetch("/sandbox/state")

    def _fetch(self, path: str, data: bytes | None = None) -> Json:
        request = Request(self._url + path, data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=30) as response:
            found: Json = json.loads(response.read())
        return found
