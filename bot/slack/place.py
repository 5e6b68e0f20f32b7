"""An event from Slack -> the channel whose turn its handling takes."""

from collections.abc import Mapping
from contextvars import ContextVar

PLACE: ContextVar[str] = ContextVar("place", default="")
"""Id of the channel, or of the person, for whom the present thread works."""


def place_of(payload: object) -> str:
    """Return the channel of an event, a command or an action; else its user, or an empty text."""
    if not isinstance(payload, Mapping):
        return ""
    event = payload.get("event")
    body = event if isinstance(event, Mapping) else payload
    for name in ("channel", "channel_id", "user", "user_id"):
        value = body.get(name)
        place = value.get("id") if isinstance(value, Mapping) else value
        if isinstance(place, str) and place:
            return place
    return ""
