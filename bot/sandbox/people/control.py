"""HTTP endpoints of the sandbox for people and tests.

The first part is fixed; the second part is for the page and may change.

``POST /sandbox/say``         a person (or ``bot``, with or without its user) posts: channel,
                              user, text, thread_ts?,
                              attachments?, blocks?, files?, bot?, broadcast?, typed? -> ts,
                              channel, events as delivered. ``@Name`` becomes a mention;
                              ``typed`` text is escaped as Slack's composer does it
``POST /sandbox/event``       one event body or a list, delivered exactly as it is -> delivered:
                              how many; the others wait for the app to connect.
                              ``retry_num`` and ``retry_reason`` in a body become retry fields;
                              the message in it can be read back from then on
``GET  /sandbox/messages``    channel, thread_ts? -> messages, blocks as the bot sent them. A
                              thread has only messages that everybody sees; a channel has
                              ephemeral messages too, with their reader in ``_viewer``
``GET  /sandbox/calls``       every Web API call: method, args, response, at
``POST /sandbox/reset``       bot, team, users, channels, threads, usergroups, rules: start again;
                              connections stay open
``POST /sandbox/fail``        method (``*`` for any), error, status, retry_after, delay, times

``POST /sandbox/edit``        channel, ts, text -> events
``POST /sandbox/delete``      channel, ts -> events
``POST /sandbox/alert``       channel: the alert bot posts a sample -> ts, channel, events
``POST /sandbox/react``       user, channel, ts, name, remove? -> events
``POST /sandbox/click``       user, action_id, value?, block_id?, and channel + ts, or view_id, or
                              neither for the App Home -> acked, response, payload.
                              For feedback buttons value is "positive" or "negative"
``POST /sandbox/submit``      user, view_id?, values {block_id: value} -> acked, response, payload
``POST /sandbox/close``       user, view_id?: the modal is closed
``POST /sandbox/command``     user, channel, text, command? -> acked, response, payload
``POST /sandbox/shortcut``    user, channel, ts, callback_id -> acked, response, payload
``POST /sandbox/home``        user, tab? -> events of opening the app's home
``POST /sandbox/stop``        user, channel, thread_ts -> events of the Stop button
``POST /sandbox/rules``       change the switches of ``rules.Rules``
``POST /sandbox/disconnect``  reason?: every Socket Mode connection is asked to refresh; with
                              drop: true it is cut instead
``GET  /sandbox/state``       connections, statuses, sessions, prompts, views and App Homes
"""

import json
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.events.sockets import SocketMode
from bot.sandbox.people import absorb, app_events, interactions, modals
from bot.sandbox.people import posting as people
from bot.sandbox.webapi import reactions
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.faults import Failure
from bot.sandbox.workspace.places import SAMPLE_ALERT
from bot.sandbox.workspace.refusal import Json, Refusal

ControlBody = Callable[[Slack, Any], Awaitable[Json]]


async def say(slack: Slack, request: Json) -> Json:
    channel, post, events = people.say(slack, request)
    return {"ts": post.ts, "channel": channel, "events": events}


async def edit(slack: Slack, request: Json) -> Json:
    return {"events": people.edit(slack, request["channel"], request["ts"], str(request["text"]))}


async def delete(slack: Slack, request: Json) -> Json:
    return {"events": people.delete(slack, request["channel"], request["ts"])}


async def alert(slack: Slack, request: Json) -> Json:
    return await say(slack, {"channel": request["channel"], **SAMPLE_ALERT})


async def react(slack: Slack, request: Json) -> Json:
    space = slack.workspace
    channel, user = str(request["channel"]), str(space.user(request["user"])["id"])
    post = space.post(channel, request["ts"])
    change = reactions.unreact if request.get("remove") else reactions.react
    return {"events": change(slack, channel, post, user, str(request["name"]))}


async def home(slack: Slack, request: Json) -> Json:
    return {"events": app_events.open_home(slack, request["user"], str(request.get("tab", "home")))}


async def stop(slack: Slack, request: Json) -> Json:
    return {
        "events": app_events.stop(
            slack, str(request["user"]), str(request["channel"]), str(request["thread_ts"])
        )
    }


async def event(slack: Slack, request: Any) -> Json:
    bodies = request if isinstance(request, list) else [request]
    for body in bodies:
        absorb.take_in(slack.workspace, body)
    return {"delivered": await slack.delivery.events_in_order(bodies)}


async def reset(slack: Slack, request: Json) -> Json:
    slack.delivery.forget()
    slack.failures.clear()
    slack.calls.clear()
    slack.posted_at.clear()
    slack.rules.change(**{**slack.first_rules, **request.get("rules", {})})
    absorb.reset(slack.workspace, request)
    return {"ok": True}


async def fail(slack: Slack, request: Json) -> Json:
    slack.failures.order(Failure(**request))
    return {"ok": True}


async def rules(slack: Slack, request: Json) -> Json:
    slack.rules.change(**request)
    return {"ok": True}


async def disconnect(slack: Slack, request: Json) -> Json:
    transport = slack.delivery.transport
    if not isinstance(transport, SocketMode):
        raise Refusal("socket_mode_not_enabled")
    if request.get("drop"):
        return {"dropped": await transport.drop()}
    reason = str(request.get("reason", "refresh_requested"))
    return {"asked": await transport.ask_to_disconnect(reason)}


def messages(slack: Slack, query: dict[str, str]) -> Json:
    space = slack.workspace
    channel, thread_ts = query.get("channel", ""), query.get("thread_ts")
    selected = []
    for post in space.in_order(channel):
        if thread_ts and (post.root_ts != thread_ts or post.viewer):
            continue
        message = deepcopy(post.message)
        if post.viewer:
            message["_viewer"] = post.viewer
        selected.append(message)
    return {"messages": selected}


def calls(slack: Slack, _query: dict[str, str]) -> Json:
    return {"calls": slack.calls}


def state(slack: Slack, _query: dict[str, str]) -> Json:
    space = slack.workspace
    transport = slack.delivery.transport
    connections = len(transport.connections) if isinstance(transport, SocketMode) else None
    return {
        "connections": connections,
        "statuses": [
            {"channel": channel, "thread_ts": ts, "status": space.status(channel, ts)}
            for channel, ts in space.statuses
        ],
        "sessions": list(space.sessions.values()),
        "prompts": space.prompts,
        "views": list(space.views.values()),
        "homes": space.homes,
    }


POSTS: dict[str, ControlBody] = {
    "say": say,
    "edit": edit,
    "delete": delete,
    "alert": alert,
    "react": react,
    "click": interactions.click,
    "submit": modals.submit,
    "close": modals.close,
    "command": interactions.command,
    "shortcut": interactions.shortcut,
    "home": home,
    "stop": stop,
    "event": event,
    "reset": reset,
    "fail": fail,
    "rules": rules,
    "disconnect": disconnect,
}
GETS = {"messages": messages, "calls": calls, "state": state}


def routes(slack: Slack) -> list[Route]:
    async def post(request: Request) -> Response:
        body = POSTS.get(request.path_params["name"])
        if body is None:
            return JSONResponse({"ok": False, "error": "no such endpoint"}, 404)
        try:
            content = await request.json() if await request.body() else {}
            json.dumps(content, ensure_ascii=False).encode()  # half a character could not be shown
            return JSONResponse(await body(slack, content))
        except Refusal as refusal:
            return JSONResponse(refusal.body(), 400)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"{type(error).__name__}: {error}"
            return JSONResponse({"ok": False, "error": "bad_request", "detail": message}, 400)

    async def get(request: Request) -> Response:
        body = GETS.get(request.path_params["name"])
        if body is None:
            return JSONResponse({"ok": False, "error": "no such endpoint"}, 404)
        return JSONResponse(body(slack, dict(request.query_params)))

    return [
        Route("/sandbox/{name}", post, methods=["POST"]),
        Route("/sandbox/{name}", get, methods=["GET"]),
    ]
