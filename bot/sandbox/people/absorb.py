"""Reset bodies and events from outside -> workspace.

Slack only sends events from channels and people that exist, so the workspace adds everybody whom an
event names, and its message can be read back.
"""

import re
from typing import Any

from bot.sandbox.workspace import places
from bot.sandbox.workspace.places import BotIdentity
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.workspace import Post, Workspace

MENTION = re.compile(r"<@([UW][A-Z0-9]+)")


def reset(space: Workspace, state: Json) -> None:
    """Start again with other people and channels, and with earlier messages."""
    space.clear(_bot(state.get("bot")), _team(state.get("team")))
    for user_id, fields in _by_id(state.get("users")):
        _add_user(space, user_id, fields)
    for channel_id, fields in _by_id(state.get("channels")):
        place = space.channels.get(channel_id) or places.channel(channel_id, fields.get("name"))
        space.channels[channel_id] = {**place, **fields}
    for key, messages in (state.get("threads") or {}).items():
        channel_id = key.partition("/")[0]
        for message in messages:
            add_message(space, channel_id, message)
    space.usergroups = list(state.get("usergroups") or [])


def take_in(space: Workspace, body: Json) -> None:
    """Change the workspace so that it agrees with an event from outside."""
    event = body.get("event")
    if not isinstance(event, dict) or not event.get("channel"):
        return
    channel_id = str(event["channel"])
    kind, subtype = event.get("type"), event.get("subtype")
    if kind not in ("message", "app_mention"):
        return
    if subtype == "message_changed":
        _take_change(space, channel_id, event.get("message"))
    elif subtype == "message_deleted":
        ts = str(event.get("deleted_ts", ""))
        if space.find(channel_id, ts):
            space.remove(channel_id, ts)
    elif event.get("ts"):
        add_message(space, channel_id, event)
    if body.get("is_ext_shared_channel") and channel_id in space.channels:
        space.channels[channel_id]["is_ext_shared"] = True


def _take_change(space: Workspace, channel_id: str, message: Any) -> None:
    """Store the new text of a message, or the whole message if the workspace lacks it."""
    if not isinstance(message, dict) or not message.get("ts"):
        return
    post = space.find(channel_id, message["ts"])
    if post is None:
        add_message(space, channel_id, message)
        return
    post.message.update(message)
    space.changed()


def add_message(space: Workspace, channel_id: str, original: Json) -> None:
    """Store a complete message, and add its channel and the people that it names."""
    if channel_id not in space.channels:
        user = (
            {"user": original["user"]} if channel_id.startswith("D") and "user" in original else {}
        )
        space.channels[channel_id] = places.channel(channel_id, **user)
    named = [*MENTION.findall(str(original.get("text", ""))), original.get("user")]
    for user_id in named:
        if isinstance(user_id, str) and user_id not in space.users:
            _add_user(space, user_id, {})
    ts = str(original["ts"])
    if space.find(channel_id, ts):
        return
    inner = {"channel", "event_ts", "channel_type"}
    message = {key: value for key, value in original.items() if key not in inner}
    message["type"] = "message"
    if message.get("thread_ts") == ts or not isinstance(message.get("thread_ts"), str):
        message.pop("thread_ts", None)
    space.add(channel_id, Post(message))


def _add_user(space: Workspace, user_id: str, fields: Json) -> None:
    fields = {key: value for key, value in fields.items() if key != "id"}
    name = fields.pop("name", None)
    space.users[user_id] = (
        fields if "error" in fields else places.user(user_id, space.team_id, name, **fields)
    )


def _bot(value: Any) -> BotIdentity:
    if isinstance(value, str):
        return BotIdentity(user_id=value)
    value = value or {}
    default = BotIdentity()
    either = str(value.get("id", ""))
    ids = {either[:1]: either}
    return BotIdentity(
        user_id=value.get("user_id") or value.get("user") or ids.get("U") or default.user_id,
        bot_id=value.get("bot_id") or value.get("bot") or ids.get("B") or default.bot_id,
        app_id=value.get("app_id") or value.get("app") or default.app_id,
        name=value.get("name") or default.name,
    )


def _team(value: Any) -> Json:
    if isinstance(value, str):
        return places.team(value)
    value = dict(value or {})
    fields = {"team_id": value.pop("id", None) or value.pop("team_id", None)}
    fields |= {key: value.pop(key, None) for key in ("name", "domain")}
    return {**places.team(**{key: value for key, value in fields.items() if value}), **value}


def _by_id(entries: Any) -> list[tuple[str, Json]]:
    """Id and fields of each object in ``{id: fields}``, ``{id: name}`` or a list of objects."""
    if isinstance(entries, dict):
        return [
            (key, {"name": value} if isinstance(value, str) else dict(value or {}))
            for key, value in entries.items()
        ]
    return [(str(one["id"]), dict(one)) for one in entries or []]
