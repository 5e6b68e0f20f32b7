"""The workspace as one person sees it -> the values in the templates of the page."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from bot.sandbox.events.sockets import SocketMode
from bot.sandbox.page.page_html import Surface, page_html
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.workspace import Post

HOME = "home"
GROUPED_SECONDS = 300
PARTS = {
    "sidebar": "sidebar.html",
    "title": "title.html",
    "main": "main.html",
    "thread": "thread.html",
    "overlay": "modal.html",
    "presence": "presence.html",
}
"""Id of an element of the page -> template of its content."""


@dataclass(frozen=True)
class Look:
    """The person who looks at the page, and the open channel and thread."""

    user: str
    channel: str
    thread: str

    def address(self, **changes: str) -> str:
        look = Look(**{**asdict(self), **changes})
        thread = f"&thread={look.thread}" if look.thread else ""
        return f"/?channel={look.channel}&user={look.user}{thread}"


@dataclass(frozen=True)
class Work:
    """The app's current work in a thread."""

    text: str
    can_stop: bool


def look_of(slack: Slack, query: dict[str, str]) -> Look:
    """Read the address of the page, with defaults for people and channels that do not exist."""
    space = slack.workspace
    people = [user for user, _ in _speakers(slack)]
    user = query.get("user", "")
    user = user if user in people else people[0]
    channel = query.get("channel", "")
    if channel not in (HOME, *space.channels):
        channel = "C0INCIDENT" if "C0INCIDENT" in space.channels else next(iter(space.channels))
    place = space.channels.get(channel, {})
    if place.get("is_im") and place["user"] != user:
        channel = str(space.direct_channel(user)["id"])
    thread = query.get("thread", "")
    return Look(user, channel, thread if space.find(channel, thread) else "")


def whole_page(slack: Slack, look: Look) -> str:
    return page_html("workspace.html", screen=Screen(slack, look), look=look)


def parts(slack: Slack, look: Look) -> dict[str, str]:
    """Return the HTML of each part of the page that can change, by the id of its element."""
    screen = Screen(slack, look)
    return {name: page_html(file, screen=screen, look=look) for name, file in PARTS.items()}


def version(slack: Slack) -> str:
    """Return a text that changes whenever the page does."""
    space = slack.workspace
    statuses = sum(bool(space.status(*key)) for key in space.statuses)
    return f"{space.version}.{_connections(slack)}.{statuses}"


def _connections(slack: Slack) -> int:
    transport = slack.delivery.transport
    return len(transport.connections) if isinstance(transport, SocketMode) else 1


def _speakers(slack: Slack) -> list[tuple[str, str]]:
    """Id and name of each person whom a visitor of the page can speak as."""
    return [
        (user_id, str(person["real_name"]))
        for user_id, person in slack.workspace.users.items()
        if "error" not in person and not person["is_bot"] and user_id != "USLACKBOT"
    ]


class Screen:
    """The values that the templates show to one person."""

    def __init__(self, slack: Slack, look: Look) -> None:
        self._slack = slack
        self._space = slack.workspace
        self._look = look
        self.bot = self._space.bot.name
        self.team = str(self._space.team["name"])
        self.version = version(slack)
        self.is_connected = _connections(slack) > 0
        self.speakers = _speakers(slack)
        self.shortcuts = slack.manifest.shortcuts
        self.direct_channel = str(self._space.direct_channel(look.user)["id"])
        self.is_home = look.channel == HOME
        self.home_surface = self._surface(user=look.user)
        self.home = self._space.homes.get(look.user)

    # the channel

    @property
    def channels(self) -> list[tuple[str, str, str, str]]:
        """Id, sign, name and note of each channel in the sidebar."""
        signs = {"channel": "#", "group": "🔒", "mpim": "@"}
        return [
            (id_, signs[kind], str(place["name"]), "shared" if place.get("is_ext_shared") else "")
            for id_, place in self._space.channels.items()
            if (kind := self._space.kind(id_)) in signs
        ]

    @property
    def is_direct(self) -> bool:
        return bool(self._space.channel(self._look.channel)["is_im"])

    @property
    def channel_name(self) -> str:
        return self.bot if self.is_direct else f"#{self._name(self._look.channel)}"

    @property
    def members(self) -> int:
        return len(self._space.members(self._look.channel))

    @property
    def prompts(self) -> list[tuple[str, str]]:
        """Title and message of each suggestion in an empty channel."""
        prompts = self._space.prompts.get(self._look.channel, {}).get("prompts")
        if prompts:
            return [(str(prompt["title"]), str(prompt["message"])) for prompt in prompts]
        start = "" if self.is_direct else f"@{self.bot} "
        return [(text, start + text) for text in self._slack.prompts]

    # messages

    @property
    def posts(self) -> list[tuple[Post, bool]]:
        """Messages of the channel; each with True if it follows one by the same author."""
        return self._grouped(
            post
            for post in self._space.in_order(self._look.channel)
            if not post.is_reply or post.message.get("subtype") == "thread_broadcast"
        )

    @property
    def thread(self) -> list[tuple[Post, bool]]:
        """Messages of the open thread, root first; empty without an open thread."""
        channel = self._look.channel
        root = self._space.find(channel, self._look.thread)
        return self._grouped([root, *self._space.replies(channel, root.ts)] if root else [])

    def _grouped(self, posts: "Iterator[Post] | list[Post]") -> list[tuple[Post, bool]]:
        visible = [post for post in posts if post.viewer in (None, self._look.user)]
        before = [None, *visible[:-1]]
        return [(post, _follows(last, post)) for last, post in zip(before, visible, strict=False)]

    def states(self, post: Post, *, inside: bool, follows: bool) -> str:
        """Classes of a message; ``inside`` is true in the thread at the right."""
        states = {
            "follows": follows,
            "ephemeral": post.viewer is not None,
            "streaming": post.streaming_since is not None,
            "tombstone": post.message.get("subtype") == "tombstone",
            "open": not inside and post.ts == self._look.thread,
        }
        return " ".join(["message", *(name for name, is_so in states.items() if is_so)])

    def surface(self, post: Post) -> Surface:
        look = self._look
        return self._surface(channel=look.channel, ts=post.ts, user=look.user)

    def author(self, post: Post) -> str:
        return str(post.message.get("username") or self._name(_author_id(post)))

    def is_bot(self, post: Post) -> bool:
        return _author_id(post) == self._space.bot.user_id

    def tint(self, post: Post) -> int:
        """Number, from 0 to 5, of the color behind the author's initial."""
        return sum(map(ord, _author_id(post))) % 6

    def time_of(self, post: Post) -> datetime:
        return datetime.fromtimestamp(float(post.ts)).astimezone()

    def replies(self, post: Post) -> tuple[int, str]:
        """Number of replies, and the app's status in their thread."""
        replies = self._space.replies(self._look.channel, post.root_ts)
        count = sum(not reply.viewer for reply in replies)
        return count, self._space.status(self._look.channel, post.root_ts)

    def work_in(self, thread_ts: str) -> Work | None:
        """The app's work in a thread; the Stop button is there while it can be stopped."""
        channel = self._look.channel
        status = self._space.status(channel, thread_ts)
        streams = any(
            post.streaming_since is not None and post.root_ts == thread_ts
            for post in self._space.in_order(channel)
        )
        if not status and not streams:
            return None
        session = self._space.sessions.get((channel, thread_ts), {})
        return Work(status or "is writing…", streams or session.get("status") == "processing")

    # the modal

    @property
    def modal(self) -> Json | None:
        """The view on top of this person's screen."""
        stack = self._space.view_stacks.get(self._look.user, [])
        return self._space.views[stack[-1]] if stack else None

    @property
    def modal_surface(self) -> Surface:
        view = self.modal
        return self._surface(user=self._look.user, **{"view-id": view["id"]} if view else {})

    def _surface(self, **target: str) -> Surface:
        return Surface(self._name, target)

    def _name(self, identifier: str) -> str:
        person = self._space.users.get(identifier, {})
        place = self._space.channels.get(identifier, {})
        display = person.get("profile", {}).get("display_name")
        return str(display or person.get("name") or place.get("name") or identifier)


def _author_id(post: Post) -> str:
    return str(post.message.get("user") or post.message.get("bot_id") or "")


def _follows(before: Post | None, post: Post) -> bool:
    """Return True for a post shortly after one by the same author, whose name is not repeated."""
    if before is None or before.viewer != post.viewer:
        return False
    same = _author_id(before) == _author_id(post)
    return same and float(post.ts) - float(before.ts) < GROUPED_SECONDS
