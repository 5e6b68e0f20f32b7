"""The state of the workspace: people, channels, messages and views, and its changes.

Everything runs on one event loop, so nothing is locked. ``version`` grows with every change, so the
page can tell whether it is up to date.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from bot.sandbox.workspace import places
from bot.sandbox.workspace.places import BotIdentity
from bot.sandbox.workspace.refusal import Json, Refusal


@dataclass
class Post:
    """A message as it was posted, with its state in Slack."""

    message: Json
    viewer: str | None = None
    """The only reader of an ephemeral message; None for other messages."""
    streaming_since: float | None = None
    stopped_by_user: bool = False
    chunks: list[Json] = field(default_factory=list)
    """Current tasks and plan of a streamed message."""

    @property
    def ts(self) -> str:
        return str(self.message["ts"])

    @property
    def root_ts(self) -> str:
        return str(self.message.get("thread_ts", self.ts))

    @property
    def is_reply(self) -> bool:
        return self.root_ts != self.ts


@dataclass
class ThreadLine:
    """The line under a thread while the app works."""

    text: str
    until: float


class Workspace:
    def __init__(self) -> None:
        self._sequence = count(100)
        self.version = 0
        self.clear(BotIdentity(), places.team())

    def clear(self, bot: BotIdentity, team: Json) -> None:
        self.bot = bot
        self.team = team
        self.users = places.default_users(self.team_id, bot)
        self.channels = places.default_channels()
        self.bots: dict[str, Json] = {"B0ALERTS": {"name": "Alerts", "user_id": "U0ALERTS"}}
        self.usergroups: list[Json] = []
        self.posts: dict[str, dict[str, Post]] = {}
        self.statuses: dict[tuple[str, str], ThreadLine] = {}
        self.sessions: dict[tuple[str, str], Json] = {}
        self.prompts: dict[str, Json] = {}
        self.homes: dict[str, Json] = {}
        self.views: dict[str, Json] = {}
        self.view_stacks: dict[str, list[str]] = {}
        self.changed()

    @property
    def team_id(self) -> str:
        return str(self.team["id"])

    def changed(self) -> None:
        self.version += 1

    def next_ts(self) -> str:
        """Return a ts after all earlier ones, with six digits behind the point."""
        return f"{int(time.time())}.{next(self._sequence) % 1_000_000:06d}"

    # people and channels

    def channel(self, channel_id: object) -> Json:
        place = self.channels.get(str(channel_id))
        if place is None:
            raise Refusal("channel_not_found")
        return place

    def direct_channel(self, user_id: str) -> Json:
        """Return the DM between this person and the bot, opening it if necessary."""
        for place in self.channels.values():
            if place["is_im"] and place["user"] == user_id:
                return place
        place = places.channel("D" + user_id[1:], user=user_id)
        self.channels[place["id"]] = place
        return place

    def readable_channel(self, channel_id: object) -> Json:
        """Return a channel whose messages the bot may read."""
        place = self.channel(channel_id)
        if not self.has_bot(place):
            raise Refusal("channel_not_found" if place.get("is_private") else "not_in_channel")
        return place

    def writable_channel(self, channel_id: object) -> Json:
        place = self.readable_channel(channel_id)
        if place["is_archived"]:
            raise Refusal("is_archived")
        return place

    @staticmethod
    def has_bot(place: Json) -> bool:
        return bool(place["is_im"] or place.get("is_member"))

    def kind(self, channel_id: str) -> str:
        """Return Slack's channel_type."""
        place = self.channels.get(channel_id) or places.channel(channel_id)
        if place["is_im"]:
            return "im"
        if place.get("is_mpim"):
            return "mpim"
        return "group" if place.get("is_private") else "channel"

    def user(self, user_id: object) -> Json:
        person = self.users.get(str(user_id))
        if person is None:
            raise Refusal("user_not_found")
        if "error" in person:
            raise Refusal(str(person["error"]))
        return person

    def members(self, channel_id: str) -> list[str]:
        place = self.channel(channel_id)
        if place["is_im"]:
            return [place["user"], self.bot.user_id]
        if "members" in place:
            return list(place["members"])
        outside = {"USLACKBOT"} if place.get("is_ext_shared") else {"USLACKBOT", "U0EXTERNAL"}
        return [user for user in self.users if user not in outside]

    # messages

    def add(self, channel_id: str, post: Post) -> Post:
        self.posts.setdefault(channel_id, {})[post.ts] = post
        self.changed()
        return post

    def find(self, channel_id: str, ts: object) -> Post | None:
        return self.posts.get(channel_id, {}).get(str(ts))

    def post(self, channel_id: str, ts: object) -> Post:
        post = self.find(channel_id, ts)
        if post is None or post.viewer is not None:
            raise Refusal("message_not_found")
        return post

    def remove(self, channel_id: str, ts: str) -> Post:
        """Delete a message; the root of a thread with replies leaves a tombstone."""
        post = self.posts[channel_id].pop(ts)
        if not post.is_reply and any(self.replies(channel_id, ts)):
            stone = {
                "type": "message",
                "subtype": "tombstone",
                "user": "USLACKBOT",
                "text": "This message was deleted.",
                "hidden": True,
                "ts": ts,
                "thread_ts": ts,
            }
            self.posts[channel_id][ts] = Post(stone)
        self.changed()
        return post

    def in_order(self, channel_id: str) -> list[Post]:
        return sorted(self.posts.get(channel_id, {}).values(), key=lambda post: order(post.ts))

    def replies(self, channel_id: str, root_ts: str) -> Iterator[Post]:
        for post in self.in_order(channel_id):
            if post.is_reply and post.root_ts == root_ts:
                yield post

    def status(self, channel_id: str, thread_ts: str) -> str:
        status = self.statuses.get((channel_id, thread_ts))
        return status.text if status and status.until > time.time() else ""


def order(ts: str) -> tuple[int, int]:
    """Return the numbers of a ts, which sort by time."""
    whole, _, part = ts.partition(".")
    return int(whole or 0), int(part or 0)
