"""What people and other bots do in the workspace: post, edit, delete, react."""

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


def say(slack: Slack, given: Json) -> tuple[str, Post, list[Json]]:
    """Somebody posts; the events that follow are on their way when this returns."""
    space = slack.workspace
    channel = place_to_speak(slack, given)
    text = str(given.get("text") or "")
    if given.get("typed"):
        text = as_sent(text)
    text = named(slack, text)
    message: Json = {"type": "message", "text": text, "ts": space.next_ts()}
    if given.get("bot"):
        message.update(_bot_author(slack, given))
    else:
        message.update(_person(slack, given), client_msg_id=str(uuid.uuid4()))
        if text:
            message["blocks"] = typed_blocks(text)
    for key in ("attachments", "blocks"):
        if given.get(key):
            message[key] = given[key]
    if given.get("files"):
        message.update(files=[_file(one) for one in given["files"]], upload=False)
        message["subtype"] = "file_share"
    if given.get("thread_ts"):
        message["thread_ts"] = _thread(slack, channel, str(given["thread_ts"]))
    if given.get("broadcast") and "thread_ts" in message:
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


def place_to_speak(slack: Slack, given: Json) -> str:
    """The channel of a post; a person's DM with the bot is opened by its first message."""
    space = slack.workspace
    channel = str(given.get("channel", ""))
    if channel not in space.channels and channel.startswith("D"):
        space.direct_channel(str(given.get("user", "")))
    place = space.channel(channel)
    if place["is_im"] and given.get("user") != place["user"]:
        raise Refusal("not_in_channel")
    if place["is_archived"]:
        raise Refusal("is_archived")
    return channel


def as_sent(text: str) -> str:
    """Typed text in Slack's wire format: escaped, addresses in brackets."""
    return ADDRESS.sub(lambda found: f"<{found.group()}>", escape(text))


def named(slack: Slack, text: str) -> str:
    """@Name -> <@U…> for the people who are here."""
    space = slack.workspace
    ids = {
        name.lower(): user_id
        for user_id, person in space.users.items()
        for name in (person.get("name"), person.get("profile", {}).get("display_name"))
        if name
    }

    def token(found: re.Match[str]) -> str:
        name = found.group(1)
        stem = name.rstrip(".-")
        user_id = ids.get(stem.lower())
        return f"<@{user_id}>{name[len(stem) :]}" if user_id else found.group()

    return NAME.sub(token, text)


def _person(slack: Slack, given: Json) -> Json:
    space = slack.workspace
    person = space.user(given.get("user"))
    author: Json = {"user": person["id"], "team": person["team_id"]}
    if person["team_id"] != space.team_id:
        author.update(user_team=person["team_id"], source_team=person["team_id"])
    return author


def _bot_author(slack: Slack, given: Json) -> Json:
    """An integration: an incoming webhook, or an app that posts as its user."""
    bot = given["bot"]
    fields = bot if isinstance(bot, dict) else {"bot_id": ALERTS if bot is True else bot}
    bot_id = str(fields.get("bot_id") or fields.get("id"))
    known = slack.workspace.bots.setdefault(bot_id, {"name": places.readable(bot_id)})
    if slack.workspace.users.get(str(given.get("user")), {}).get("is_bot"):
        return {**_person(slack, given), "bot_id": bot_id}
    return {
        "subtype": "bot_message",
        "bot_id": bot_id,
        "username": str(given.get("username") or fields.get("username") or known["name"]),
    }


def _file(given: Json) -> Json:
    name = str(given.get("name", "file.txt"))
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
        **given,
    }


def _thread(slack: Slack, channel: str, thread_ts: str) -> str:
    root = slack.workspace.find(channel, thread_ts)
    if root is None:
        raise Refusal("thread_not_found")
    return root.root_ts
