"""Actions on the app's buttons, commands and shortcuts -> the payloads that the app gets."""

import time
from collections.abc import Iterator
from typing import Any

from bot.sandbox.events.delivery import Acknowledgement
from bot.sandbox.events.shapes import api_message
from bot.sandbox.events.triggers import ResponseUrl
from bot.sandbox.webapi.responses import respond
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json, Refusal
from bot.sandbox.workspace.workspace import Post

CHOICES = {
    "static_select": "selected_option",
    "radio_buttons": "selected_option",
    "checkboxes": "selected_options",
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
}


async def click(slack: Slack, request: Json) -> Json:
    """Press a button (or feedback button) of a message, a modal or the App Home."""
    user = str(slack.workspace.user(request["user"])["id"])
    if request.get("ts"):
        where, blocks = _message(slack, user, str(request["channel"]), str(request["ts"]))
    else:
        where, blocks = _view(slack, user, request.get("view_id"))
    action = _action(blocks, request)
    payload = {
        "type": "block_actions",
        **person_and_app(slack, user),
        **where,
        "actions": [{**action, "action_ts": f"{time.time():.6f}"}],
    }
    return await _send(slack, "interactive", payload)


async def shortcut(slack: Slack, request: Json) -> Json:
    """Choose a message shortcut from the menu of a message."""
    space = slack.workspace
    user = str(space.user(request["user"])["id"])
    channel = str(request["channel"])
    post = space.post(channel, request["ts"])
    target = ResponseUrl(channel, user, time.monotonic(), post.ts, post.root_ts)
    payload = {
        "type": "message_action",
        **person_and_app(slack, user),
        "callback_id": str(request["callback_id"]),
        "action_ts": f"{time.time():.6f}",
        "message_ts": post.ts,
        "message": api_message(space, channel, post),
        "channel": {"id": channel, "name": _name(slack, channel)},
        "response_url": _response_url(slack, target),
    }
    return await _send(slack, "interactive", payload)


async def command(slack: Slack, request: Json) -> Json:
    """Send a slash command; the text of the app's acknowledgement is shown at once."""
    space = slack.workspace
    person = space.user(request["user"])
    channel = str(space.channel(request["channel"])["id"])
    target = ResponseUrl(channel, person["id"], time.monotonic())
    payload = {
        "token": "sandbox-verification",
        "team_id": space.team_id,
        "team_domain": space.team["domain"],
        "channel_id": channel,
        "channel_name": _name(slack, channel),
        "user_id": person["id"],
        "user_name": person["name"],
        "command": str(request.get("command", "/footnote")),
        "text": str(request.get("text", "")),
        "api_app_id": space.bot.app_id,
        "is_enterprise_install": "false",
        "response_url": _response_url(slack, target),
        "trigger_id": slack.triggers.new_trigger(person["id"]),
    }
    return await _send(slack, "slash_commands", payload, target)


def person_and_app(slack: Slack, user: str) -> Json:
    space = slack.workspace
    person = space.user(user)
    return {
        "user": {
            "id": user,
            "username": person["name"],
            "name": person["name"],
            "team_id": person["team_id"],
        },
        "api_app_id": space.bot.app_id,
        "token": "sandbox-verification",
        "trigger_id": slack.triggers.new_trigger(user),
        "team": {"id": space.team_id, "domain": space.team["domain"]},
        "enterprise": None,
        "is_enterprise_install": False,
    }


async def _send(slack: Slack, kind: str, payload: Json, target: ResponseUrl | None = None) -> Json:
    outcome = await slack.delivery.interaction(kind, payload)
    if not isinstance(outcome, Acknowledgement):
        return {"acked": False, "reason": outcome.reason, "payload": payload}
    if target is not None and outcome.payload:
        respond(slack, target, outcome.payload)
    return {"acked": True, "response": outcome.payload, "payload": payload}


def _message(slack: Slack, user: str, channel: str, ts: str) -> tuple[Json, list[Json]]:
    space = slack.workspace
    post = space.find(channel, ts)
    if post is None or post.viewer not in (None, user):
        raise Refusal("message_not_found")
    target = ResponseUrl(channel, user, time.monotonic(), post.ts, post.root_ts)
    container: Json = {
        "type": "message",
        "message_ts": post.ts,
        "channel_id": channel,
        "is_ephemeral": post.viewer is not None,
    }
    if post.is_reply:
        container["thread_ts"] = post.root_ts
    where: Json = {
        "container": container,
        "channel": {"id": channel, "name": _name(slack, channel)},
        "state": {"values": {}},
        "response_url": _response_url(slack, target),
    }
    if post.viewer is None:
        where["message"] = api_message(space, channel, post)
    return where, _blocks(post)


def _view(slack: Slack, user: str, view_id: Any) -> tuple[Json, list[Json]]:
    space = slack.workspace
    view = space.views.get(str(view_id)) if view_id else space.homes.get(user)
    if view is None:
        raise Refusal("not_found")
    return {"container": {"type": "view", "view_id": view["id"]}, "view": view}, view["blocks"]


def _blocks(post: Post) -> list[Json]:
    blocks = list(post.message.get("blocks", []))
    for attachment in post.message.get("attachments", []):
        blocks += attachment.get("blocks", [])
    return blocks


def _action(blocks: list[Json], request: Json) -> Json:
    """Return the action as Slack reports it, by action_id (and value for feedback buttons)."""
    for block_id, element in _elements(blocks):
        if element.get("action_id") != request["action_id"]:
            continue
        if request.get("block_id") not in (None, block_id):
            continue
        action = {
            "type": element["type"],
            "action_id": element["action_id"],
            "block_id": block_id,
        }
        if element["type"] == "feedback_buttons":
            return action | _feedback(element, request.get("value"))
        for key in ("text", "value", "style", "url"):
            if key in element:
                action[key] = element[key]
        if element["type"] in CHOICES:
            action[CHOICES[element["type"]]] = request.get("value")
        return action
    raise Refusal("action_not_found")


def _feedback(element: Json, value: Any) -> Json:
    for key in ("positive_button", "negative_button"):
        if element[key]["value"] == value or key.startswith(str(value)):
            return {"text": element[key]["text"], "value": element[key]["value"]}
    raise Refusal("action_not_found")


def _elements(blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    for block in blocks:
        candidates = [*block.get("elements", []), block.get("accessory"), block.get("element")]
        for element in candidates:
            if isinstance(element, dict) and element.get("action_id"):
                yield str(block.get("block_id", "")), element


def _name(slack: Slack, channel: str) -> str:
    place = slack.workspace.channel(channel)
    return "directmessage" if place["is_im"] else str(place["name"])


def _response_url(slack: Slack, target: ResponseUrl) -> str:
    return f"{slack.base_url}/response/{slack.triggers.new_response(target)}"
