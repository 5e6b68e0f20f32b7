"""Actions of people and other bots: post, edit and delete messages."""

import re
import uuid
from copy import deepcopy

from bot.sandbox.events.translation import escape, typed_blocks
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace import places
from bot.sandbox.workspace.places import CREATED
from bot.sandbox.workspace.refusal import Json, Refusal
from bot.sandbox.workspace.workspace import Post

ALERTS = "B0ALERTS"
NAME = re.compile(r"(?<![\w<@.])@([A-Za-z][\w.-]*)")
ADDRESS = re.compile(r"https?://[^\s<>|]+")


def say(slack: Slack, request: Json) -> tuple[str, Post, list[Json]]:
    """Post a message and start to deliver its events, which are returned too."""
    space = slack.workspace
    channel = place_to_speak(slack, request)
    text = str(request.get("text") or "")
    if request.get("typed"):
        text = as_sent(text)
    text = named(slack, text)
    message: Json = {"type": "message", "text": text, "ts": space.next_ts()}
    if request.get("bot"):
        message.update(_bot_author(slack, request))
    else:
        message.update(_person(slack, request), client_msg_id=str(uuid.uuid4()))
        if text:
            message["blocks"] = typed_blocks(text)
    for key in ("attachments", "blocks"):
        if request.get(key):
            message[key] = request[key]
    if request.get("files"):
        message.update(files=[_file(one) for one in request["files"]], upload=False)
        message["subtype"] = "file_share"
    if request.get("thread_ts"):
        message["thread_ts"] = _thread(slack, channel, str(request["thread_ts"]))
    if request.get("broadcast") and "thread_ts" in message:
        message["subtype"] = "thread_broadcast"
    post = space.add(channel, Post(message))
    return channel, post, slack.events.posted(channel, post)


def edit(slack: Slack, channel: str, ts: str, text: str) -> list[Json]:
    space = slack.workspace
    post = space.post(channel, ts)
    previous = deepcopy(post.message)
    text = named(slack, text)
    author = post.message.get("user", "")
    post.message.update(
        text=text,
        blocks=typed_blocks(text),
        edited={"user": author, "ts": space.next_ts()},
    )
    space.changed()
    return slack.events.edited(channel, post, previous)


def delete(slack: Slack, channel: str, ts: str) -> list[Json]:
    post = slack.workspace.post(channel, ts)
    slack.workspace.remove(channel, post.ts)
    return slack.events.deleted(channel, post)


def place_to_speak(slack: Slack, request: Json) -> str:
    """Return the channel of a post; the first message opens a person's DM with the bot."""
    space = slack.workspace
    channel = str(request.get("channel", ""))
    if channel not in space.channels and channel.startswith("D"):
        space.direct_channel(str(request.get("user", "")))
    place = space.channel(channel)
    if place["is_im"] and request.get("user") != place["user"]:
        raise Refusal("not_in_channel")
    if place["is_archived"]:
        raise Refusal("is_archived")
    return channel


def as_sent(text: str) -> str:
    """Return typed text in Slack's wire format: escaped, web addresses in angle brackets."""
    return ADDRESS.sub(lambda match: f"<{match.group()}>", escape(text))


def named(slack: Slack, text: str) -> str:
    """Replace @Name by <@U…> for the people of the workspace."""
    space = slack.workspace
    ids = {
        name.lower(): user_id
        for user_id, person in space.users.items()
        for name in (person.get("name"), person.get("profile", {}).get("display_name"))
        if name
    }

    def token(match: re.Match[str]) -> str:
        name = match.group(1)
        stem = name.rstrip(".-")
        user_id = ids.get(stem.lower())
        return f"<@{user_id}>{name[len(stem) :]}" if user_id else match.group()

    return NAME.sub(token, text)


def _person(slack: Slack, request: Json) -> Json:
    space = slack.workspace
    person = space.user(request.get("user"))
    author: Json = {"user": person["id"], "team": person["team_id"]}
    if person["team_id"] != space.team_id:
        author.update(user_team=person["team_id"], source_team=person["team_id"])
    return author


def _bot_author(slack: Slack, request: Json) -> Json:
    """Author fields of a bot's message: of an incoming webhook, or of an app with a user."""
    bot = request["bot"]
    fields = bot if isinstance(bot, dict) else {"bot_id": ALERTS if bot is True else bot}
    bot_id = str(fields.get("bot_id") or fields.get("id"))
    profile = slack.workspace.bots.setdefault(bot_id, {"name": places.readable(bot_id)})
    if slack.workspace.users.get(str(request.get("user")), {}).get("is_bot"):
        return {**_person(slack, request), "bot_id": bot_id}
    return {
        "subtype": "bot_message",
        "bot_id": bot_id,
        "username": str(request.get("username") or fields.get("username") or profile["name"]),
    }


def _file(request: Json) -> Json:
    name = str(request.get("name", "file.txt"))
    return {
        "id": "F0" + uuid.uuid4().hex[:8].upper(),
        "created": CREATED,
        "timestamp": CREATED,
        "name": name,
        "title": name,
        "mimetype": "text/plain",
        "filetype": name.rpartition(".")[2] or "text",
        "pretty_type": "Plain Text",
        "size": 0,
        "mode": "hosted",
        "is_external": False,
        **request,
    }


def _thread(slack: Slack, channel: str, thread_ts: str) -> str:
    root = slack.workspace.find(channel, thread_ts)
    if root is None:
        raise Refusal("thread_not_found")
    return root.root_ts
