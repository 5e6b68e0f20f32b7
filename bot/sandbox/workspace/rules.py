"""The switches of this Slack: how strict its limits and how long its times are."""

from dataclasses import dataclass, field


@dataclass
class Rules:
    """The defaults are those of Slack; tests shorten times and pages."""

    page_size: int = 1_000
    """Maximum number of messages in one page of history or replies, whatever ``limit`` says."""
    posting_limit: bool = False
    """True refuses more than one message a second in a channel, after a small burst, with 429."""
    ack_seconds: float = 3.0
    """Seconds that a delivery waits for its acknowledgement."""
    retry_delays: list[float] = field(default_factory=lambda: [0.0, 60.0, 300.0])
    """Seconds before the first, second and third redelivery."""
    trigger_seconds: float = 3.0
    """Seconds that a trigger_id can be used."""
    stream_seconds: float = 300.0
    """Seconds after which a stream ends; in Slack, about five minutes."""
    status_seconds: float = 120.0
    """Seconds that a thread status is shown."""
    close_seconds: float = 0.2
    """Seconds that the old socket stays open after a refresh request."""
    scopes: list[str] | None = None
    """Granted bot scopes; None means those of the manifest."""

    def change(self, **values: object) -> None:
        """Set rules by name. Raises ValueError for an unknown name."""
        for name, value in values.items():
            if name not in self.__dataclass_fields__:
                raise ValueError(f"no such rule: {name}")
            setattr(self, name, value)
