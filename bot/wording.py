"""What Footnote says of itself: help, busy, failed, and what of a question was not read."""

from collections.abc import Sequence
from typing import Any

HELP = (
    "Ask me something about the docs, for example: `@Footnote how do I roll back a deploy?` "
    "In a thread, mention me alone and I answer what the thread is about. "
    "Say `stop` and I keep out of the thread until somebody mentions me again."
)
THINKING = "is thinking…"
BUSY = "Too many questions at once: I cannot take yours now. Please ask again in a few minutes."


def with_notes(message: dict[str, Any], said: Sequence[str]) -> dict[str, Any]:
    """The message with what was not read, as a line of its own above it."""
    if not said:
        return message
    line = " ".join(said)
    element = {"type": "plain_text", "text": line, "emoji": False}
    return {**message, "blocks": [{"type": "context", "elements": [element]}, *message["blocks"]]}


def failed(reference: str) -> str:
    return (
        "Something went wrong on my side, and I have no answer. Please ask again; if it happens "
        f"again, tell whoever runs me this reference: `{reference}`"
    )
