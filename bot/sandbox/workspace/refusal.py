"""The answer of a Web API method that says no, in Slack's words."""

from typing import Any

Json = dict[str, Any]


class Refusal(Exception):
    """Slack's ``{"ok": false, "error": ...}``; ``fields`` are what else stands in the answer."""

    def __init__(self, error: str, *, status: int = 200, **fields: Any) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.fields = fields

    def body(self) -> Json:
        return {"ok": False, "error": self.error, **self.fields}


def invalid_arguments(*messages: str) -> Refusal:
    return Refusal(
        "invalid_arguments",
        response_metadata={"messages": [f"[ERROR] {message}" for message in messages]},
    )
