"""Ids -> people and places: names, and who belongs here. Cached; a failed look-up is no error."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from slack_sdk import WebClient

from bot.slack.clients import SLACK_FAILED, slack_error

log = logging.getLogger(__name__)

_PERSON_SECONDS = 3_600.0
_PLACE_SECONDS = 60.0
"""Short, for a channel that is shared from now on must not be answered in any longer."""
_UNKNOWN_SECONDS = 60.0
_MOST = 5_000


@dataclass(frozen=True, slots=True)
class Person:
    """What the directory says of a user."""

    name: str
    team: str | None = None
    enterprise: str | None = None
    """The organisation of their workspace, where it is one of several."""
    is_bot: bool = False
    is_guest: bool = False
    is_stranger: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """What the directory says of a channel."""

    name: str | None
    is_shared: bool
    """Other organisations read it."""
    is_joined: bool
    """Footnote may post there."""


_Known = TypeVar("_Known")


class _Cache(Generic[_Known]):
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, _Known | None]] = OrderedDict()

    def get(self, ident: str, ask: Callable[[str], _Known | None], *, anew: bool) -> _Known | None:
        """What is known of it; ``anew``: as of now."""
        now = time.monotonic()
        with self._lock:
            until, known = self._kept.get(ident, (0.0, None))
        if until > now and not anew:
            return known
        known = ask(ident)
        with self._lock:
            seconds = _UNKNOWN_SECONDS if known is None else self._seconds
            self._kept[ident] = (now + seconds, known)
            self._kept.move_to_end(ident)
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return known


class People:
    """The workspace's directory of people and channels."""

    def __init__(self, client: WebClient) -> None:
        self._client = client
        self._people: _Cache[Person] = _Cache(_PERSON_SECONDS)
        self._places: _Cache[Place] = _Cache(_PLACE_SECONDS)

    def name(self, ident: str) -> str | None:
        """Name of a person or a channel; None where Slack does not tell."""
        if ident[:1] in ("C", "G"):
            place = self.place(ident)
            return place.name if place else None
        if ident[:1] not in ("U", "W"):
            return None
        person = self.person(ident)
        return person.name if person else None

    def person(self, user: str) -> Person | None:
        """The person, or None where Slack does not tell."""
        return self._people.get(user, self._ask_person, anew=False)

    def place(self, channel: str, *, anew: bool = False) -> Place | None:
        """The channel, or None where Slack does not tell; ``anew``: as it is at this moment."""
        return self._places.get(channel, self._ask_place, anew=anew)

    def _ask_person(self, user: str) -> Person | None:
        try:
            found = self._client.users_info(user=user).get("user")
        except SLACK_FAILED as error:
            log.info("users.info failed for %s: %s", user, slack_error(error))
            return None
        return _read_person(found) if isinstance(found, dict) else None

    def _ask_place(self, channel: str) -> Place | None:
        try:
            found = self._client.conversations_info(channel=channel).get("channel")
        except SLACK_FAILED as error:
            log.info("conversations.info failed for %s: %s", channel, slack_error(error))
            return None
        if not isinstance(found, dict):
            return None
        return Place(
            name=str(found["name"]) if found.get("name") else None,
            is_shared=bool(found.get("is_ext_shared")),
            is_joined=found.get("is_member") is not False,  # a direct message says nothing of it
        )


def _read_person(user: dict[str, Any]) -> Person:
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
