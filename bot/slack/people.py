"""Ids -> people and channels, cached. An id that Slack does not know is not an error.

While Slack fails, it tells nothing: then an older entry of a person still counts.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cachetools import LRUCache, TTLCache
from slack_sdk import WebClient

from bot.reading.block_text import SlackJson
from bot.slack.clients import SLACK_FAILED, slack_error
from ingest.errors import FootnoteError

log = logging.getLogger(__name__)

_PERSON_SECONDS = 3_600.0
_PLACE_SECONDS = 60.0
"""Seconds that a channel is cached: few, as nothing may be posted in a channel just shared."""
_UNKNOWN_SECONDS = 60.0
_FAILED_SECONDS = 5.0
"""Seconds after a failure until Slack is asked again: few, as people are told to try again."""
_REMEMBERED_SECONDS = 86_400.0
"""Age up to which a person's entry counts while Slack fails."""
_MOST = 5_000
_NO_SUCH = {"user_not_found", "channel_not_found"}
"""Slack's errors for an id that it does not know; every other error is a failure."""


class NotTold(FootnoteError):
    """Slack does not tell at the moment who a person is, or what a channel is."""


@dataclass(frozen=True, slots=True)
class Person:
    """A user, as the workspace's directory has them."""

    name: str
    team: str | None = None
    enterprise: str | None = None
    """Organisation of their workspace, if it has several workspaces."""
    is_bot: bool = False
    is_guest: bool = False
    is_admin: bool = False
    """True for an admin or owner of the workspace."""
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


@dataclass(frozen=True, slots=True)
class _Entry(Generic[_Value]):
    value: _Value | None
    """None for an id that Slack does not know."""
    at: float
    """Monotonic time of Slack's response."""


class _Cache(Generic[_Value]):
    """Entries by id; an id that Slack does not know is looked up again sooner."""

    def __init__(self, seconds: float, remembered: float) -> None:
        """``remembered``: age in seconds up to which an entry counts while Slack fails."""
        self._seconds, self._remembered = seconds, remembered
        self._lock = threading.Lock()
        self._entries: LRUCache[str, _Entry[_Value]] = LRUCache(_MOST)
        self._failed: TTLCache[str, bool] = TTLCache(_MOST, _FAILED_SECONDS, timer=time.monotonic)

    def get(
        self, ident: str, ask: Callable[[str], _Value | None], *, is_fresh: bool
    ) -> _Value | None:
        """Return the cached value, else that of ``ask``; if ``is_fresh``, always the latter.

        Raises NotTold.
        """
        now = time.monotonic()
        with self._lock:
            entry = None if is_fresh else self._entries.get(ident)
            has_failed = not is_fresh and ident in self._failed
        if entry is not None and now - entry.at < self._lasts(entry):
            return entry.value
        try:
            if has_failed:
                raise NotTold(ident)
            value = ask(ident)
        except NotTold:
            with self._lock:
                if not has_failed:
                    self._failed[ident] = True
            if entry is not None and now - entry.at < self._remembered:
                return entry.value
            raise
        with self._lock:
            self._entries[ident] = _Entry(value, now)
            self._failed.pop(ident, None)
        return value

    def _lasts(self, entry: _Entry[_Value]) -> float:
        return self._seconds if entry.value is not None else _UNKNOWN_SECONDS


class People:
    """The workspace's directory of people and channels."""

    def __init__(self, client: WebClient) -> None:
        self._client = client
        self._people: _Cache[Person] = _Cache(_PERSON_SECONDS, _REMEMBERED_SECONDS)
        self._places: _Cache[ChannelEntry] = _Cache(_PLACE_SECONDS, _PLACE_SECONDS)

    def name(self, ident: str) -> str | None:
        """Return the name of a person or a channel, or None if Slack does not tell it."""
        try:
            if ident[:1] in ("C", "G"):
                place = self.place(ident)
                return place.name if place else None
            if ident[:1] not in ("U", "W"):
                return None
            person = self.person(ident)
        except NotTold:
            return None
        return person.name if person else None

    def is_bot(self, user: str) -> bool:
        """Return True if Slack says that this user is a bot."""
        try:
            person = self.person(user)
        except NotTold:
            return False
        return person is not None and person.is_bot

    def person(self, user: str) -> Person | None:
        """Return the person, or None if Slack does not know them. Raises NotTold."""
        return self._people.get(user, self._ask_person, is_fresh=False)

    def place(self, channel: str, *, is_fresh: bool = False) -> ChannelEntry | None:
        """Return the channel, or None if Slack does not know it; ``is_fresh`` skips the cache.

        Raises NotTold.
        """
        return self._places.get(channel, self._ask_place, is_fresh=is_fresh)

    def _ask_person(self, user: str) -> Person | None:
        try:
            user_info = self._client.users_info(user=user).get("user")
        except SLACK_FAILED as error:
            _raise_unless_unknown("users.info", user, error)
            return None
        if not isinstance(user_info, dict):
            raise NotTold("users.info: no user")
        return _read_person(user_info)

    def _ask_place(self, channel: str) -> ChannelEntry | None:
        try:
            channel_info = self._client.conversations_info(channel=channel).get("channel")
        except SLACK_FAILED as error:
            _raise_unless_unknown("conversations.info", channel, error)
            return None
        if not isinstance(channel_info, dict):
            raise NotTold("conversations.info: no channel")
        return ChannelEntry(
            name=str(channel_info["name"]) if channel_info.get("name") else None,
            is_shared=bool(channel_info.get("is_ext_shared")),
            # A direct message has no such field.
            is_joined=channel_info.get("is_member") is not False,
        )


def _raise_unless_unknown(method: str, ident: str, error: Exception) -> None:
    """Raise NotTold for every failure except that of an id that Slack does not know."""
    code = slack_error(error)
    log.info("%s failed for %s: %s", method, ident, code)
    if code not in _NO_SUCH:
        raise NotTold(f"{method}: {code}") from error


def _read_person(user: SlackJson) -> Person:
    profile = user.get("profile") or {}
    name = profile.get("display_name") or user.get("real_name") or profile.get("real_name")
    return Person(
        name=str(name or user.get("name") or "somebody"),
        team=user.get("team_id"),
        enterprise=(user.get("enterprise_user") or {}).get("enterprise_id"),
        is_bot=bool(user.get("is_bot")),
        is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
        is_admin=bool(user.get("is_admin") or user.get("is_owner")),
        is_stranger=bool(user.get("is_stranger")),
    )
