"""How strict and how quick this Slack is: the switches, all in one place."""

from dataclasses import dataclass, field


@dataclass
class Rules:
    """Defaults are Slack's own; tests shorten times and pages."""

    page_size: int = 1_000
    """Most messages in one page of history or replies, whatever ``limit`` asks for."""
    posting_limit: bool = False
    """One message a second in a channel, with a small burst; beyond that 429."""
    ack_seconds: float = 3.0
    """How long a delivery waits for its acknowledgement."""
    retry_delays: list[float] = field(default_factory=lambda: [0.0, 60.0, 300.0])
    """Pauses before the first, second and third redelivery."""
    trigger_seconds: float = 3.0
    """Life of a trigger_id."""
    stream_seconds: float = 300.0
    """Life of a streaming message; Slack ends it after about five minutes."""
    status_seconds: float = 120.0
    """A thread status fades after this."""
    close_seconds: float = 0.2
    """After a refresh request, how long the old socket stays open."""
    scopes: list[str] | None = None
    """Granted bot scopes; None takes them from the manifest."""

    def change(self, **values: object) -> None:
        """Set rules by name; an unknown name is a mistake of the caller."""
        for name, value in values.items():
            if name not in self.__dataclass_fields__:
                raise ValueError(f"no such rule: {name}")
            setattr(self, name, value)
