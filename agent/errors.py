"""Errors of the agent.

FootnoteError (ingest.errors)
└── AgentError
    ├── ModelUnavailable   the model cannot be used: the answer falls back to passages
    │   ├── ParameterRefused   it refused a parameter: a plainer request may succeed
    │   └── BudgetSpent        a daily limit is reached: no request is made
    ├── ToolError          a tool call failed: its text goes to the model as the result
    └── Cancelled          the asker pressed stop
"""

from ingest.errors import FootnoteError


class AgentError(FootnoteError):
    """The agent could not answer a conversation."""


class ModelUnavailable(AgentError):
    """The model refused, failed or ran out of time; ``reason`` is fit for a channel."""

    def __init__(
        self,
        message: str,
        reason: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        is_outage: bool = False,
        is_billed: bool = True,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.retryable = retryable
        self.retry_after = retry_after
        """Seconds the server asked us to wait."""
        self.is_outage = is_outage
        """True if the server has trouble, so that other requests would fail, too."""
        self.is_billed = is_billed
        """False if the server refused the request at once, or was not reached: it costs nothing."""


class ParameterRefused(ModelUnavailable):
    """The server does not accept a parameter; it is not sent again."""


class BudgetSpent(ModelUnavailable):
    """A daily limit is reached, or cannot be checked; ``reason`` says which."""

    def __init__(self, reason: str) -> None:
        super().__init__("budget", reason, is_billed=False)


class ToolError(AgentError):
    """A tool call failed; the text tells the model what to do instead."""


class Cancelled(AgentError):
    """The asker stopped the answer."""
