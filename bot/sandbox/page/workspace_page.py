"""The workspace as a person sees it: channels, messages, a thread, the app's home, a modal."""

import time
from dataclasses import dataclass

from bot.sandbox.page.emoji import emoji
from bot.sandbox.page.message_html import Place, block, message_body
from bot.sandbox.page.safe_html import Html, el, join
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.workspace import Post

HOME = "home"
GROUPED_SECONDS = 300


@dataclass(frozen=True)
class Look:
    """Who is looking at what."""

    user: str
    channel: str
    thread: str

    def address(self, **changes: str) -> str:
        look = Look(**{**self.__dict__, **changes})
        thread = f"&thread={look.thread}" if look.thread else ""
        return f"/?channel={look.channel}&user={look.user}{thread}"


def look_of(slack: Slack, query: dict[str, str]) -> Look:
    """What is asked for, as far as it is there."""
    space = slack.workspace
    people = speakers(slack)
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


def speakers(slack: Slack) -> list[str]:
    """Everybody who can be spoken as."""
    return [
        user_id
        for user_id, person in slack.workspace.users.items()
        if "error" not in person and not person["is_bot"] and user_id != "USLACKBOT"
    ]


def name(slack: Slack, identifier: str) -> str:
    space = slack.workspace
    person = space.users.get(identifier, {})
    place = space.channels.get(identifier, {})
    display = person.get("profile", {}).get("display_name")
    return str(display or person.get("name") or place.get("name") or identifier)


def sidebar(slack: Slack, look: Look) -> Html:
    space = slack.workspace
    groups = ("channel", "group", "mpim")
    places = [place for place in space.channels.values() if space.kind(place["id"]) in groups]
    direct = space.direct_channel(look.user)["id"]
    signs = {"channel": "#", "group": "🔒", "mpim": "@"}
    return join(
        [
            el("h2", "Channels"),
            el("ul", [
                _entry(look, place["id"], signs[space.kind(place["id"])], str(place["name"]),
                       "shared" if place.get("is_ext_shared") else "")
                for place in places
            ]),
            el("h2", "Apps"),
            el("ul", [
                _entry(look, direct, "✦", space.bot.name),
                _entry(look, HOME, "⌂", f"{space.bot.name} home"),
            ]),
        ]
    )  # fmt: skip


def _entry(look: Look, channel: str, sign: str, label: str, note: str = "") -> Html:
    here = "here" if look.channel == channel else None
    address = look.address(channel=channel, thread="")
    return el(
        "li",
        el("a", el("span", sign, cls="sign"), label, _note(note), href=address, cls=here),
    )


def _note(note: str) -> Html | None:
    return el("span", note, cls="note") if note else None


def main_title(slack: Slack, look: Look) -> Html:
    if look.channel == HOME:
        return el("h1", f"{slack.workspace.bot.name} home")
    place = slack.workspace.channel(look.channel)
    if place["is_im"]:
        return el("h1", slack.workspace.bot.name, el("small", "app"))
    members = len(slack.workspace.members(look.channel))
    return join(
        [
            el("h1", f"#{place['name']}", el("small", f"{members} members")),
            el("button", "Fire a sample alert", type_="button", cls="button", data_do="alert",
               data_channel=look.channel),
        ]
    )  # fmt: skip


def main(slack: Slack, look: Look) -> Html:
    """The messages of a channel, or the app's home."""
    if look.channel == HOME:
        return _home(slack, look)
    posts = [
        post
        for post in slack.workspace.in_order(look.channel)
        if post.viewer in (None, look.user)
        and (not post.is_reply or post.message.get("subtype") == "thread_broadcast")
    ]
    if not posts:
        return _welcome(slack, look)
    return join([*_messages(slack, look, posts), _status(slack, look, "")])


def thread(slack: Slack, look: Look) -> Html:
    """The thread at the right, root first."""
    root = slack.workspace.find(look.channel, look.thread)
    if root is None:
        return Html("")
    posts = [root, *slack.workspace.replies(look.channel, root.ts)]
    posts = [post for post in posts if post.viewer in (None, look.user)]
    return join([*_messages(slack, look, posts, inside=True), _status(slack, look, root.ts)])


def _messages(slack: Slack, look: Look, posts: list[Post], *, inside: bool = False) -> list[Html]:
    shown: list[Html] = []
    before: Post | None = None
    for post in posts:
        shown.append(_message(slack, look, post, inside=inside, follows=_follows(before, post)))
        before = post
    return shown


def _follows(before: Post | None, post: Post) -> bool:
    """The same author, shortly after: no need to say again who speaks."""
    if before is None or before.viewer != post.viewer:
        return False
    same = _author_id(before) == _author_id(post)
    return same and float(post.ts) - float(before.ts) < GROUPED_SECONDS


def _message(slack: Slack, look: Look, post: Post, *, inside: bool, follows: bool) -> Html:
    message = post.message
    place = Place(lambda one: name(slack, one), channel=look.channel, ts=post.ts, user=look.user)
    states = {
        "follows": follows,
        "ephemeral": post.viewer is not None,
        "streaming": post.streaming_since is not None,
        "tombstone": message.get("subtype") == "tombstone",
        "open": not inside and post.ts == look.thread,
    }
    classes = " ".join(["message", *(state for state, is_so in states.items() if is_so)])
    return el(
        "article",
        None if follows else _avatar(slack, post),
        el(
            "div",
            el("p", "Only visible to you", cls="quiet") if post.viewer else None,
            None if follows else _byline(slack, post),
            _tasks(post),
            message_body(message, place),
            el("span", "(edited)", cls="quiet") if message.get("edited") else None,
            _reactions(message),
            None if inside else _replies(slack, look, post),
            cls="body",
        ),
        None if post.viewer else _tools(slack, look, post, inside=inside),
        cls=classes,
        id=None if inside else f"m{post.ts}",
    )


def _author_id(post: Post) -> str:
    return str(post.message.get("user") or post.message.get("bot_id") or "")


def _author(slack: Slack, post: Post) -> str:
    return str(post.message.get("username") or name(slack, _author_id(post)))


def _avatar(slack: Slack, post: Post) -> Html:
    author = _author(slack, post)
    if _author_id(post) == slack.workspace.bot.user_id:
        return el("span", "✦", cls="avatar bot")
    tint = sum(map(ord, _author_id(post))) % 6
    return el("span", author[:1].upper(), cls=f"avatar tint{tint}")


def _byline(slack: Slack, post: Post) -> Html:
    app = el("span", "app", cls="badge") if post.message.get("bot_id") else None
    at = time.localtime(float(post.ts))
    clock = el("time", time.strftime("%H:%M", at), title=time.strftime("%Y-%m-%d %H:%M:%S", at))
    return el("p", el("b", _author(slack, post)), app, clock, cls="byline")


def _tasks(post: Post) -> Html | None:
    signs = {"pending": "○", "in_progress": "◐", "complete": "●", "error": "✕"}
    lines = [
        el("li", signs.get(str(chunk.get("status")), "▸"), " ", str(chunk.get("title", "")))
        for chunk in post.chunks
    ]
    return el("ul", lines, cls="tasks") if lines else None


def _reactions(message: Json) -> Html | None:
    shown = [
        el("span", emoji(one["name"]), " ", str(one["count"]), cls="reaction")
        for one in message.get("reactions", [])
    ]
    return el("div", shown, cls="reactions") if shown else None


def _replies(slack: Slack, look: Look, post: Post) -> Html | None:
    replies = [one for one in slack.workspace.replies(look.channel, post.root_ts) if not one.viewer]
    status = slack.workspace.status(look.channel, post.root_ts)
    if not replies and not status:
        return None
    count = f"{len(replies)} {'reply' if len(replies) == 1 else 'replies'}" if replies else ""
    line = el("span", f"{slack.workspace.bot.name} {status}", cls="working") if status else None
    return el("a", count, line, href=look.address(thread=post.root_ts), cls="replies")


def _tools(slack: Slack, look: Look, post: Post, *, inside: bool) -> Html:
    mine = post.message.get("user") == look.user
    where = {"data_channel": look.channel, "data_ts": post.ts, "data_user": look.user}
    shortcuts = [
        el("button", label, type_="button", data_do="shortcut", data_callback_id=callback, **where)
        for callback, label in slack.manifest.shortcuts
    ]
    reply = el("a", "Reply in thread", href=look.address(thread=post.root_ts))
    own = [
        el("button", "Edit", type_="button", data_do="edit", data_text=str(post.message["text"]),
           **where),
        el("button", "Delete", type_="button", data_do="delete", **where),
    ] if mine else []  # fmt: skip
    return el("div", None if inside else reply, shortcuts, own, cls="tools")


def _status(slack: Slack, look: Look, thread_ts: str) -> Html:
    """The line under a thread while the app works, with Stop while it can be stopped."""
    status = slack.workspace.status(look.channel, thread_ts)
    streams = any(
        post.streaming_since is not None and post.root_ts == thread_ts
        for post in slack.workspace.in_order(look.channel)
    )
    if not status and not streams:
        return Html("")
    session = slack.workspace.sessions.get((look.channel, thread_ts), {})
    stop = el(
        "button", "Stop", type_="button", cls="button", data_do="stop", data_user=look.user,
        data_channel=look.channel, data_thread=thread_ts,
    ) if streams or session.get("status") == "processing" else None  # fmt: skip
    dots = el("span", el("i"), el("i"), el("i"), cls="dots", aria_hidden="true")
    return el(
        "p", dots, el("b", slack.workspace.bot.name), " ", status or "is writing…", stop,
        cls="status", role="status",
    )  # fmt: skip


def _welcome(slack: Slack, look: Look) -> Html:
    bot = slack.workspace.bot.name
    place = slack.workspace.channel(look.channel)
    prompts = slack.workspace.prompts.get(look.channel, {}).get("prompts") or [
        {"title": text, "message": text if place["is_im"] else f"@{bot} {text}"}
        for text in slack.prompts
    ]
    buttons = [
        el("button", str(prompt["title"]), type_="button", cls="button", data_do="suggest",
           data_text=str(prompt["message"]))
        for prompt in prompts
    ]  # fmt: skip
    hint = (
        f"Write to {bot} here; nobody else reads along."
        if place["is_im"]
        else f"Mention @{bot} to ask. It answers in a thread."
    )
    return el("div", el("p", "✦", cls="mark"), el("p", hint), el("div", buttons), cls="welcome")


def _home(slack: Slack, look: Look) -> Html:
    view = slack.workspace.homes.get(look.user)
    if view is None:
        return el("div", el("p", "Nothing is published here yet."), cls="welcome")
    place = Place(lambda one: name(slack, one), user=look.user)
    return el("div", [block(one, place) for one in view["blocks"]], cls="home")
