"""An exception of the API client -> ModelUnavailable, with a reason for people and whether to
retry.
"""

import logging
import re

import httpx2
from anthropic import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AuthenticationError,
)

from agent.errors import ModelUnavailable
from agent.model.gateway import TooLong

log = logging.getLogger(__name__)

_REASONS = {
    "authentication_error": "The model's API key was rejected.",
    "permission_error": "The model's API key may not use this model.",
    "billing_error": "The model account is out of credit.",
    "not_found_error": "The configured model does not exist.",
    "request_too_large": "The thread is too long for the model.",
    "rate_limit_error": "The model is busy (rate limit).",
    "overloaded_error": "The model is overloaded.",
    "timeout_error": "The model did not answer in time.",
    "api_error": "The model had an internal error.",
}
_BY_STATUS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "api_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_OUTAGE = {"overloaded_error", "timeout_error", "api_error"}
_PASSING = {"rate_limit_error", *_OUTAGE}
_BROKE_OFF = "The model's answer broke off."
_PARAMETER = re.compile(
    r"search_result|cache_control|output_config|effort|thinking|diagnostics|strict"
    r"|role[^a-z]{1,4}system|tool_choice"
)
_NOT_TAKEN = re.compile(
    r"not (support|permit|allow|recogni|implement)|unsupported|unknown|unrecogni|extra input"
    r"|unexpected|invalid (param|type|field|value)",
    re.IGNORECASE,
)


def unavailable(error: Exception, model: str) -> ModelUnavailable:
    """Translate ``error``; its own text stays in the log."""
    if isinstance(error, APIStatusError):
        return _by_status(error, model)
    if isinstance(error, APITimeoutError | httpx2.TimeoutException):
        return _failed("timed out", _REASONS["timeout_error"])
    if isinstance(error, APIConnectionError):
        is_billed = not isinstance(error.__cause__ or error, httpx2.ConnectError)
        return _failed("connection failed", "The model cannot be reached.", is_billed=is_billed)
    if isinstance(error, httpx2.HTTPError):  # only the reading of a stream raises it
        return _failed("the stream broke off", _BROKE_OFF)
    if isinstance(error, TooLong):
        return ModelUnavailable(str(error), "The model's answer was far too long.")
    if isinstance(error, AssertionError):
        return _failed("empty stream", _BROKE_OFF)
    if isinstance(error, APIError | ValueError | LookupError):
        return _failed(f"unreadable response: {type(error).__name__}", _REASONS["api_error"])
    log.warning("%s: %s: %s", model, type(error).__name__, str(error)[:300])
    return ModelUnavailable(type(error).__name__, "The model cannot be used.")


def names_parameter(error: Exception) -> str | None:
    """The parameter that the server refused by name, or None."""
    if not isinstance(error, APIStatusError) or error.status_code not in (400, 422):
        return None
    text = str(error)
    match = _PARAMETER.search(text)
    return match.group() if match and _NOT_TAKEN.search(text) else None


def _by_status(error: APIStatusError, model: str) -> ModelUnavailable:
    # Errors inside a stream arrive with status 200: only their type tells what happened.
    kind, status = str(error.type), error.status_code
    if kind not in _REASONS:  # a gateway's own type, or one that is vaguer than the status
        other = "invalid_request_error" if 400 <= status < 500 else "api_error"
        kind = _BY_STATUS.get(status, other)
    text = str(error)
    if "credit balance" in text or "spend limit" in text:
        kind = "billing_error"
    elif "prompt is too long" in text:
        kind = "request_too_large"
    if not isinstance(error, AuthenticationError):
        log.warning("%s: %s", model, _without_key(text, error.request)[:300])
    return ModelUnavailable(
        f"{model}: {status} {kind}",
        _REASONS.get(kind, "The model refused the request."),
        retryable=kind in _PASSING,
        is_outage=kind in _OUTAGE,
        retry_after=_retry_after(error),
        is_billed=status < 400,
    )


def _without_key(text: str, request: httpx2.Request) -> str:
    """The text of a server without the key of the request, which a gateway may quote."""
    for header in ("x-api-key", "authorization"):
        if key := request.headers.get(header, "").removeprefix("Bearer "):
            text = text.replace(key, "***")
    return text


def _retry_after(error: APIStatusError) -> float | None:
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _failed(message: str, reason: str, *, is_billed: bool = True) -> ModelUnavailable:
    return ModelUnavailable(message, reason, retryable=True, is_outage=True, is_billed=is_billed)


def ended_early() -> ModelUnavailable:
    """The failure of a stream that ends without a stop reason."""
    return _failed("the stream ended early", _BROKE_OFF)
