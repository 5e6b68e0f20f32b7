"""What people write, edit and delete, and Slack's Stop button -> ``bot.answering``."""

from collections.abc import Callable
from typing import Any

from slack_bolt import BoltContext

from bot.answering.decide import Answering
from bot.listeners.bolt import Listener
from bot.question.event import Deleted, Edited, Question


def event_listeners(answering: Answering, revise: Callable[[Question], None]) -> list[Listener]:
    """What makes questions: mentions, messages, and everything that happens to them."""

    def handle(context: BoltContext) -> None:
        found = context.get("found")
        if isinstance(found, Question):
            answering.consider(found)
        elif isinstance(found, Edited):
            revise(found.question)
        elif isinstance(found, Deleted):
            answering.forget(found)

    def stopped(event: dict[str, Any]) -> None:
        """Somebody pressed Slack's own Stop button."""
        answering.stop_thread(str(event.get("channel")), str(event.get("thread_ts")))

    return [
        Listener("event", "app_mention", handle),
        Listener("event", "message", handle),
        Listener("event", "agent_session_stopped", stopped),
    ]
