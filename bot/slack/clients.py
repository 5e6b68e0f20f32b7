"""Web API clients by purpose: reads are repeated, posts are not, hints fail at once."""

import logging
import re
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import URLError

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryHandler
from slack_sdk.http_retry.builtin_handlers import (
    ConnectionErrorRetryHandler,
    RateLimitErrorRetryHandler,
)
from slack_sdk.web import SlackResponse

from bot.settings import BotSettings
from bot.slack.identity import Identity
from bot.slack.pace import Pace, PacedClient, is_limited
from ingest.errors import FootnoteError, SettingsError

SLACK_FAILED = (SlackApiError, OSError, HTTPException)
"""Exceptions of a Web API call that Slack refuses, or that does not reach Slack."""
# Error codes of Slack by their meaning for the caller; all others are final for that call.
TROUBLE = frozenset({
    "internal_error", "fatal_error", "service_unavailable", "request_timeout",
    "team_added_to_org", "external_channel_migrating", "unknown",
})  # fmt: skip
"""Slack has an internal problem; the call may have been carried out or not."""
CONTENT = frozenset({
    "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_blocks_too_many",
    "msg_too_long", "markdown_text_conflict", "no_text", "invalid_attachments", "invalid_arguments",
})  # fmt: skip
"""Slack never accepts this message, but perhaps a plainer one."""
METADATA = frozenset({
    "metadata_too_large", "invalid_metadata_format", "invalid_metadata_schema",
})  # fmt: skip
"""Slack accepts the message with less metadata."""
UNAVAILABLE = frozenset({
    "not_authorized", "missing_scope", "unknown_method", "method_deprecated", "no_permission",
    "not_allowed_token_type", "feature_not_enabled", "access_denied",
})  # fmt: skip
"""This workspace or this app cannot make the call at all."""
GONE = frozenset({"message_not_found", "channel_not_found", "thread_not_found"})
"""The message or channel does not exist any more; calls about others may succeed."""
_CLOSED = frozenset({
    "not_in_channel", "is_archived", "is_inactive", "thread_locked",
    "cannot_reply_to_message", "messages_tab_disabled", "cannot_dm_bot", "user_not_found",
    "user_disabled", "user_is_bot", "user_not_in_channel", "restricted_action",
})  # fmt: skip
"""The channel accepts nothing from this app; ``restricted_action`` has longer forms."""


_SHORT_WAIT = 3
"""Maximum ``Retry-After`` in seconds that a call waits for while people or events wait."""

SILENT = logging.getLogger("slack_sdk.footnote")
"""Logger for clients: callers log or report their failures themselves."""
SILENT.setLevel(logging.CRITICAL)


class _TroubleRetryHandler(RetryHandler):
    """Repeats a call that failed for an internal problem of Slack, by its status or error code."""

    def _can_retry(self, *, response: HttpResponse | None = None, **_: object) -> bool:
        if response is None:
            return False
        return response.status_code >= 500 or (response.body or {}).get("error") in TROUBLE


class _ShortWaits(RateLimitErrorRetryHandler):
    """Repeats a call after a ``Retry-After`` of few seconds: all calls, or those of one method."""

    def __init__(self, method: str = "") -> None:
        super().__init__(max_retry_count=3)
        self._method = method

    def _can_retry(
        self, *, request: HttpRequest, response: HttpResponse | None = None, **_: object
    ) -> bool:
        if response is None or response.status_code != 429:
            return False
        headers = {name.lower(): values for name, values in response.headers.items()}
        seconds = next(iter(headers.get("retry-after", ())), "")
        is_short = seconds.isdecimal() and int(seconds) <= _SHORT_WAIT
        return is_short and request.url.endswith(self._method)


@dataclass(frozen=True, slots=True)
class Clients:
    """Web API clients by purpose."""

    read: WebClient
    """Repeats a call after a lost connection, ``Retry-After`` or an internal problem of Slack."""
    read_soon: WebClient
    """As ``read``, but it waits for a short ``Retry-After`` only: other events wait meanwhile."""
    post: WebClient
    """For answers: neither waits nor repeats, which could post twice. It keeps the ``pace``."""
    patient: WebClient
    """For what people do by hand: waits for a short ``Retry-After``, and repeats nothing else."""
    hint: WebClient
    """For calls that may fail: never repeats, and has a short timeout."""
    pace: Pace
    """When ``post`` may send the next message into each channel."""


class SlackRefused(FootnoteError):
    """Slack cannot be reached, or refuses the tokens."""


def open_clients(settings: BotSettings) -> Clients:
    """Make the clients for the bot token. Raises SettingsError."""
    token = settings.bot_token.get_secret_value() if settings.bot_token else ""
    if not token.startswith("xoxb-"):
        raise SettingsError(
            "SLACK_BOT_TOKEN is missing or not a bot token. Copy the token that begins with xoxb- "
            'from "OAuth & Permissions" of your Slack app.'
        )
    repeats = (ConnectionErrorRetryHandler(), _TroubleRetryHandler())
    base, pace = settings.slack_api_url.rstrip("/") + "/", Pace()
    post = PacedClient(
        pace, token, base, timeout=20, retry_handlers=[_ShortWaits("chat.delete")], logger=SILENT
    )
    return Clients(
        read=_client(token, base, 20, *repeats, RateLimitErrorRetryHandler(max_retry_count=4)),
        read_soon=_client(token, base, 20, *repeats, _ShortWaits()),
        post=post,
        patient=_client(token, base, 20, _ShortWaits()),
        hint=_client(token, base, 5),
        pace=pace,
    )


def _client(token: str, base: str, seconds: int, *retries: RetryHandler) -> WebClient:
    return WebClient(token, base, timeout=seconds, retry_handlers=[*retries], logger=SILENT)


def identify(client: WebClient) -> Identity:
    """Return the ids of the bot. Raises SlackRefused."""
    me = greet(client)
    return Identity(
        user_id=str(me["user_id"]),
        bot_id=me.get("bot_id"),
        team_id=str(me["team_id"]),
        enterprise_id=me.get("enterprise_id"),
    )


def greet(client: WebClient) -> SlackResponse:
    """Make the first call to Slack. Raises SlackRefused for wrong tokens or a broken network."""
    try:
        return client.auth_test()
    except SlackApiError as error:
        raise SlackRefused(
            f"Slack refuses SLACK_BOT_TOKEN ({slack_error(error)}). Install the app in your "
            'workspace again and copy the token from "OAuth & Permissions".'
        ) from error
    except (URLError, OSError, HTTPException) as error:
        raise SlackRefused(
            f"Slack cannot be reached at {client.base_url} ({type(error).__name__}). "
            "Check the network, a proxy, or SLACK_API_URL."
        ) from error


def is_passing(error: Exception) -> bool:
    """Return True if another attempt soon may succeed.

    That is so if Slack was not reached, has an internal problem, or asks to wait. In most of these
    cases the call may have been carried out already.
    """
    if not isinstance(error, SlackApiError):
        return True
    status = getattr(error.response, "status_code", 200)
    return slack_error(error) in TROUBLE or status >= 500 or is_limited(error)


def may_have_arrived(error: Exception) -> bool:
    """Return True if Slack may have carried out a call that failed."""
    return is_passing(error) and not is_limited(error)


def may_heal(error: Exception) -> bool:
    """Return True if the same call may succeed some day without a change of the channel.

    A revoked token gets replaced, an outage ends, and an unknown error may pass. Only errors about
    the channel or the app are final.
    """
    code = slack_error(error)
    return not (code in _CLOSED | GONE | UNAVAILABLE or code.startswith("restricted_action"))


def slack_error(error: Exception) -> str:
    """Return Slack's error code, the HTTP status, or the exception; never a token or a payload."""
    if isinstance(error, SlackApiError):
        data = getattr(error.response, "data", error.response)
        code = str(data.get("error")) if isinstance(data, dict) else ""
        if re.fullmatch(r"[a-z0-9_]+", code):  # a gateway's HTML page can be in the same field
            return code
        status = getattr(error.response, "status_code", 200)
        return "unknown" if status == 200 else f"http_{status}"
    return type(error).__name__
