"""Web API clients, one a purpose: reading may be repeated, posting may not, hints give up."""

import logging
import re
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import URLError

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry import HttpResponse, RetryHandler
from slack_sdk.http_retry.builtin_handlers import (
    ConnectionErrorRetryHandler,
    RateLimitErrorRetryHandler,
)
from slack_sdk.web import SlackResponse

from bot.settings import BotSettings
from bot.slack.identity import Identity
from ingest.errors import FootnoteError, SettingsError

SLACK_FAILED = (SlackApiError, OSError, HTTPException)
"""Everything a Web API call may raise when Slack refuses it or cannot be reached."""
# What Slack's error codes mean for whoever made the call; all others are final for that call.
LIMITED = frozenset({"ratelimited", "rate_limited"})
"""Nothing was done: later it will be."""
TROUBLE = frozenset({
    "internal_error", "fatal_error", "service_unavailable", "request_timeout",
    "team_added_to_org", "external_channel_migrating", "unknown",
})  # fmt: skip
"""Slack has trouble of its own: nobody knows whether it was done."""
CONTENT = frozenset({
    "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_blocks_too_many",
    "msg_too_long", "markdown_text_conflict", "no_text", "invalid_attachments", "invalid_arguments",
})  # fmt: skip
"""The message as it is will never be taken; in a plainer form it may be."""
METADATA = frozenset({
    "metadata_too_large", "invalid_metadata_format", "invalid_metadata_schema",
})  # fmt: skip
"""It will be taken with less beside it."""
UNAVAILABLE = frozenset({
    "not_authorized", "missing_scope", "unknown_method", "method_deprecated", "no_permission",
    "not_allowed_token_type", "feature_not_enabled", "access_denied",
})  # fmt: skip
"""This workspace or this app will never have it."""
GONE = frozenset({"message_not_found", "channel_not_found", "thread_not_found"})
"""What was asked for is not there any more, which says nothing about the next."""
_CLOSED = frozenset({
    "not_in_channel", "is_archived", "is_inactive", "thread_locked",
    "cannot_reply_to_message", "messages_tab_disabled", "cannot_dm_bot", "user_not_found",
    "user_disabled", "user_is_bot", "user_not_in_channel", "restricted_action",
})  # fmt: skip
"""The place takes nothing from this app, now and later; ``restricted_action`` has longer forms."""


SILENT = logging.getLogger("slack_sdk.footnote")
"""For clients: what fails is told or logged by whoever made the call."""
SILENT.setLevel(logging.CRITICAL)


class _TroubleRetryHandler(RetryHandler):
    """Repeats a call that ended in Slack's own trouble, told by the status or in the answer."""

    def _can_retry(self, *, response: HttpResponse | None = None, **_: object) -> bool:
        if response is None:
            return False
        return response.status_code >= 500 or (response.body or {}).get("error") in TROUBLE


@dataclass(frozen=True, slots=True)
class Clients:
    read: WebClient
    """Repeats a call after a lost connection, after ``Retry-After``, and when Slack has trouble."""
    post: WebClient
    """Waits for ``Retry-After``; never repeats after a lost connection, which could post twice."""
    hint: WebClient
    """For what is nice to have: gives up at once."""


class SlackRefused(FootnoteError):
    """Slack cannot be reached, or does not take the tokens."""


def open_clients(settings: BotSettings) -> Clients:
    token = settings.bot_token.get_secret_value() if settings.bot_token else ""
    if not token.startswith("xoxb-"):
        raise SettingsError(
            "SLACK_BOT_TOKEN is missing or no bot token. Copy the token that begins with xoxb- "
            'from "OAuth & Permissions" of your Slack app.'
        )
    waits = RateLimitErrorRetryHandler(max_retry_count=4)
    # A busy channel takes one message a second: an answer is worth waiting for.
    patient = RateLimitErrorRetryHandler(max_retry_count=60)
    base = settings.slack_api_url.rstrip("/") + "/"
    return Clients(
        read=_client(token, base, 20, ConnectionErrorRetryHandler(), _TroubleRetryHandler(), waits),
        post=_client(token, base, 20, patient),
        hint=_client(token, base, 5),
    )


def _client(token: str, base: str, seconds: int, *retries: RetryHandler) -> WebClient:
    return WebClient(token, base, timeout=seconds, retry_handlers=[*retries], logger=SILENT)


def identify(client: WebClient) -> Identity:
    """Who the bot is."""
    me = greet(client)
    return Identity(
        user_id=str(me["user_id"]),
        bot_id=me.get("bot_id"),
        team_id=str(me["team_id"]),
        enterprise_id=me.get("enterprise_id"),
    )


def greet(client: WebClient) -> SlackResponse:
    """The first call to Slack, so wrong tokens and no network are told here."""
    try:
        return client.auth_test()
    except SlackApiError as error:
        raise SlackRefused(
            f"Slack does not take SLACK_BOT_TOKEN ({slack_error(error)}). Install the app in your "
            'workspace again and copy the token from "OAuth & Permissions".'
        ) from error
    except (URLError, OSError, HTTPException) as error:
        raise SlackRefused(
            f"Slack cannot be reached at {client.base_url} ({type(error).__name__}). "
            "Check the network, a proxy, or SLACK_API_URL."
        ) from error


def is_passing(error: Exception) -> bool:
    """Whether another attempt may succeed: Slack was not reached, is in trouble, or asks to wait.

    After most of these nobody knows whether the call was carried out.
    """
    if not isinstance(error, SlackApiError):
        return True
    status = getattr(error.response, "status_code", 200)
    return slack_error(error) in TROUBLE | LIMITED or status == 429 or status >= 500


def may_heal(error: Exception) -> bool:
    """Whether the same call may succeed some day without anybody changing the channel.

    A revoked token is replaced, an outage ends, and an error that nobody has seen yet may pass:
    only what Slack says of the place or of the app is final.
    """
    code = slack_error(error)
    return not (code in _CLOSED | GONE | UNAVAILABLE or code.startswith("restricted_action"))


def slack_error(error: Exception) -> str:
    """Slack's error code, or the kind of failure; never a token or a payload."""
    if isinstance(error, SlackApiError):
        data = getattr(error.response, "data", error.response)
        code = str(data.get("error")) if isinstance(data, dict) else ""
        # A gateway's HTML page ends up in the same place; it is no code.
        return code if re.fullmatch(r"[a-z0-9_]+", code) else "unknown"
    return type(error).__name__
