"""The Bolt app: every listener in one list, and the middleware that notes before Slack is answered.

Bolt acknowledges an event before its listener runs, and never again: what must survive a crash has
to be on disk by then. So ``note`` is a middleware; an error in it means no acknowledgement, and
Slack delivers again.
"""

import logging
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from slack_bolt import Ack, App, BoltContext, BoltRequest, BoltResponse, Respond
from slack_sdk import WebClient

from bot.answering.decide import Answering
from bot.question.access import Visit
from bot.reply.in_private import say
from bot.reply.wording import NOT_NOW
from ingest.errors import FootnoteError

log = logging.getLogger(__name__)

ANYTHING = re.compile(r".*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Listener:
    """One thing Slack sends and what is done about it."""

    kind: str
    """Name of Bolt's registering method: event, action, command, shortcut, view."""
    name: Any
    """What it listens to: a name, a pattern or constraints."""
    handle: Callable[..., None]


@dataclass(frozen=True, slots=True)
class Interaction:
    """What somebody does with a command, a shortcut, a button or a form.

    It is acknowledged, and handled only for those who may use Footnote there.
    """

    kind: str
    name: Any
    handle: Callable[[dict[str, Any], Respond], None]
    is_public: bool = False
    """Whether everybody in the channel sees what comes of it."""
    when_off: bool = False
    """Whether it is handled where Footnote is switched off."""


def build_app(
    client: WebClient,
    answering: Answering,
    listeners: Sequence[Listener | Interaction],
    *,
    signing_secret: str | None = None,
    executor: Executor | None = None,
) -> App:
    """The app with its listeners; the client carries token and address."""
    bolt = logging.getLogger("slack_bolt.footnote")
    bolt.setLevel(logging.ERROR)  # it warns of SLACK_BOT_TOKEN beside the client that holds it
    app = _Door(
        client=client,
        signing_secret=signing_secret,
        request_verification_enabled=signing_secret is not None,
        listener_executor=executor,
        logger=bolt,
    )
    app.error(_log_failure)
    app.middleware(_note(answering))
    for listener in listeners:
        handle = listener.handle
        if isinstance(listener, Interaction):
            handle = _guarded(answering, listener)
        getattr(app, listener.kind)(listener.name)(handle)
    return app


def _log_failure(error: Exception) -> None:
    """What a middleware or a listener left undone: Slack delivers an event again, or it is found.

    The causes of what is told in a line, such as a database that is away, say nothing more.
    """
    if isinstance(error, FootnoteError):
        log.warning("not done: %s", error)
    else:
        log.error("a listener failed", exc_info=error)


def _guarded(answering: Answering, interaction: Interaction) -> Callable[[Ack, Any, Respond], None]:
    def handle(ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        ack()
        visit = Visit.by(body, is_public=interaction.is_public)
        told = answering.access.refusal(visit, when_off=interaction.when_off)
        if told is None:
            try:
                interaction.handle(body, respond)
            except FootnoteError:
                if respond.response_url:
                    say(respond, NOT_NOW, body=body)
                raise
        elif respond.response_url:  # a form has none, and nobody opens one who may not
            say(respond, told, body=body)

    return handle


class _Door(App):
    """Turns away what Bolt could not route: it would fail inside, and be delivered again."""

    def dispatch(self, req: BoltRequest) -> BoltResponse:
        if _is_whole(req.body):
            return super().dispatch(req)
        log.warning("ignored a delivery that is no event, action or view as Slack sends them")
        # Over HTTP nobody has looked at its signature yet.
        return BoltResponse(status=200 if req.mode == "socket_mode" else 400, body="")


def _is_whole(body: dict[str, Any]) -> bool:
    event, actions = body.get("event", {"type": ""}), body.get("actions", [{}])
    return (
        isinstance(event, dict)
        and isinstance(event.get("type"), str)
        and isinstance(actions, list)
        and actions != []
        and all(isinstance(action, dict) for action in actions)
        and (isinstance(body.get("view"), dict) or not str(body.get("type")).startswith("view_"))
    )


def catch_all() -> list[Listener]:
    """Acknowledges whatever has no listener: what is not acknowledged is delivered again."""

    def ignore_event(body: dict[str, Any]) -> None:
        log.debug("nothing to do for an event of type %s", body["event"].get("type"))

    def ignore(ack: Ack) -> None:
        ack()

    return [
        Listener("event", ANYTHING, ignore_event),
        Listener("action", ANYTHING, ignore),
        Listener("command", ANYTHING, ignore),
        Listener("shortcut", ANYTHING, ignore),
        Listener("view", ANYTHING, ignore),
    ]


def _note(answering: Answering) -> Callable[..., None]:
    def note(
        req: BoltRequest, context: BoltContext, body: dict[str, Any], next: Callable[[], None]
    ) -> None:
        if "event" in body:
            retries = (req.headers.get("x-slack-retry-num") or ["0"])[0]
            context["found"] = answering.note(body, retried=retries != "0")
        next()

    return note
