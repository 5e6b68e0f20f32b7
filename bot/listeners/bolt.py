"""The Bolt app: middleware that runs before the acknowledgement, and all listeners.

Bolt acknowledges an event before its listener runs, and never again. Whatever must survive a crash
has to be on disk by then, so ``receive`` is a middleware. If it fails, there is no acknowledgement,
and Slack delivers the event again.
"""

import logging
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from slack_bolt import Ack, App, BoltRequest, BoltResponse
from slack_sdk import WebClient

from bot.answering.in_turn import ProcessEnds
from bot.journal.database import JournalError
from bot.reading.block_text import SlackJson
from bot.slack.place import PLACE, place_of
from ingest.errors import FootnoteError

log = logging.getLogger(__name__)

_BRIEF_SECONDS = 60.0

ANYTHING = re.compile(r".*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BoltListener:
    """One kind of delivery, and the function that Bolt calls with it."""

    kind: str
    """Name of Bolt's registering method: event, action, command, shortcut, view."""
    name: str | re.Pattern[str]
    handle: Callable[..., None]
    """Gets the arguments that it names: event, body, ack, ..."""


def build_app(
    client: WebClient,
    receive: Callable[..., None],
    listeners: Sequence[BoltListener],
    *,
    signing_secret: str | None = None,
    executor: Executor | None = None,
) -> App:
    """Build the app; ``client`` has token and address, ``receive`` sees each delivery first."""
    bolt = logging.getLogger("slack_bolt.footnote")
    bolt.setLevel(logging.ERROR)  # hides a warning about SLACK_BOT_TOKEN
    bolt.addFilter(BRIEF)
    app = _CheckingApp(
        client=client,
        signing_secret=signing_secret,
        request_verification_enabled=signing_secret is not None,
        listener_executor=executor,
        logger=bolt,
    )
    app.error(_log_failure)
    app.middleware(receive)
    for listener in listeners:
        getattr(app, listener.kind)(listener.name)(listener.handle)
    return app


def catch_all() -> list[BoltListener]:
    """Acknowledge deliveries without a listener, which Slack would otherwise repeat."""

    def ignore_event(body: SlackJson) -> None:
        log.debug("nothing to do for an event of type %s", body["event"].get("type"))

    def ignore(ack: Ack) -> None:
        ack()

    kinds = ("action", "command", "shortcut", "view")
    return [
        BoltListener("event", ANYTHING, ignore_event),
        *(BoltListener(kind, ANYTHING, ignore) for kind in kinds),
    ]


def _log_failure(error: Exception) -> None:
    """Log the failure of a middleware or a listener.

    Slack delivers the event again, or the recovery finds it. A FootnoteError is logged in one line.
    """
    if isinstance(error, JournalError | ProcessEnds):  # the journal itself logs its errors
        log.debug("not done: %s", error)
    elif isinstance(error, FootnoteError):
        log.warning("not done: %s", error)
    else:
        log.error("a listener failed", exc_info=error)


class _Brief(logging.Filter):
    """Lets one line a minute of Bolt's and Slack's own reports through, without a traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now < self.next:
            return False
        self.next = now + _BRIEF_SECONDS
        error = record.exc_info[1] if record.exc_info else None
        reason = f" ({type(error).__name__})" if error else ""
        record.msg, record.args = f"{record.getMessage().splitlines()[0]}{reason}", ()
        record.exc_info = record.exc_text = None
        return True


BRIEF = _Brief()


class _CheckingApp(App):
    """Ignores malformed deliveries: Bolt would fail, and Slack would deliver them again.

    Finds the place of the others.
    """

    def dispatch(self, req: BoltRequest) -> BoltResponse:
        if _is_well_formed(req.body):
            PLACE.set(place_of(req.body))  # the listeners take the turn of its channel
            return super().dispatch(req)
        log.warning("ignored a delivery that is not an event, action or view as Slack sends them")
        # Over HTTP the signature of the delivery has not been checked yet.
        return BoltResponse(status=200 if req.mode == "socket_mode" else 400, body="")


def _is_well_formed(body: SlackJson) -> bool:
    event, actions = body.get("event", {"type": ""}), body.get("actions", [{}])
    return (
        isinstance(event, dict)
        and isinstance(event.get("type"), str)
        and isinstance(actions, list)
        and actions != []
        and all(isinstance(action, dict) for action in actions)
        and (isinstance(body.get("view"), dict) or not str(body.get("type")).startswith("view_"))
    )
