"""The error of a Web API method, in Slack's words."""

from typing import Any

Json = dict[str, Any]


class Refusal(Exception):
    """Slack's ``{"ok": false, "error": ...}``; ``fields`` are the other fields of the response."""

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
