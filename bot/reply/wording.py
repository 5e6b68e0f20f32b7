"""Fixed lines that people read: help, limits, failures, and parts of a question not read."""

import math
from collections.abc import Sequence

from bot.slack.identity import SlackMessage

HELP = (
    "Ask me something about the docs, for example: `@Footnote how do I roll back a deploy?` "
    "In a thread, mention me alone and I answer what the thread is about. "
    "Say `stop` and I keep out of the thread until somebody mentions me again."
)
THINKING = "is thinking…"


def waiting(ahead: int) -> str:
    """Tell the asker how many other questions come first."""
    return f"is waiting: {ahead} ahead…"


STOPPED = "Stopped: this answer is not complete."
STOPPED_EARLY = "Stopped. There was nothing to show yet."
UNREADABLE = (
    "I could not read this thread, so I do not know what it is about. "
    "Please ask me in words, or mention me again in a moment."
)
INTERRUPTED = "I am restarting. The answer continues in a moment."
LOST = "I was interrupted before I could answer your question. Please ask it again."
NOT_KEPT = (
    "I cannot keep track of questions at the moment: if I am restarted now, I lose those that I "
    "have not answered."
)
RESTARTING = "I am restarting, and your question was lost. Please ask again in a minute."
WAITING_FOR_SLACK = "has the answer, and waits for Slack to accept it…"
NOT_TAKEN = (
    "I had an answer to this, but Slack did not accept it for an hour. It may be out of date by "
    "now. Please ask again."
)
LOOKING_UP = "Looking it up: the answer comes below."
BUSY = "Too many questions at once: I cannot answer yours now. Please ask again in a few minutes."
EDIT_LEFT_OUT = "The answer under way is to your words before this edit."
NOT_YOURS = "This answer was made for somebody else, so its buttons are not for you."
NOT_NOW = "Something I depend on is unavailable. Please try again in a minute."


def with_notes(message: SlackMessage, notes: Sequence[str]) -> SlackMessage:
    """Return the message with the notes as a line above it."""
    if not notes:
        return message
    line = " ".join(notes)
    element = {"type": "plain_text", "text": line, "emoji": False}
    block = {"type": "context", "block_id": "footnote_notes", "elements": [element]}
    return {**message, "blocks": [block, *message["blocks"]]}


def too_often(seconds: float, where: str) -> str:
    """Tell the asker when to ask again; ``where`` is "you" or "this channel"."""
    wait = max(1, math.ceil(seconds))
    return (
        f"Too many questions from {where} in one minute, so I left this one out. "
        f"Please ask again in {wait} second{'s' if wait > 1 else ''}."
    )


_REFUSALS = {
    "not_in_channel": "I am not a member. Invite me with `/invite`, and try again.",
    "channel_not_found": "I am not a member. Invite me with `/invite`, and try again.",
    "is_archived": "the channel is archived.",
    "restricted_action": "only some people may post there.",
    "thread_locked": "the thread is locked.",
}


def refused(channel: str, code: str) -> str:
    """Tell the asker elsewhere that the channel accepts no reply; ``code`` is Slack's error."""
    return f"I cannot reply to your question {_place(channel)}: {_why(code)}"


def not_shared(code: str, *, is_final: bool) -> str:
    """Tell who shares an answer why it is not posted; ``code`` is Slack's error."""
    if not is_final:
        return "Slack does not accept my message at the moment. Please share it again in a minute."
    return f"I cannot post here: {_why(code)}"


def _why(code: str) -> str:
    reasons = (why for prefix, why in _REFUSALS.items() if code.startswith(prefix))
    return next(reasons, "Slack does not allow it.")


def never_taken(channel: str) -> str:
    """Tell the asker that Slack has failed for a day."""
    return (
        f"I had an answer to your question {_place(channel)}, but Slack did not accept it for a "
        "day. Please ask again."
    )


def _place(channel: str) -> str:
    """Name a channel within a sentence; a direct message has no name."""
    return "here" if channel.startswith("D") else f"in <#{channel}>"


def given_up(reference: str) -> str:
    return (
        "I was interrupted three times while I answered this, and I have given up. Please ask "
        f"again, perhaps in other words. Reference: `{reference}`"
    )


def failed(reference: str) -> str:
    return (
        "Something went wrong on my side, and I have no answer. Please ask again. If it happens "
        f"again, give this reference to whoever runs me: `{reference}`"
    )
