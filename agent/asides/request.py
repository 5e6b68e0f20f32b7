"""One request beside the conversation, with its own messages and deadline.

Its cost is part of the answer's cost. If the request fails, the answer lacks only the result of
this request.
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
    """Records failures, and shows no text."""

    purpose: str
    draft: Draft

    def sending(self) -> None:
        """Show nothing."""

    def began(self) -> None:
        """Show nothing."""

    def wrote(self, content: Sequence[TextBlock]) -> None:
        """Show nothing."""

    def retried(self, error: ModelUnavailable, wait: float) -> None:
        self.draft.record("retry", purpose=self.purpose, error=str(error), wait=round(wait, 3))


def ask_aside(
    purpose: str, model: Model, request: Request, draft: Draft, deadline: Deadline
) -> Message:
    """Return the model's message. Raises ModelUnavailable, DeadlinePassed or Cancelled."""
    draft.account.check()
    draft.record(
        "request",
        purpose=purpose,
        model=model.name,
        messages=len(request.messages),
        max_tokens=request.max_tokens,
    )
    message, cost = draft.account.respond(model, request, deadline, _Aside(purpose, draft))
    draft.record("response", purpose=purpose, stop=message.stop_reason, **cost)
    return message
