"""conversations.*: channels, their members and their messages in pages."""

import base64
from typing import TypeVar

from bot.sandbox.events.shapes import api_message
from bot.sandbox.webapi.bodies import flag, number
from bot.sandbox.webapi.call import method
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json, Refusal
from bot.sandbox.workspace.workspace import Post, order

HISTORY = ("*:history",)
READ = ("*:read",)
Item = TypeVar("Item")


@method("conversations.replies", "channel", "ts", scopes=HISTORY)
def replies(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    channel = str(space.readable_channel(args["channel"])["id"])
    root = space.find(channel, args["ts"])
    if root is None or root.viewer is not None:
        raise Refusal("thread_not_found")
    rest = [] if root.is_reply else list(space.replies(channel, root.ts))
    rest = [post for post in rest if post.viewer is None and _within(post, args)]
    return _message_page(slack, channel, [root, *rest], args)


@method("conversations.history", "channel", scopes=HISTORY)
def history(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    channel = str(space.readable_channel(args["channel"])["id"])
    posts = [
        post
        for post in reversed(space.in_order(channel))
        if post.viewer is None and _at_root(post) and _within(post, args)
    ]
    page = _message_page(slack, channel, posts, args)
    return {**page, "pin_count": 0}


@method("conversations.info", "channel", scopes=READ)
def info(slack: Slack, args: Json) -> Json:
    place = slack.workspace.channel(args["channel"])
    return {"channel": described(slack, place)}


@method("conversations.list", scopes=("channels:read", "groups:read", "im:read", "mpim:read"))
def list_conversations(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    types = str(args.get("types") or "public_channel").split(",")
    names = {"channel": "public_channel", "group": "private_channel"}
    places = []
    for place in space.channels.values():
        kind = space.kind(place["id"])
        if names.get(kind, kind) not in (kind.strip() for kind in types):
            continue
        if flag(args.get("exclude_archived")) and place["is_archived"]:
            continue
        if place.get("is_private") and not space.has_bot(place):
            continue
        places.append(described(slack, place))
    page, cursor = paged(places, args, 100)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


@method("conversations.members", "channel", scopes=READ)
def members(slack: Slack, args: Json) -> Json:
    place = slack.workspace.channel(args["channel"])
    page, cursor = paged(slack.workspace.members(place["id"]), args, 100)
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


@method("conversations.open", scopes=("im:write", "mpim:write"))
def open_conversation(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    if args.get("channel"):
        place = space.channel(args["channel"])
    else:
        users = [user for user in str(args.get("users") or "").split(",") if user]
        if not users:
            raise Refusal("users_list_not_supplied")
        if len(users) > 1:
            raise Refusal("method_not_supported_for_channel_type")
        place = space.direct_channel(str(space.user(users[0])["id"]))
    if flag(args.get("return_im")):
        return {"channel": described(slack, place)}
    return {"channel": {"id": place["id"]}}


@method("conversations.join", "channel", scopes=("channels:join",))
def join(slack: Slack, args: Json) -> Json:
    place = slack.workspace.channel(args["channel"])
    if slack.workspace.kind(place["id"]) != "channel":
        raise Refusal("method_not_supported_for_channel_type")
    if place["is_archived"]:
        raise Refusal("is_archived")
    place["is_member"] = True
    return {"channel": described(slack, place)}


def described(slack: Slack, place: Json) -> Json:
    shown_place = {key: value for key, value in place.items() if key != "members"}
    if not place["is_im"]:
        shown_place["context_team_id"] = slack.workspace.team_id
    return shown_place


def paged(items: list[Item], args: Json, default: int) -> tuple[list[Item], str]:
    """Return one page and the cursor of the next page; an unknown cursor is refused."""
    size = number(args.get("limit"), default) or default
    if size < 1:
        raise Refusal("invalid_limit")
    start = 0
    if args.get("cursor"):
        try:
            start = int(base64.b64decode(str(args["cursor"]), validate=True).removeprefix(b"next:"))
        except ValueError:
            raise Refusal("invalid_cursor") from None
    end = start + size
    cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return items[start:end], cursor


def _message_page(slack: Slack, channel: str, posts: list[Post], args: Json) -> Json:
    most = slack.rules.page_size
    limit = min(number(args.get("limit"), most) or most, most)
    page, cursor = paged(posts, {**args, "limit": limit}, most)
    metadata = flag(args.get("include_all_metadata"))
    answer: Json = {
        "messages": [
            api_message(slack.workspace, channel, post, metadata=metadata) for post in page
        ],
        "has_more": bool(cursor),
    }
    if cursor:
        answer["response_metadata"] = {"next_cursor": cursor}
    return answer


def _within(post: Post, args: Json) -> bool:
    at = order(post.ts)
    inclusive = flag(args.get("inclusive"))
    oldest, latest = args.get("oldest"), args.get("latest")
    if oldest and (at < order(str(oldest)) or (at == order(str(oldest)) and not inclusive)):
        return False
    return not (
        latest and (at > order(str(latest)) or (at == order(str(latest)) and not inclusive))
    )


def _at_root(post: Post) -> bool:
    return not post.is_reply or post.message.get("subtype") == "thread_broadcast"
