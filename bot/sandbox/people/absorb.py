"""A described or delivered past -> workspace: reset bodies and events given from outside.

Slack only sends events from places and people that exist; so whoever an event names is there from
then on, and its message can be read back.
"""

import re
from typing import Any

from bot.sandbox.workspace import places
from bot.sandbox.workspace.places import Bot
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.workspace import Post, Workspace

MENTION = re.compile(r"<@([UW][A-Z0-9]+)")


def reset(space: Workspace, given: Json) -> None:
    """Begin anew with other people, places and messages already there."""
    space.clear(_bot(given.get("bot")), _team(given.get("team")))
    for user_id, fields in _by_id(given.get("users")):
        _add_user(space, user_id, fields)
    for channel_id, fields in _by_id(given.get("channels")):
        known = space.channels.get(channel_id) or places.channel(channel_id, fields.get("name"))
        space.channels[channel_id] = {**known, **fields}
    for key, messages in (given.get("threads") or {}).items():
        channel_id = key.partition("/")[0]
        for message in messages:
            add_message(space, channel_id, message)
    space.usergroups = list(given.get("usergroups") or [])


def take_in(space: Workspace, body: Json) -> None:
    """Let the workspace agree with an event that is about to be delivered as given."""
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
    """The message as it is from now on; one that is older than the workspace comes with it."""
    if not isinstance(message, dict) or not message.get("ts"):
        return
    post = space.find(channel_id, message["ts"])
    if post is None:
        add_message(space, channel_id, message)
        return
    post.message.update(message)
    space.changed()


def add_message(space: Workspace, channel_id: str, given: Json) -> None:
    """Keep a message given whole, with the place and the people it names."""
    if channel_id not in space.channels:
        user = {"user": given["user"]} if channel_id.startswith("D") and "user" in given else {}
        space.channels[channel_id] = places.channel(channel_id, **user)
    named = [*MENTION.findall(str(given.get("text", ""))), given.get("user")]
    for user_id in named:
        if isinstance(user_id, str) and user_id not in space.users:
            _add_user(space, user_id, {})
    ts = str(given["ts"])
    if space.find(channel_id, ts):
        return
    inner = {"channel", "event_ts", "channel_type"}
    message = {key: value for key, value in given.items() if key not in inner}
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


def _bot(given: Any) -> Bot:
    if isinstance(given, str):
        return Bot(user_id=given)
    given = given or {}
    default = Bot()
    either = str(given.get("id", ""))
    ids = {either[:1]: either}
    return Bot(
        user_id=given.get("user_id") or given.get("user") or ids.get("U") or default.user_id,
        bot_id=given.get("bot_id") or given.get("bot") or ids.get("B") or default.bot_id,
        app_id=given.get("app_id") or given.get("app") or default.app_id,
        name=given.get("name") or default.name,
    )


def _team(given: Any) -> Json:
    if isinstance(given, str):
        return places.team(given)
    given = dict(given or {})
    wanted = {"team_id": given.pop("id", None) or given.pop("team_id", None)}
    wanted |= {key: given.pop(key, None) for key in ("name", "domain")}
    return {**places.team(**{key: value for key, value in wanted.items() if value}), **given}


def _by_id(given: Any) -> list[tuple[str, Json]]:
    """Objects by id, from ``{id: fields}``, ``{id: name}`` or a list of objects with an id."""
    if isinstance(given, dict):
        return [
            (key, {"name": value} if isinstance(value, str) else dict(value or {}))
            for key, value in given.items()
        ]
    return [(str(one["id"]), dict(one)) for one in given or []]
