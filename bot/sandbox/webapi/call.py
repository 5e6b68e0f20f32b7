"""One Web API call: token, scopes and arguments are checked, the method runs, the call is kept."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.sandbox.webapi.bodies import arguments
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.faults import Failure
from bot.sandbox.workspace.refusal import Json, Refusal, invalid_arguments

BOT_TOKEN = "xoxb-sandbox"  # noqa: S105 - the fixed token of a workspace that only exists here
APP_TOKEN = "xapp-sandbox"  # noqa: S105 - as above

MethodBody = Callable[[Slack, Json], Json]


@dataclass(frozen=True)
class Method:
    """A Web API method, with the token, scopes and arguments that a call needs."""

    name: str
    body: MethodBody
    scopes: tuple[str, ...]
    """One of these is enough; ``*`` is channels, groups, im or mpim, by the kind of channel."""
    required: tuple[str, ...]
    token: str


def method(
    name: str,
    *required: str,
    scopes: tuple[str, ...] = (),
    token: str = BOT_TOKEN,
) -> Callable[[MethodBody], Method]:
    """Turn a function into the Web API method ``name``, with its required arguments."""
    return lambda body: Method(name, body, scopes, required, token)


@dataclass(frozen=True)
class ApiResponse:
    status: int
    body: Json | str
    headers: dict[str, str]


async def call(
    slack: Slack,
    methods: Mapping[str, Method],
    name: str,
    content_type: str,
    query: str,
    authorization: str,
    raw: bytes,
) -> ApiResponse:
    """Answer one request to ``/api/NAME`` and keep it in the list of calls."""
    record: Json = {"method": name, "args": {}, "response": None, "at": time.time()}
    slack.calls.append(record)
    headers: dict[str, str] = {}
    status = 200
    body: Json | str
    try:
        args = arguments(content_type, query, raw)
        token = authorization.removeprefix("Bearer ").strip() or str(args.get("token", ""))
        args.pop("token", None)
        record["args"] = {key: value for key, value in args.items() if not isinstance(value, bytes)}
        await _fail_if_ordered(slack.failures.next(name))
        body = {"ok": True, **_answer(slack, methods, name, token, args)}
    except Refusal as refusal:
        status = refusal.status
        if "retry_after" in refusal.fields:
            headers["Retry-After"] = str(refusal.fields.pop("retry_after"))
        body = refusal.fields.get("page") or refusal.body()
    if slack.scopes is not None:
        headers["X-OAuth-Scopes"] = ",".join(sorted(slack.scopes))
    record["response"] = body
    return ApiResponse(status, body, headers)


async def _fail_if_ordered(failure: Failure | None) -> None:
    if failure is None:
        return
    if failure.delay:
        await asyncio.sleep(failure.delay)
    if failure.retry_after is not None or failure.error == "ratelimited":
        raise rate_limited(failure.retry_after or 1, failure.status or 429)
    if failure.error:
        raise Refusal(failure.error, status=failure.status or 200)
    if failure.status:
        raise Refusal("internal_error", status=failure.status, page="<h1>upstream error</h1>")


def rate_limited(seconds: int, status: int = 429) -> Refusal:
    return Refusal("ratelimited", status=status, retry_after=seconds)


def _answer(slack: Slack, methods: Mapping[str, Method], name: str, token: str, args: Json) -> Json:
    called = methods.get(name)
    if called is None:
        raise Refusal("unknown_method", req_method=name)
    _check_token(called, token)
    _check_scopes(slack, called, args)
    missing = [key for key in called.required if args.get(key) in (None, "")]
    if missing:
        if missing == ["channel"]:
            raise Refusal("channel_not_found")
        raise invalid_arguments(*(f"missing required field: {key}" for key in missing))
    return called.body(slack, args)


def _check_token(called: Method, token: str) -> None:
    if not token:
        raise Refusal("not_authed")
    if token not in (BOT_TOKEN, APP_TOKEN):
        raise Refusal("invalid_auth")
    if token != called.token:
        raise Refusal("not_allowed_token_type")


def _check_scopes(slack: Slack, called: Method, args: Json) -> None:
    if slack.scopes is None or not called.scopes:
        return
    needed = [_scope(slack, scope, args) for scope in called.scopes]
    if not slack.scopes.intersection(needed):
        provided = ",".join(sorted(slack.scopes))
        raise Refusal("missing_scope", needed=needed[0], provided=provided)


def _scope(slack: Slack, scope: str, args: Json) -> str:
    if not scope.startswith("*"):
        return scope
    kind = slack.workspace.kind(str(args.get("channel") or "C"))
    family = {"channel": "channels", "group": "groups"}.get(kind, kind)
    return family + scope[1:]
