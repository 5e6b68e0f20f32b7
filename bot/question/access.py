"""Permission to use Footnote, by person and channel.

Mentions, commands, the shortcut, buttons, sharing and App Home all use this check. Docs are
internal, so by default Footnote refuses channels that other organisations read, people of other
organisations, and guests.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bot.channels import OFF, Channel
from bot.question.event import Question
from bot.settings import BotSettings
from bot.slack.identity import Identity
from bot.slack.people import NotTold, People

_SHARED = (
    "This channel is shared with another organisation, and everybody in it would read the "
    "answer, so I keep quiet here. Ask me in an internal channel or a direct message; an "
    "operator can allow this channel with `FOOTNOTE_ALLOWED_CHANNELS`."
)
_UNKNOWN = (
    "I cannot see whether this channel is shared with another organisation, so I post nothing "
    "here. Invite me to the channel and try again."
)
TRY_AGAIN = (
    "Slack does not tell me at the moment whether you may ask here. Please try again in a minute."
)
"""The refusal while Slack fails; everybody is told, whether they mentioned Footnote or not."""
_NOT_JOINED = "I am not in this channel, so I cannot post here. Invite me and try again."
_STRANGER = "I answer from internal docs, and only for members of this workspace."
_GUEST = (
    "I answer from internal docs, and guest accounts are not allowed to ask. "
    "An operator can change that with `FOOTNOTE_GUESTS=true`."
)


_NO_REINDEX = (
    "You may not make me read the docs again: an operator names those who may with "
    "`FOOTNOTE_REINDEX`. I read the docs every night anyway."
)


@dataclass(frozen=True, slots=True)
class Asker:
    """A person who wants something of Footnote, and where."""

    user: str
    channel: str = ""
    """Empty outside channels: in App Home and in a form."""
    user_team: str | None = None
    is_shared: bool | None = None
    """True if the event says that other organisations read the channel. None if it does not say."""
    is_public: bool = False
    """True if everybody in the channel sees the result."""

    @classmethod
    def of(cls, question: Question) -> "Asker":
        return cls(
            user=question.user or "",
            channel=question.channel,
            user_team=question.user_team,
            is_shared=question.is_shared,
            is_public=not question.is_command,
        )


class Access:
    """Decides who may use Footnote where."""

    def __init__(
        self,
        people: People,
        me: Identity,
        settings: BotSettings,
        channel: Callable[[str], Channel],
    ) -> None:
        """``channel`` gives the settings of a channel."""
        self._people, self._me, self._settings = people, me, settings
        self._channel = channel

    def refusal(self, asker: Asker, *, when_off: bool = False) -> str | None:
        """Return why the asker is refused, in words for them, or None if they may use Footnote.

        ``when_off`` permits use even if Footnote is switched off in the channel. A person whom
        Slack does not know may use it, since Slack knows all people of other organisations. In a
        channel that Slack does not know, nothing may be posted. While Slack does not tell who the
        asker is, only people whom the settings name may use it.
        """
        try:
            refusal = self._of_place(asker) or self._of_person(asker)
        except NotTold:
            refusal = TRY_AGAIN
        if refusal is not None:
            return refusal
        is_off = bool(asker.channel) and not when_off and self._channel(asker.channel).off
        return OFF if is_off else None

    def reindex_refusal(self, user: str) -> str | None:
        """Return why a person may not order an ingest, in words for them, or None if they may."""
        allowed = self._settings.reindex
        if "everyone" in allowed or user in allowed:
            return None
        if "admins" not in allowed:
            return _NO_REINDEX
        try:
            person = self._people.person(user)
        except NotTold:
            return TRY_AGAIN
        return None if person is not None and person.is_admin else _NO_REINDEX

    def _of_place(self, asker: Asker) -> str | None:
        if not asker.channel or asker.channel in self._settings.allowed_channels:
            return None
        if asker.is_shared:
            return _SHARED
        # A click does not say whether the channel is shared, so Slack is asked before a post.
        must_ask = asker.is_public and asker.is_shared is None
        try:
            place = self._people.place(asker.channel, is_fresh=must_ask)
        except NotTold:
            if must_ask:
                raise
            return None
        if place is None:
            return _UNKNOWN if must_ask else None
        if place.is_shared:
            return _SHARED
        return _NOT_JOINED if must_ask and not place.is_joined else None

    def _of_person(self, asker: Asker) -> str | None:
        if asker.user in self._settings.allowed_users:
            return None
        person = self._people.person(asker.user)
        if person is None:
            return None if self._me.home(asker.user_team) else _STRANGER
        if person.is_stranger or not self._me.home(person.team, person.enterprise):
            return _STRANGER
        return _GUEST if person.is_guest and not self._settings.guests else None
