"""reactions.*: emoji under messages."""

import re

from bot.sandbox.events.shapes import api_message
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
        "message": api_message(slack.workspace, channel, post),
    }


def react(slack: Slack, channel: str, post: Post, user: str, name: str) -> list[Json]:
    name = name.strip(":")
    if not NAME.match(name):
        raise Refusal("invalid_name")
    reactions = post.message.setdefault("reactions", [])
    reaction = next((one for one in reactions if one["name"] == name), None)
    if reaction is None:
        reaction = {"name": name, "users": [], "count": 0}
        reactions.append(reaction)
    if user in reaction["users"]:
        raise Refusal("already_reacted")
    reaction["users"].append(user)
    reaction["count"] = len(reaction["users"])
    slack.workspace.changed()
    return slack.events.reaction("reaction_added", user, channel, post, name)


def unreact(slack: Slack, channel: str, post: Post, user: str, name: str) -> list[Json]:
    reactions = post.message.get("reactions", [])
    reaction = next((one for one in reactions if one["name"] == name.strip(":")), None)
    if reaction is None or user not in reaction["users"]:
        raise Refusal("no_reaction")
    reaction["users"].remove(user)
    reaction["count"] = len(reaction["users"])
    if not reaction["users"]:
        reactions.remove(reaction)
    if not reactions:
        post.message.pop("reactions")
    slack.workspace.changed()
    return slack.events.reaction("reaction_removed", user, channel, post, name)


def _item(slack: Slack, args: Json) -> tuple[str, Post]:
    channel = str(slack.workspace.readable_channel(args["channel"])["id"])
    return channel, slack.workspace.post(channel, args["timestamp"])
