"""reactions.*: emoji of the app under messages."""

import re

from bot.sandbox.events.shapes import shown
from bot.sandbox.webapi.call import method
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json, Refusal
from bot.sandbox.workspace.workspace import Post

NAME = re.compile(r"^[a-z0-9_+'-]+(::skin-tone-[2-6])?$")


@method("reactions.add", "channel", "timestamp", "name", scopes=("reactions:write",))
def add(slack: Slack, args: Json) -> Json:
    channel, post = _item(slack, args)
    react(slack, channel, post, slack.workspace.bot.user_id, str(args["name"]))
    return {}


@method("reactions.remove", "channel", "timestamp", "name", scopes=("reactions:write",))
def remove(slack: Slack, args: Json) -> Json:
    channel, post = _item(slack, args)
    unreact(slack, channel, post, slack.workspace.bot.user_id, str(args["name"]))
    return {}


@method("reactions.get", "channel", "timestamp", scopes=("reactions:read",))
def get(slack: Slack, args: Json) -> Json:
    channel, post = _item(slack, args)
    return {
        "type": "message",
        "channel": channel,
        "message": shown(slack.workspace, channel, post),
    }


def react(slack: Slack, channel: str, post: Post, user: str, name: str) -> list[Json]:
    name = name.strip(":")
    if not NAME.match(name):
        raise Refusal("invalid_name")
    reactions = post.message.setdefault("reactions", [])
    found = next((one for one in reactions if one["name"] == name), None)
    if found is None:
        found = {"name": name, "users": [], "count": 0}
        reactions.append(found)
    if user in found["users"]:
        raise Refusal("already_reacted")
    found["users"].append(user)
    found["count"] = len(found["users"])
    slack.workspace.changed()
    return slack.events.reaction("reaction_added", user, channel, post, name)


def unreact(slack: Slack, channel: str, post: Post, user: str, name: str) -> list[Json]:
    reactions = post.message.get("reactions", [])
    found = next((one for one in reactions if one["name"] == name.strip(":")), None)
    if found is None or user not in found["users"]:
        raise Refusal("no_reaction")
    found["users"].remove(user)
    found["count"] = len(found["users"])
    if not found["users"]:
        reactions.remove(found)
    if not reactions:
        post.message.pop("reactions")
    slack.workspace.changed()
    return slack.events.reaction("reaction_removed", user, channel, post, name)


def _item(slack: Slack, args: Json) -> tuple[str, Post]:
    channel = str(slack.workspace.readable_channel(args["channel"])["id"])
    return channel, slack.workspace.post(channel, args["timestamp"])
