"""Slack's limits on messages -> when the next one may go into each channel.

Slack limits a channel to about one message a second, and says how long to wait. Nobody sleeps
meanwhile: a message that comes too early is refused as Slack would refuse it, and its sender tries
again when the channel is free.
"""

import logging
import threading
from time import monotonic
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

log = logging.getLogger(__name__)

INTERVAL = 1.0
"""Seconds between two messages into a channel that Slack has limited."""
_LIMITED_SECONDS = 30.0
"""Seconds after Slack's last refusal in which the interval is kept."""
_LONGEST = 600.0
"""Maximum number of seconds that a ``Retry-After`` counts."""
_MOST_CHANNELS = 1_000
LIMITED = frozenset({"ratelimited", "rate_limited"})
"""Error codes after which a later call will succeed: Slack did nothing."""
_PACED = frozenset({"chat.postMessage", "chat.postEphemeral", "chat.update", "chat.stopStream"})


class Pace:
    """When the next call of each method may be made for each channel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, dict[str, float]] = {}
        self._limited_until: dict[str, float] = {}

    def seconds(self, channel: str, method: str | None = None) -> float:
        """Return the seconds until a call may be made: of the method, or else of any."""
        with self._lock:
            times = self._next.get(channel, {})
            at = times.get(method, 0.0) if method else max(times.values(), default=0.0)
        return max(0.0, at - monotonic())

    def is_limited(self, channel: str) -> bool:
        """Return True if Slack has limited the channel lately."""
        with self._lock:
            return monotonic() < self._limited_until.get(channel, 0.0)

    def refused(self, channel: str, method: str, seconds: float) -> None:
        """Record that Slack asks to wait."""
        log.info("Slack limits %s in %s: nothing is sent for %.0f s", method, channel, seconds)
        with self._lock:
            if len(self._next) >= _MOST_CHANNELS:
                self._forget()
            now = monotonic()
            self._next.setdefault(channel, {})[method] = now + seconds
            self._limited_until[channel] = now + seconds + _LIMITED_SECONDS

    def accepted(self, channel: str, method: str) -> None:
        """Record a call that Slack has carried out."""
        if self.is_limited(channel):
            with self._lock:
                self._next.setdefault(channel, {})[method] = monotonic() + INTERVAL

    def _forget(self) -> None:
        now = monotonic()
        for channel, until in list(self._limited_until.items()):
            if until < now:
                del self._limited_until[channel]
                self._next.pop(channel, None)


class PacedClient(WebClient):
    """Sends a message only when its channel is free, and otherwise fails at once."""

    def __init__(self, pace: Pace, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._pace = pace

    def api_call(self, api_method: str, **call: Any) -> SlackResponse:
        channel = (call.get("json") or call.get("params") or {}).get("channel")
        if api_method not in _PACED or not isinstance(channel, str):
            return super().api_call(api_method, **call)
        if seconds := self._pace.seconds(channel, api_method):
            raise self._refusal(api_method, seconds)
        try:
            response = super().api_call(api_method, **call)
        except SlackApiError as error:
            if is_limited(error):
                self._pace.refused(channel, api_method, retry_after(error))
            raise
        self._pace.accepted(channel, api_method)
        return response

    def _refusal(self, method: str, seconds: float) -> SlackApiError:
        response = SlackResponse(
            client=self,
            http_verb="POST",
            api_url=method,
            req_args={},
            data={"ok": False, "error": "ratelimited"},
            headers={"retry-after": f"{seconds:.3f}"},
            status_code=429,
        )
        return SlackApiError("the channel is limited", response)  # type: ignore[no-untyped-call]  # of the SDK


def is_limited(error: Exception) -> bool:
    """Return True if Slack did nothing, and asks to wait."""
    if not isinstance(error, SlackApiError):
        return False
    data = getattr(error.response, "data", error.response)
    code = data.get("error") if isinstance(data, dict) else None
    return code in LIMITED or getattr(error.response, "status_code", 200) == 429


def retry_after(error: Exception) -> float:
    """Return the seconds that Slack asks to wait; 0 if it does not ask."""
    if not isinstance(error, SlackApiError) or not is_limited(error):
        return 0.0
    headers = {name.lower(): value for name, value in error.response.headers.items()}
    try:
        return min(_LONGEST, max(0.0, float(headers.get("retry-after", 30))))
    except ValueError:
        return 30.0
