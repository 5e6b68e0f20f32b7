"""Actions of a person on the app itself: open its home, stop its work."""

from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json


def open_home(slack: Slack, user: str, tab: str = "home") -> list[Json]:
    space = slack.workspace
    user = str(space.user(user)["id"])
    channel = str(space.direct_channel(user)["id"])
    event: Json = {"type": "app_home_opened", "user": user, "channel": channel, "tab": tab}
    if tab == "home" and user in space.homes:
        event["view"] = space.homes[user]
    return slack.events.app(event, channel)


def stop(slack: Slack, user: str, channel: str, thread_ts: str) -> list[Json]:
    """Press the Stop button: streams end at once; the app itself has to end its session."""
    space = slack.workspace
    streaming = [
        post
        for post in space.in_order(channel)
        if post.root_ts == thread_ts and post.streaming_since is not None
    ]
    for post in streaming:
        post.streaming_since = None
        post.stopped_by_user = True
    space.changed()
    event = {
        "type": "agent_session_stopped",
        "channel": channel,
        "thread_ts": thread_ts,
        "user": user,
        "streaming_message_ts": [post.ts for post in streaming],
    }
    return slack.events.app(event, channel)
