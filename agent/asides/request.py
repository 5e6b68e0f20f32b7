"""One request beside the conversation: its own messages and deadline, charged to the same answer.

What goes wrong in it costs only what it was for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from anthropic.types import Message, TextBlock

from agent.draft import Draft
from agent.errors import ModelUnavailable
from agent.model.client import Model, Request
from agent.model.deadline import Deadline


@dataclass(frozen=True, slots=True)
class _Aside:
    """Records what goes wrong; nobody waits for the words."""

    purpose: str
    draft: Draft

    def began(self) -> None:
        """Show nothing."""

    def wrote(self, content: Sequence[TextBlock]) -> None:
        """Show nothing."""

    def retried(self, error: ModelUnavailable, wait: float) -> None:
        self.draft.record("retry", purpose=self.purpose, error=str(error), wait=round(wait, 3))


def ask_aside(
    purpose: str, model: Model, request: Request, draft: Draft, deadline: Deadline
) -> Message:
    """The model's message. Raises ModelUnavailable, DeadlinePassed or Cancelled."""
    draft.record(
        "request",
        purpose=purpose,
        model=model.name,
        messages=len(request.messages),
        max_tokens=request.max_tokens,
    )
    message = model.respond(request, deadline, _Aside(purpose, draft))
    cost = draft.charge(model.name, message)
    draft.record("response", purpose=purpose, stop=message.stop_reason, **cost)
    return message
