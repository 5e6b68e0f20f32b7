"""Replies that Slack has not accepted, as the terminal shows them."""

from dataclasses import dataclass
from datetime import UTC, datetime

from bot.journal.records import NotedMessage


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A reply that Slack has not accepted."""

    channel: str
    code: str
    """Slack's error."""
    noted_at: float
    """Time of the question, in seconds since 1970."""
    is_waiting: bool
    """True if the post will be repeated, False if Slack's refusal was final."""

    @classmethod
    def of(cls, row: NotedMessage, prefix: str) -> "NotTaken":
        """Return the reply to a noted message; ``prefix`` stands before the code of a wait."""
        code = (row.reason or "").removeprefix(prefix)
        return cls(row.channel, code, row.noted_at, row.state == "claimed")

    def __str__(self) -> str:
        state = "waits for Slack" if self.is_waiting else "was refused"
        return f"to a question of {self._moment} in {self.channel} {state}: {self.code}"

    def to_json(self) -> dict[str, object]:
        return {
            "channel": self.channel,
            "code": self.code,
            "asked_at": self._moment,
            "waiting": self.is_waiting,
        }

    @property
    def _moment(self) -> str:
        return datetime.fromtimestamp(self.noted_at, UTC).isoformat(timespec="seconds")
