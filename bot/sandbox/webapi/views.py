"""views.*: modals and the App Home."""

import secrets
from typing import Any

from bot.sandbox.webapi.block_rules import IN_VIEWS, check_blocks
from bot.sandbox.webapi.bodies import structure
from bot.sandbox.webapi.call import method
from bot.sandbox.webapi.content import numbered
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json, Refusal

VIEW_BLOCKS = 100
STACK = 3
TITLE = 24
VIEW_KEYS = frozenset(
    [
        "type",
        "title",
        "blocks",
        "close",
        "submit",
        "private_metadata",
        "callback_id",
        "clear_on_close",
        "notify_on_close",
        "external_id",
        "submit_disabled",
    ]
)


@method("views.open", "view")
def open_view(slack: Slack, args: Json) -> Json:
    checked = _checked(args["view"], "modal")
    user = slack.triggers.take(args.get("trigger_id"), slack.rules.trigger_seconds)
    slack.workspace.view_stacks[user] = []
    return {"view": push(slack, user, checked)}


@method("views.push", "view")
def push_view(slack: Slack, args: Json) -> Json:
    checked = _checked(args["view"], "modal")
    user = slack.triggers.take(args.get("trigger_id"), slack.rules.trigger_seconds)
    if not slack.workspace.view_stacks.get(user):
        raise Refusal("not_found")
    return {"view": push(slack, user, checked)}


@method("views.update", "view")
def update_view(slack: Slack, args: Json) -> Json:
    checked = _checked(args["view"], "modal")
    views = slack.workspace.views
    if args.get("external_id"):
        matches = [view for view in views.values() if view["external_id"] == args["external_id"]]
    else:
        matches = [views[key] for key in [str(args.get("view_id"))] if key in views]
    if not matches:
        raise Refusal("not_found")
    if args.get("hash") and args["hash"] != matches[0]["hash"]:
        raise Refusal("hash_conflict")
    return {"view": replace(slack, matches[0], checked)}


@method("views.publish", "user_id", "view")
def publish_view(slack: Slack, args: Json) -> Json:
    checked = _checked(args["view"], "home")
    space = slack.workspace
    user = str(space.user(args["user_id"])["id"])
    home = space.homes.get(user)
    if args.get("hash") and home and args["hash"] != home["hash"]:
        raise Refusal("hash_conflict")
    view = _described(slack, checked, home["id"] if home else _new_id())
    space.homes[user] = view
    space.changed()
    return {"view": view}


def push(slack: Slack, user: str, view: Json) -> Json:
    """Show a modal on top of the open modals of this person."""
    stack = slack.workspace.view_stacks.setdefault(user, [])
    if len(stack) >= STACK:
        raise Refusal("push_limit_reached")
    described = _described(slack, view, _new_id())
    described["root_view_id"] = stack[0] if stack else described["id"]
    described["previous_view_id"] = stack[-1] if stack else None
    slack.workspace.views[described["id"]] = described
    stack.append(described["id"])
    slack.workspace.changed()
    return described


def replace(slack: Slack, old: Json, view: Json) -> Json:
    described = _described(slack, view, old["id"])
    for key in ("root_view_id", "previous_view_id"):
        described[key] = old[key]
    slack.workspace.views[old["id"]] = described
    slack.workspace.changed()
    return described


def close(slack: Slack, user: str, *, everything: bool) -> None:
    """Close the top modal, or all of them."""
    stack = slack.workspace.view_stacks.get(user, [])
    while stack:
        slack.workspace.views.pop(stack.pop(), None)
        if not everything:
            break
    slack.workspace.changed()


def checked_modal(view: Any) -> Json:
    return _checked(view, "modal")


def _described(slack: Slack, view: Json, view_id: str) -> Json:
    space = slack.workspace
    return {
        "id": view_id,
        "team_id": space.team_id,
        "app_id": space.bot.app_id,
        "app_installed_team_id": space.team_id,
        "bot_id": space.bot.bot_id,
        "title": {"type": "plain_text", "text": "View Title", "emoji": True},
        "close": None,
        "submit": None,
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "state": {"values": {}},
        "hash": f"{space.next_ts()}.{secrets.token_hex(4)}",
        "clear_on_close": False,
        "notify_on_close": False,
        "root_view_id": view_id,
        "previous_view_id": None,
        **view,
        "blocks": numbered(view["blocks"]),
    }


def _new_id() -> str:
    return "V0" + secrets.token_hex(5).upper()


def _checked(view: Any, kind: str) -> Json:
    view = structure(view, "invalid_arguments")
    if not isinstance(view, dict):
        raise _wrong("must be an object")
    if view.get("type") != kind:
        raise _wrong(f"type must be {kind}")
    unknown = sorted(set(view) - VIEW_KEYS)
    if unknown:
        raise _wrong(f"invalid additional property: {unknown[0]}")
    limits = {"private_metadata": 3_000, "callback_id": 255, "external_id": 255}
    for key, most in limits.items():
        if len(str(view.get(key, ""))) > most:
            raise _wrong(f"{key} is longer than {most} characters")
    blocks = view.get("blocks")
    check_blocks(blocks, most=VIEW_BLOCKS, kinds=IN_VIEWS)
    if kind == "modal":
        _check_modal(view)
    return view


def _check_modal(view: Json) -> None:
    for key in ("title", "submit", "close"):
        text = view.get(key)
        if text is None and key != "title":
            continue
        if not isinstance(text, dict) or text.get("type") != "plain_text":
            raise _wrong(f"{key} must be plain_text")
        if not 1 <= len(str(text.get("text", ""))) <= TITLE:
            raise _wrong(f"{key} must be 1 to {TITLE} characters")
    if any(block["type"] == "input" for block in view["blocks"]) and not view.get("submit"):
        raise _wrong("submit is required when there is an input block")


def _wrong(message: str) -> Refusal:
    return Refusal(
        "invalid_arguments",
        response_metadata={"messages": [f"[ERROR] {message} [json-pointer:/view]"]},
    )
