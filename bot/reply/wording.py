"""What Footnote says of itself: help, busy, failed, and what of a question was not read."""

import math
from collections.abc import Sequence
from typing import Any

HELP = (
    "Ask me something about the docs, for example: `@Footnote how do I roll back a deploy?` "
    "In a thread, mention me alone and I answer what the thread is about. "
    "Say `stop` and I keep out of the thread until somebody mentions me again."
)
THINKING = "is thinking…"
STOPPED = "Stopped: this answer is not complete."
STOPPED_EARLY = "Stopped. There was nothing to show yet."
UNREADABLE = (
    "I could not read this thread, so I do not know what it is about. "
    "Please ask me in words, or mention me again in a moment."
)
INTERRUPTED = "I am restarting: the answer goes on in a moment."
RESTARTING = "I am restarting, and your question got lost with that. Please ask again in a minute."
WAITING_FOR_SLACK = "has the answer, and waits for Slack to take it…"
NOT_TAKEN = (
    "I had an answer to this, but for an hour Slack did not take it, and by now it may be out of "
    "date. Please ask again."
)
LOOKING_UP = "Looking it up: the answer comes below."
BUSY = "Too many questions at once: I cannot take yours now. Please ask again in a few minutes."
NOT_NOW = "This did not work just now: something that I need is away. Please try again in a minute."


def with_notes(message: dict[str, Any], said: Sequence[str]) -> dict[str, Any]:
    """The message with what was not read, as a line of its own above it."""
    if not said:
        return message
    line = " ".join(said)
    element = {"type": "plain_text", "text": line, "emoji": False}
    block = {"type": "context", "block_id": "footnote_notes", "elements": [element]}
    return {**message, "blocks": [block, *message["blocks"]]}


def too_often(seconds: float, where: str) -> str:
    """``where``: whose questions are too many, "you" or "this channel"."""
    wait = max(1, math.ceil(seconds))
    return (
        f"Too many questions from {where} in one minute, so I left this one out. "
        f"Please ask again in {wait} second{'s' if wait > 1 else ''}."
    )


_REFUSALS = {
    "not_in_channel": "I am not a member. Invite me with `/invite`, and ask again.",
    "is_archived": "the channel is archived.",
    "restricted_action": "only some people may post there.",
    "thread_locked": "the thread is locked.",
}


def refused(channel: str, code: str) -> str:
    """For the asker, somewhere else: Slack's ``code`` says why nothing goes into the channel."""
    reasons = (why for prefix, why in _REFUSALS.items() if code.startswith(prefix))
    why = next(reasons, "Slack does not allow it.")
    return f"I cannot reply to your question {_place(channel)}: {why}"


def never_taken(channel: str) -> str:
    """For the asker, when Slack has failed for a day."""
    return (
        f"I had an answer to your question {_place(channel)}, but Slack did not take it for a day. "
        "Please ask again."
    )


def _place(channel: str) -> str:
    """A channel, as words of a sentence; a direct message has no name."""
    return "here" if channel.startswith("D") else f"in <#{channel}>"


def given_up(reference: str) -> str:
    return (
        "I was interrupted three times while I answered this, and have given it up. Please ask "
        f"again, perhaps in other words. Reference: `{reference}`"
    )


def failed(reference: str) -> str:
    return (
        "Something went wrong on my side, and I have no answer. Please ask again; if it happens "
        f"again, tell whoever runs me this reference: `{reference}`"
    )
