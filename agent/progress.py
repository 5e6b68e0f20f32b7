"""What a person is shown while an answer is made."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Progress:
    """One thing that happens now."""

    kind: Literal["thinking", "searching", "reading", "writing"]
    detail: str = ""
    """The query or the path."""
