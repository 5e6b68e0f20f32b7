"""One request beside the conversation: its own messages and deadline, charged to the same answer.

What goes wrong in it costs only what it was for.
"""

from typing import Any

from anthropic.types import Message

from agent.deadline import Deadline
from agent.draft import Draft
from agent.model import Model, Request


def ask_aside(
    purpose: str, model: Model, request: Request, draft: Draft, deadline: Deadline
) -> Message:
    """The model's message. Raises ModelUnavailable, DeadlinePassed or Cancelled."""

    def note(kind: str, **detail: Any) -> None:
        if kind not in ("writing", "text"):  # nobody waits for these words
            draft.note(kind, purpose=purpose, **detail)

    note("request", model=model.name, messages=len(request.messages), max_tokens=request.max_tokens)
    message = model.respond(request, deadline, note)
    note("response", stop=message.stop_reason, **draft.charge(model.name, message))
    return message
