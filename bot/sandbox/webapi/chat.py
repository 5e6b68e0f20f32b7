"""chat.*: posting, changing and deleting messages."""

import time
from copy import deepcopy

from bot.sandbox.events.shapes import api_message, bot_message
from bot.sandbox.webapi.call import method, rate_limited
from bot.sandbox.webapi.content import content
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json, Refusal
from bot.sandbox.workspace.workspace import Post

WRITE = ("chat:write",)
BURST = 3


@method("chat.postMessage", "channel", scopes=WRITE)
def post_message(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    channel = channel_to_write(slack, args)
    _check_customized(slack, args)
    checked = content(args)
    thread_ts = thread_root(slack, channel, args.get("thread_ts"))
    _check_posting_rate(slack, channel)
    message = bot_message(space, checked, thread_ts)
    if args.get("reply_broadcast") in (True, "true", "1") and thread_ts:
        message["subtype"] = "thread_broadcast"
    post = space.add(channel, Post(message))
    clear_status(slack, channel, post.root_ts)
    slack.events.posted(channel, post)
    answer = api_message(space, channel, post, metadata=True)
    return {"channel": channel, "ts": post.ts, "message": answer}


@method("chat.update", "channel", "ts", scopes=WRITE)
def update(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    channel = str(space.writable_channel(args["channel"])["id"])
    post = own_post(slack, channel, args["ts"])
    if post.streaming_since is not None:
        raise Refusal("streaming_state_conflict")
    checked = content(args, update=True)
    previous = deepcopy(post.message)
    if "metadata" not in checked and "metadata" in previous:
        checked["metadata"] = previous["metadata"]
    for key in ("blocks", "attachments", "text", "metadata"):
        post.message.pop(key, None)
    post.message.update(checked, edited={"user": space.bot.user_id, "ts": space.next_ts()})
    space.changed()
    slack.events.edited(channel, post, previous)
    message = api_message(space, channel, post, metadata=True)
    message.pop("ts")
    return {"channel": channel, "ts": post.ts, "text": message["text"], "message": message}


@method("chat.delete", "channel", "ts", scopes=WRITE)
def delete(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    channel = str(space.readable_channel(args["channel"])["id"])
    post = space.post(channel, args["ts"])
    if post.message.get("bot_id") != space.bot.bot_id:
        raise Refusal("cant_delete_message")
    space.remove(channel, post.ts)
    slack.events.deleted(channel, post)
    return {"channel": channel, "ts": post.ts}


@method("chat.postEphemeral", "channel", "user", scopes=WRITE)
def post_ephemeral(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    channel = channel_to_write(slack, args)
    checked = content(args)
    viewer = str(space.user(args["user"])["id"])
    if viewer not in space.members(channel):
        raise Refusal("user_not_in_channel")
    thread_ts = thread_root(slack, channel, args.get("thread_ts"))
    post = space.add(channel, Post(bot_message(space, checked, thread_ts), viewer=viewer))
    return {"message_ts": post.ts}


@method("chat.getPermalink", "channel", "message_ts")
def permalink(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    channel = str(space.channel(args["channel"])["id"])
    post = space.post(channel, args["message_ts"])
    link = f"{space.team['url']}archives/{channel}/p{post.ts.replace('.', '')}"
    if post.is_reply:
        link += f"?thread_ts={post.root_ts}&cid={channel}"
    return {"channel": channel, "permalink": link}


def channel_to_write(slack: Slack, args: Json) -> str:
    """Return the channel of a post; the id of a person means the DM with that person."""
    target = str(args["channel"])
    space = slack.workspace
    if target.startswith("U") and target in space.users:
        space.user(target)
        return str(space.direct_channel(target)["id"])
    return str(space.writable_channel(target)["id"])


def own_post(slack: Slack, channel: str, ts: object) -> Post:
    post = slack.workspace.post(channel, ts)
    if post.message.get("bot_id") != slack.workspace.bot.bot_id:
        raise Refusal("cant_update_message")
    return post


def thread_root(slack: Slack, channel: str, thread_ts: object) -> str | None:
    """Return the root of a thread to post in; the ts of a reply is refused."""
    if thread_ts in (None, ""):
        return None
    root = slack.workspace.find(channel, thread_ts)
    if root is None or root.viewer is not None:
        raise Refusal("thread_not_found")
    if root.is_reply:
        raise Refusal("cannot_reply_to_message")
    return root.ts


def clear_status(slack: Slack, channel: str, thread_ts: str) -> None:
    """Clear the status of a thread in which the app has posted."""
    if slack.workspace.statuses.pop((channel, thread_ts), None):
        slack.workspace.changed()


def _check_customized(slack: Slack, args: Json) -> None:
    scopes = slack.scopes
    if scopes is None or "chat:write.customize" in scopes:
        return
    if any(args.get(key) for key in ("username", "icon_url", "icon_emoji")):
        provided = ",".join(sorted(scopes))
        raise Refusal("missing_scope", needed="chat:write.customize", provided=provided)


def _check_posting_rate(slack: Slack, channel: str) -> None:
    if not slack.rules.posting_limit:
        return
    now = time.monotonic()
    recent = [at for at in slack.posted_at.get(channel, []) if now - at < BURST]
    if len(recent) >= BURST:
        raise rate_limited(1)
    slack.posted_at[channel] = [*recent, now]
