"""Messages in the JSON that Slack returns."""

from copy import deepcopy

from bot.sandbox.events.read_back import translated
from bot.sandbox.workspace.places import CREATED
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.workspace import Post, Workspace


def bot_message(space: Workspace, content: Json, thread_ts: str | None) -> Json:
    """Return a new message of the app under trial."""
    message: Json = {
        "type": "message",
        "user": space.bot.user_id,
        "bot_id": space.bot.bot_id,
        "app_id": space.bot.app_id,
        "team": space.team_id,
        "ts": space.next_ts(),
        "bot_profile": {
            "id": space.bot.bot_id,
            "deleted": False,
            "name": space.bot.name,
            "updated": CREATED,
            "app_id": space.bot.app_id,
            "icons": {},
            "team_id": space.team_id,
        },
        **content,
    }
    if thread_ts:
        message["thread_ts"] = thread_ts
    return message


def api_message(space: Workspace, channel: str, post: Post, *, metadata: bool = False) -> Json:
    """Return a message as the Web API does: Markdown translated, replies counted."""
    message = deepcopy(post.message)
    if not metadata:
        message.pop("metadata", None)
    if isinstance(message.get("blocks"), list):
        message["blocks"] = translated(message["blocks"])
    replies = [] if post.is_reply else list(space.replies(channel, post.ts))
    if replies:
        users = list(dict.fromkeys(_author(reply) for reply in replies))
        message.update(
            thread_ts=post.ts,
            reply_count=len(replies),
            reply_users_count=len(users),
            latest_reply=replies[-1].ts,
            reply_users=users[:5],
            is_locked=False,
            subscribed=False,
        )
    elif post.is_reply and (root := space.find(channel, post.root_ts)):
        message["parent_user_id"] = _author(root)
    return message


def _author(post: Post) -> str:
    return str(post.message.get("user") or post.message.get("bot_id") or "")
