"""User ids -> people: names, and whether they belong here. Cached; a failed look-up is no error."""

import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from slack_sdk import WebClient

from bot.clients import SLACK_FAILED, slack_error
from bot.events import Identity, Question
from bot.settings import BotSettings

log = logging.getLogger(__name__)

_KNOWN_SECONDS = 3_600.0
_UNKNOWN_SECONDS = 60.0
_MOST = 5_000


@dataclass(frozen=True, slots=True)
class Person:
    """What the directory says of a user."""

    name: str
    team: str | None = None
    is_bot: bool = False
    is_guest: bool = False
    is_stranger: bool = False


class People:
    """The workspace's directory, asked once an hour for each person."""

    def __init__(self, client: WebClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, tuple[float, Person | None]] = OrderedDict()

    def name(self, ident: str) -> str | None:
        """Name of a person or a channel; None where Slack does not tell."""
        if ident[:1] not in ("U", "W", "C"):
            return None
        person = self.person(ident)
        return person.name if person else None

    def person(self, user: str) -> Person | None:
        """The person, or None where Slack does not tell."""
        now = time.monotonic()
        with self._lock:
            until, person = self._cache.get(user, (0.0, None))
        if until > now:
            return person
        person = self._ask(user)
        with self._lock:
            self._cache[user] = (now + (_KNOWN_SECONDS if person else _UNKNOWN_SECONDS), person)
            self._cache.move_to_end(user)
            while len(self._cache) > _MOST:
                self._cache.popitem(last=False)
        return person

    def _ask(self, user: str) -> Person | None:
        try:
            if user.startswith("C"):
                channel = self._client.conversations_info(channel=user).get("channel") or {}
                return Person(name=str(channel["name"])) if channel.get("name") else None
            found = self._client.users_info(user=user).get("user")
        except SLACK_FAILED as error:
            log.info("users.info failed for %s: %s", user, slack_error(error))
            return None
        return _read_person(found) if isinstance(found, dict) else None


def refusal(
    question: Question, person: Person | None, me: Identity, settings: BotSettings
) -> str | None:
    """Why this person may not be answered here, in words for them; None when they may.

    Docs are internal, so the default is no for channels that other organisations read, for people
    of other organisations, and for guests.
    """
    if question.user in settings.allowed_users:
        return None
    if question.is_shared and question.channel not in settings.allowed_channels:
        return (
            "This channel is shared with another organisation, and everybody in it would read the "
            "answer, so I keep quiet here. Ask me in an internal channel or a direct message; an "
            "operator can allow this channel with `FOOTNOTE_ALLOWED_CHANNELS`."
        )
    stranger = person is not None and (person.is_stranger or not me.home(person.team))
    from_elsewhere = question.is_shared and not me.home(question.user_team)
    if stranger or (person is None and from_elsewhere):
        return "I answer from internal docs, and only for members of this workspace."
    if person is not None and person.is_guest and not settings.guests:
        return (
            "I answer from internal docs, and guest accounts are not allowed to ask. "
            "An operator can change that with `FOOTNOTE_GUESTS=true`."
        )
    return None


def _read_person(user: dict[str, Any]) -> Person:
    profile = user.get("profile") or {}
    name = profile.get("display_name") or user.get("real_name") or profile.get("real_name")
    return Person(
        name=str(name or user.get("name") or "somebody"),
        team=user.get("team_id"),
        is_bot=bool(user.get("is_bot")),
        is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
        is_stranger=bool(user.get("is_stranger")),
    )
