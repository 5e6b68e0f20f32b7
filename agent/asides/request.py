"""One request beside the conversation: its own messages and deadline, charged to the same answer.

What goes wrong in it costs only what it was for.
"""

from dataclasses import dataclass

from anthropic.types import Message

from agent.draft import Draft
from agent.errors import ModelUnavailable
from agent.model.client import Model, Request
from agent.model.deadline import Deadline


@dataclass(frozen=True, slots=True)
class _Aside:
    """Hears what goes wrong; nobody waits for the words."""

    purpose: str
    draft: Draft

    def wrote(self, text: str) -> None:
        """Nothing to show."""

    def retried(self, error: ModelUnavailable, wait: float) -> None:
        self.draft.note("retry", purpose=self.purpose, error=str(error), wait=round(wait, 3))


def ask_aside(
    purpose: str, model: Model, request: Request, draft: Draft, deadline: Deadline
) -> Message:
    """The model's message. Raises ModelUnavailable, DeadlinePassed or Cancelled."""
    draft.note(
        "request",
        purpose=purpose,
        model=model.name,
        messages=len(request.messages),
        max_tokens=request.max_tokens,
    )
    message = model.respond(request, deadline, _Aside(purpose, draft))
    cost = draft.charge(model.name, message)
    draft.note("response", purpose=purpose, stop=message.stop_reason, **cost)
    return message
