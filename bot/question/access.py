"""Who may use Footnote, and where: one answer for every entrance.

Mentions, commands, the shortcut, buttons, sharing and App Home all ask here. Docs are internal, so
the default is no for channels that other organisations read, for people of other organisations,
and for guests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.channels import OFF, Channel
from bot.question.event import Question
from bot.settings import BotSettings
from bot.slack.identity import Identity
from bot.slack.people import People

_SHARED = (
    "This channel is shared with another organisation, and everybody in it would read the "
    "answer, so I keep quiet here. Ask me in an internal channel or a direct message; an "
    "operator can allow this channel with `FOOTNOTE_ALLOWED_CHANNELS`."
)
_UNKNOWN = (
    "I cannot see whether this channel is shared with another organisation, so I post nothing "
    "here. Invite me to the channel and try again."
)
_NOT_JOINED = "I am not in this channel, so I cannot post here. Invite me and try again."
_STRANGER = "I answer from internal docs, and only for members of this workspace."
_GUEST = (
    "I answer from internal docs, and guest accounts are not allowed to ask. "
    "An operator can change that with `FOOTNOTE_GUESTS=true`."
)


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody who wants something of Footnote somewhere."""

    user: str
    channel: str = ""
    """Empty where it is no channel: App Home, a form."""
    user_team: str | None = None
    is_shared: bool | None = None
    """What Slack said beside the event; None where it said nothing."""
    is_public: bool = False
    """Whether everybody in the channel would see what comes of it."""

    @classmethod
    def of(cls, question: Question) -> "Visit":
        by_event = question.origin == "message"
        return cls(
            user=question.user or "",
            channel=question.channel,
            user_team=question.user_team,
            is_shared=question.is_shared if by_event else None,
            is_public=question.origin != "command",
        )

    @classmethod
    def by(cls, body: Mapping[str, Any], *, is_public: bool) -> "Visit":
        """The visit behind a command, a shortcut, a button or a form."""
        person, place = body.get("user") or {}, body.get("channel") or {}
        return cls(
            user=str(body.get("user_id") or person.get("id") or ""),
            channel=str(body.get("channel_id") or place.get("id") or ""),
            user_team=person.get("team_id"),
            is_public=is_public,
        )


class Access:
    def __init__(
        self,
        people: People,
        me: Identity,
        settings: BotSettings,
        channel: Callable[[str], Channel],
    ) -> None:
        self._people, self._me, self._settings = people, me, settings
        self._channel = channel

    def refusal(self, visit: Visit, *, when_off: bool = False) -> str | None:
        """Why not, in words for the visitor; None when they may. ``when_off``: even if it is off.

        What Slack cannot say of a person counts for them, as it always can of strangers; what it
        cannot say of a place counts against posting there.
        """
        if told := self._of_place(visit) or self._of_person(visit):
            return told
        off = bool(visit.channel) and not when_off and self._channel(visit.channel).off
        return OFF if off else None

    def _of_place(self, visit: Visit) -> str | None:
        if not visit.channel or visit.channel in self._settings.allowed_channels:
            return None
        if visit.is_shared:
            return _SHARED
        # Nothing beside a click says so: what would be posted is worth a question to Slack.
        anew = visit.is_public and visit.is_shared is None
        place = self._people.place(visit.channel, anew=anew)
        if place is None:
            return _UNKNOWN if anew else None
        if place.is_shared:
            return _SHARED
        return _NOT_JOINED if anew and not place.is_joined else None

    def _of_person(self, visit: Visit) -> str | None:
        if visit.user in self._settings.allowed_users:
            return None
        person = self._people.person(visit.user)
        at_home = self._me.home(visit.user_team)
        if person is None:
            return None if at_home else _STRANGER
        if person.is_stranger or not self._me.home(person.team, person.enterprise):
            return _STRANGER
        return _GUEST if person.is_guest and not self._settings.guests else None
