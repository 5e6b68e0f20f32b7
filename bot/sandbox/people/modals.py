"""Submit or close a modal, and carry out the app's response."""

from typing import Any

from bot.sandbox.events.delivery import Acknowledgement
from bot.sandbox.people.interactions import person_and_app
from bot.sandbox.webapi import views
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json, Refusal


async def submit(slack: Slack, request: Json) -> Json:
    """Submit a modal; ``values`` are its inputs by block_id or action_id, as text or choices."""
    user, view = _open_view(slack, request)
    view["state"] = {"values": _state(view["blocks"], request.get("values", {}))}
    payload = {
        "type": "view_submission",
        **person_and_app(slack, user),
        "view": view,
        "response_urls": [],
    }
    outcome = await slack.delivery.interaction("interactive", payload)
    if not isinstance(outcome, Acknowledgement):
        return {"acked": False, "reason": outcome.reason, "payload": payload}
    _follow(slack, user, view, outcome.payload or {})
    return {"acked": True, "response": outcome.payload, "payload": payload}


async def close(slack: Slack, request: Json) -> Json:
    user, view = _open_view(slack, request)
    views.close(slack, user, everything=False)
    if view["notify_on_close"]:
        payload = {
            "type": "view_closed",
            **person_and_app(slack, user),
            "view": view,
            "is_cleared": False,
        }
        payload.pop("trigger_id")
        await slack.delivery.interaction("interactive", payload)
    return {"ok": True}


def _open_view(slack: Slack, request: Json) -> tuple[str, Json]:
    user = str(request["user"])
    stack = slack.workspace.view_stacks.get(user, [])
    view_id = str(request.get("view_id") or (stack[-1] if stack else ""))
    if view_id not in stack:
        raise Refusal("not_found")
    return user, slack.workspace.views[view_id]


def _follow(slack: Slack, user: str, view: Json, answer: Json) -> None:
    """Carry out the ``response_action``; without one the modal closes."""
    action = answer.get("response_action")
    view.pop("errors", None)
    if action == "errors":
        view["errors"] = answer.get("errors", {})
        slack.workspace.changed()
    elif action == "update":
        views.replace(slack, view, views.checked_modal(answer.get("view")))
    elif action == "push":
        views.push(slack, user, views.checked_modal(answer.get("view")))
    else:
        views.close(slack, user, everything=action == "clear")


def _state(blocks: list[Json], values: Json) -> Json:
    """Values of the inputs in Slack's JSON: block_id -> action_id -> value."""
    state: Json = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        action_id = element.get("action_id") or block["block_id"]
        value = values.get(block["block_id"], values.get(action_id))
        if value in (None, "") and not block.get("optional"):
            raise Refusal("invalid_arguments", missing=block["block_id"])
        state[block["block_id"]] = {action_id: _value(element, value)}
    return state


def _value(element: Json, value: Any) -> Json:
    kind = element["type"]
    if kind in ("static_select", "radio_buttons"):
        return {"type": kind, "selected_option": _option(element, value)}
    if kind == "checkboxes":
        chosen = value if isinstance(value, list) else [value] if value else []
        return {"type": kind, "selected_options": [_option(element, one) for one in chosen]}
    return {"type": kind, "value": str(value) if value not in (None, "") else None}


def _option(element: Json, value: Any) -> Json | None:
    options: list[Json] = element.get("options", [])
    return next((option for option in options if option["value"] == value), None)
