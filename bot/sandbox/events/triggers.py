"""Short-lived keys that an interaction carries: trigger_id and response_url."""

import secrets
import time
from dataclasses import dataclass

from bot.sandbox.workspace.refusal import Json, Refusal

RESPONSES = 5
RESPONSE_SECONDS = 30 * 60


@dataclass
class Trigger:
    user: str
    at: float
    used: bool = False


@dataclass
class ResponseUrl:
    """Target of an app's replies to an interaction: at most five within half an hour."""

    channel: str
    user: str
    at: float
    message_ts: str | None = None
    thread_ts: str | None = None
    uses: int = 0


class Triggers:
    def __init__(self) -> None:
        self._triggers: dict[str, Trigger] = {}
        self._responses: dict[str, ResponseUrl] = {}

    def new_trigger(self, user: str) -> str:
        key = f"{secrets.randbelow(10**10)}.{secrets.randbelow(10**10)}.{secrets.token_hex(16)}"
        self._triggers[key] = Trigger(user, time.monotonic())
        return key

    def take(self, key: object, seconds: float) -> str:
        """Return the user of a trigger_id, which works once and for a short time."""
        trigger = self._triggers.get(str(key))
        if trigger is None:
            raise Refusal("invalid_trigger_id")
        if trigger.used:
            raise Refusal("exchanged_trigger_id")
        if time.monotonic() - trigger.at > seconds:
            raise Refusal("expired_trigger_id")
        trigger.used = True
        return trigger.user

    def new_response(self, target: ResponseUrl) -> str:
        key = secrets.token_urlsafe(18)
        self._responses[key] = target
        return key

    def respond(self, key: str) -> ResponseUrl | Json:
        """Return the target of a response_url, or Slack's error when the address is used up."""
        target = self._responses.get(key)
        if target is None or time.monotonic() - target.at > RESPONSE_SECONDS:
            return {"ok": False, "error": "expired_url"}
        if target.uses >= RESPONSES:
            return {"ok": False, "error": "used_url"}
        target.uses += 1
        return target
