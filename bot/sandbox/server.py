"""The sandbox as a server on loopback, in a thread or in the foreground."""

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from bot.sandbox.events.delivery import EventDelivery, Transport
from bot.sandbox.events.http_events import HttpEvents
from bot.sandbox.events.sockets import SocketMode
from bot.sandbox.page import site
from bot.sandbox.page.guard import Guard
from bot.sandbox.page.site import DocumentText
from bot.sandbox.people import control
from bot.sandbox.webapi import call as api
from bot.sandbox.webapi.methods import METHODS
from bot.sandbox.webapi.responses import respond
from bot.sandbox.webapi.slack import Slack, open_slack
from bot.sandbox.workspace.refusal import Refusal
from bot.sandbox.workspace.rules import Rules
from bot.slack.manifest import Manifest, read_manifest
from ingest.errors import FootnoteError

HOST = "127.0.0.1"
SAMPLE_PROMPTS = ("What does error PAY-4031 mean?", "How do I roll back a service?")
log = logging.getLogger(__name__)


class SandboxError(FootnoteError):
    """The sandbox cannot be served."""


class Sandbox:
    """A Slack workspace on this machine.

    ``events_url`` delivers by signed HTTP instead of Socket Mode; ``page`` returns the text of a
    document; ``prompts`` are the questions that an empty channel offers.
    """

    def __init__(
        self,
        *,
        events_url: str | None = None,
        page: DocumentText | None = None,
        rules: Rules | None = None,
        manifest: Manifest | None = None,
        prompts: Sequence[str] = SAMPLE_PROMPTS,
    ) -> None:
        rules = rules or Rules()
        self.slack = open_slack(
            manifest or read_manifest(), rules, EventDelivery(_transport(events_url, rules), rules)
        )
        self.slack.prompts = tuple(prompts)
        self._page = page
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return self.slack.base_url

    @property
    def api_url(self) -> str:
        """Value of ``SLACK_API_URL`` for a bot that uses this workspace."""
        return f"{self.url}/api/"

    def start(self, port: int = 0) -> str:
        """Serve in a new thread, and return the base address."""
        listener = self._listen(port)
        server = self._server = self._uvicorn()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(server.serve(sockets=[listener])),
            name="sandbox",
            daemon=True,
        )
        self._thread.start()
        return self.url

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(timeout=10)
            self._server = self._thread = None

    def serve_forever(self, port: int = 8765, ready: Callable[[str], None] | None = None) -> None:
        """Serve until interrupted; ``ready`` receives the address first."""
        try:
            listener = self._listen(port)
        except OSError as error:
            raise SandboxError(
                f"port {port} cannot be used ({error.strerror}). "
                "Stop what uses it, or choose another with --port."
            ) from error
        if ready:
            ready(self.url)
        log.info("workspace at %s, Web API at SLACK_API_URL=%s", self.url, self.api_url)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._uvicorn().serve(sockets=[listener]))

    def _listen(self, port: int) -> socket.socket:
        """Return a listening socket, so that the first caller is never refused."""
        listener = socket.create_server((HOST, port), backlog=256)
        self.slack.base_url = f"http://{HOST}:{listener.getsockname()[1]}"
        return listener

    def _uvicorn(self) -> uvicorn.Server:
        return uvicorn.Server(
            uvicorn.Config(
                application(self.slack, self._page),
                log_config=None,
                lifespan="off",
                ws="websockets-sansio",
                timeout_graceful_shutdown=1,
            )
        )


def _transport(events_url: str | None, rules: Rules) -> Transport:
    return HttpEvents(events_url, rules) if events_url else SocketMode(rules)


def application(slack: Slack, page: DocumentText | None) -> Starlette:
    async def method(request: Request) -> Response:
        reply = await api.call(
            slack,
            METHODS,
            request.path_params["name"],
            request.headers.get("content-type", ""),
            request.url.query,
            request.headers.get("authorization", ""),
            await request.body(),
        )
        if isinstance(reply.body, str):
            return Response(reply.body, reply.status, reply.headers, "text/html")
        return JSONResponse(reply.body, reply.status, reply.headers)

    async def response(request: Request) -> Response:
        target = slack.triggers.respond(request.path_params["key"])
        if isinstance(target, dict):
            return JSONResponse(target, 404)
        try:
            return JSONResponse(respond(slack, target, await request.json()))
        except Refusal as refusal:
            return JSONResponse(refusal.body(), 400)

    async def link(websocket: WebSocket) -> None:
        transport = slack.delivery.transport
        if isinstance(transport, SocketMode):
            await transport.serve(websocket)

    return Starlette(
        routes=[
            Route("/api/{name}", method, methods=["GET", "POST"]),
            Route("/response/{key}", response, methods=["POST"]),
            WebSocketRoute("/link/", link),
            *control.routes(slack),
            *site.routes(slack, page),
        ],
        middleware=[Middleware(Guard)],
    )
