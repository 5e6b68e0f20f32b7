"""The steps of an answer: shown to people as progress, and recorded as a trace.

The trace is returned with the answer, and the bot's journal stores it. It holds ids, numbers and
the model's queries, but no text of a person, a document or an answer.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

EventKind = Literal[
    "open", "request", "retry", "response", "tool_call", "tool_result", "self_check",
    "verify", "mend", "mend_failed", "web_search", "degrade", "answer",
]  # fmt: skip


@dataclass(slots=True)
class TraceEvent:
    """One event, ``at`` seconds after the question arrived."""

    at: float
    kind: EventKind
    detail: dict[str, Any]


@dataclass(slots=True)
class Trace:
    """All events of one answer, in order."""

    events: list[TraceEvent] = field(default_factory=list)

    def add(self, at: float, kind: EventKind, **detail: Any) -> None:
        self.events.append(TraceEvent(round(at, 3), kind, detail))

    def to_json(self) -> list[dict[str, Any]]:
        return [{"at": e.at, "kind": e.kind, **e.detail} for e in self.events]


@dataclass(frozen=True, slots=True)
class Progress:
    """The step that happens now."""

    kind: Literal["thinking", "searching", "reading", "writing"]
    detail: str = ""
    """The query, or the path of a document."""
