"""Changes of the workspace -> Events API bodies, for an app that subscribed to them."""

import secrets
import time
from copy import deepcopy

from bot.sandbox.events.delivery import EventDelivery
from bot.sandbox.events.read_back import translated
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.workspace import Post, Workspace
from bot.slack.manifest import Manifest

MESSAGE_EVENTS = {
    "channel": "message.channels",
    "group": "message.groups",
    "im": "message.im",
    "mpim": "message.mpim",
}


class Events:
    def __init__(self, workspace: Workspace, manifest: Manifest, delivery: EventDelivery) -> None:
        self._workspace = workspace
        self._manifest = manifest
        self._delivery = delivery

    def posted(self, channel: str, post: Post) -> list[Json]:
        """Deliver a message event, and an app_mention event if the message mentions the bot."""
        event = {**self._event_message(post), **self._place(channel, post.ts)}
        events = [event]
        if self._mentions_bot(post.message) and self._workspace.kind(channel) != "im":
            events.append(self._mention(event))
        return self._deliver(channel, events)

    def edited(self, channel: str, post: Post, previous: Json) -> list[Json]:
        """Deliver message_changed, and an app_mention event if the edit added the mention."""
        event = self._hidden(channel, "message_changed")
        event["message"] = self._event_message(post)
        event["previous_message"] = previous
        events = [event]
        if self._mentions_bot(post.message) and not self._mentions_bot(previous):
            message = {**self._event_message(post), **self._place(channel, post.ts)}
            events.append(self._mention({**message, "event_ts": event["event_ts"]}))
        return self._deliver(channel, events)

    def deleted(self, channel: str, post: Post) -> list[Json]:
        event = self._hidden(channel, "message_deleted")
        event["deleted_ts"] = post.ts
        event["previous_message"] = self._event_message(post)
        return self._deliver(channel, [event])

    def reaction(self, kind: str, user: str, channel: str, post: Post, name: str) -> list[Json]:
        event = {
            "type": kind,
            "user": user,
            "item": {"type": "message", "channel": channel, "ts": post.ts},
            "reaction": name,
            "item_user": post.message.get("user", ""),
            "event_ts": self._workspace.next_ts(),
        }
        return self._deliver(channel, [event])

    def app(self, event: Json, channel: str) -> list[Json]:
        """Deliver an event about the app itself: its home, an agent session."""
        return self._deliver(
            channel, [{**event, "event_ts": event.get("event_ts", self._workspace.next_ts())}]
        )

    def body(self, event: Json, channel: str) -> Json:
        """Return the envelope around an event, as the app receives it."""
        space = self._workspace
        place = space.channels.get(channel, {})
        return {
            "token": "sandbox-verification",
            "team_id": space.team_id,
            "api_app_id": space.bot.app_id,
            "event": event,
            "type": "event_callback",
            "event_id": "Ev0" + secrets.token_hex(5).upper(),
            "event_time": int(time.time()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": space.team_id,
                    "user_id": space.bot.user_id,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": bool(place.get("is_ext_shared")),
            "event_context": "4-" + secrets.token_urlsafe(24),
        }

    def _deliver(self, channel: str, events: list[Json]) -> list[Json]:
        bodies = [
            self.body(deepcopy(event), channel)
            for event in events
            if self._manifest.subscribes(self._subscription(channel, event))
            and self._reaches_bot(channel)
        ]
        for body in bodies:
            self._delivery.event(body)
        return bodies

    def _reaches_bot(self, channel: str) -> bool:
        place = self._workspace.channels.get(channel)
        return place is None or self._workspace.has_bot(place)

    def _subscription(self, channel: str, event: Json) -> str:
        kind = str(event["type"])
        return MESSAGE_EVENTS[self._workspace.kind(channel)] if kind == "message" else kind

    def _mentions_bot(self, message: Json) -> bool:
        return f"<@{self._workspace.bot.user_id}" in str(message.get("text", ""))

    def _place(self, channel: str, ts: str) -> Json:
        return {"channel": channel, "event_ts": ts, "channel_type": self._workspace.kind(channel)}

    def _hidden(self, channel: str, subtype: str) -> Json:
        ts = self._workspace.next_ts()
        return {
            "type": "message",
            "subtype": subtype,
            "hidden": True,
            "ts": ts,
            **self._place(channel, ts),
        }

    @staticmethod
    def _mention(event: Json) -> Json:
        mention = {**event, "type": "app_mention"}
        mention.pop("channel_type", None)
        return mention

    @staticmethod
    def _event_message(post: Post) -> Json:
        """Return a message as events carry it: only the type of its metadata, and no reactions."""
        message = deepcopy(post.message)
        message.pop("reactions", None)
        if "blocks" in message:
            message["blocks"] = translated(message["blocks"])
        if "metadata" in message:
            message["metadata"] = {"event_type": message["metadata"]["event_type"]}
        return message
