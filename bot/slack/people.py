"""Ids -> people and channels, cached. An id that Slack does not know is not an error."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import TLRUCache
from slack_sdk import WebClient

from bot.reading.block_text import SlackJson
from bot.slack.clients import SLACK_FAILED, slack_error

log = logging.getLogger(__name__)

_PERSON_SECONDS = 3_600.0
_PLACE_SECONDS = 60.0
"""Seconds that a channel is cached: few, as nothing may be posted in a channel just shared."""
_UNKNOWN_SECONDS = 60.0
_MOST = 5_000


@dataclass(frozen=True, slots=True)
class Person:
    """A user, as the workspace's directory has them."""

    name: str
    team: str | None = None
    enterprise: str | None = None
    """Organisation of their workspace, if it has several workspaces."""
    is_bot: bool = False
    is_guest: bool = False
    is_stranger: bool = False


@dataclass(frozen=True, slots=True)
class ChannelEntry:
    """A channel, as the workspace's directory has it."""

    name: str | None
    is_shared: bool
    """True if other organisations read the channel."""
    is_joined: bool
    """True if Footnote may post in the channel."""


_Value = TypeVar("_Value")


class _Cache(Generic[_Value]):
    """Values by id; an id that Slack does not know is looked up again sooner."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._values: TLRUCache[str, tuple[_Value | None]] = TLRUCache(
            _MOST, ttu=self._until, timer=time.monotonic
        )

    def get(
        self, ident: str, ask: Callable[[str], _Value | None], *, is_fresh: bool
    ) -> _Value | None:
        """Return the cached value, else that of ``ask``; if ``is_fresh``, always the latter."""
        with self._lock:
            cached = None if is_fresh else self._values.get(ident)
        if cached is not None:
            return cached[0]
        value = ask(ident)
        with self._lock:
            self._values[ident] = (value,)
        return value

    def _until(self, _ident: str, cached: tuple[_Value | None], now: float) -> float:
        return now + (_UNKNOWN_SECONDS if cached == (None,) else self._seconds)


class People:
    """The workspace's directory of people and channels."""

    def __init__(self, client: WebClient) -> None:
        self._client = client
        self._people: _Cache[Person] = _Cache(_PERSON_SECONDS)
        self._places: _Cache[ChannelEntry] = _Cache(_PLACE_SECONDS)

    def name(self, ident: str) -> str | None:
        """Return the name of a person or a channel, or None if Slack does not tell it."""
        if ident[:1] in ("C", "G"):
            place = self.place(ident)
            return place.name if place else None
        if ident[:1] not in ("U", "W"):
            return None
        person = self.person(ident)
        return person.name if person else None

    def person(self, user: str) -> Person | None:
        """Return the person, or None if Slack does not return them."""
        return self._people.get(user, self._ask_person, is_fresh=False)

    def place(self, channel: str, *, is_fresh: bool = False) -> ChannelEntry | None:
        """Return the channel, or None if Slack does not return it; ``is_fresh`` skips the cache."""
        return self._places.get(channel, self._ask_place, is_fresh=is_fresh)

    def _ask_person(self, user: str) -> Person | None:
        try:
            user_info = self._client.users_info(user=user).get("user")
        except SLACK_FAILED as error:
            log.info("users.info failed for %s: %s", user, slack_error(error))
            return None
        return _read_person(user_info) if isinstance(user_info, dict) else None

    def _ask_place(self, channel: str) -> ChannelEntry | None:
        try:
            channel_info = self._client.conversations_info(channel=channel).get("channel")
        except SLACK_FAILED as error:
            log.info("conversations.info failed for %s: %s", channel, slack_error(error))
            return None
        if not isinstance(channel_info, dict):
            return None
        return ChannelEntry(
            name=str(channel_info["name"]) if channel_info.get("name") else None,
            is_shared=bool(channel_info.get("is_ext_shared")),
            # A direct message has no such field.
            is_joined=channel_info.get("is_member") is not False,
        )


def _read_person(user: SlackJson) -> Person:
    profile = user.get("profile") or {}
    name = profile.get("display_name") or user.get("real_name") or profile.get("real_name")
    return Person(
        name=str(name or user.get("name") or "somebody"),
        team=user.get("team_id"),
        enterprise=(user.get("enterprise_user") or {}).get("enterprise_id"),
        is_bot=bool(user.get("is_bot")),
        is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
        is_stranger=bool(user.get("is_stranger")),
    )
