"""``[channels]`` of ``footnote.toml`` -> how Footnote behaves in one channel; ``[owners]``.

What a channel's own section leaves out comes from ``[channels.default]``.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BeforeValidator, Field, Strict

from agent.conversation import Conversation
from ingest.config_file import ConfigFile, Line, Section

SECTIONS = ("channels", "owners")
"""What the bot reads in ``footnote.toml``."""
DEFAULT, DIRECT = "default", "direct"
OFF = "I am switched off in this channel. Ask me in another one, or in a direct message."
_ID = re.compile(r"[CDG][A-Z0-9]{2,}")
_CALLED = re.compile(r"[SUW][A-Z0-9]{2,}")


def _called(value: object) -> object:
    if isinstance(value, str) and not _CALLED.fullmatch(value):
        raise ValueError("has to be the id of a user group (S…) or of a person (U…)")
    return value


class Channel(Section):
    """How Footnote behaves in a channel."""

    collections: Annotated[tuple[str, ...], Strict(False), Field(min_length=1)] | None = None
    """The only parts of the docs that are used here; None: all docs."""
    follow_ups: bool = True
    """Whether replies in its threads are answered without a mention."""
    language: Line | None = None
    tone: Line | None = None
    escalation: Annotated[str, BeforeValidator(_called)] | None = None
    """User group (``S…``) or person (``U…``) that *Need a human* calls from here."""
    ephemeral: bool = False
    """Whether only the asker sees an answer."""
    stream: bool | None = None
    """Whether an answer is shown while it is written; None: as it is elsewhere."""
    runbook_at_once: bool = True
    """Whether an alert's runbook is posted before the answer is ready."""
    change_notes: bool = False
    """Whether threads hear when a page that was cited in them changes."""
    off: bool = False

    @property
    def wishes(self) -> str:
        """Language and tone, in words for the model."""
        wishes = [f"answer in {self.language}"] if self.language else []
        return "; ".join([*wishes, *([f"tone: {self.tone}"] if self.tone else [])])

    def applied_to(self, conversation: Conversation) -> Conversation:
        """The conversation with what holds for its channel."""
        return replace(conversation, collections=self.collections, wishes=self.wishes)

    def described(self) -> Iterator[str]:
        """What differs here from how Footnote is elsewhere, for people."""
        if self.off:
            yield "I am switched off."
            return
        if self.collections is not None:
            yield f"I use only these docs: {', '.join(f'`{name}`' for name in self.collections)}."
        if not self.follow_ups:
            yield "I answer only when I am mentioned."
        if self.ephemeral:
            yield "Only the one who asks sees my answer."
        if self.language:
            yield f"I answer in {self.language}."
        if self.tone:
            yield f"Tone: {self.tone}"
        if not self.runbook_at_once:
            yield "I post no runbook before the answer."
        if self.change_notes:
            yield "I tell threads when a page changes that I cited in them."


class Owner(Section):
    """Who stands in Slack for an owner of pages."""

    escalation: Annotated[str, BeforeValidator(_called)]
    """User group (``S…``) or person (``U…``) that *Need a human* calls for these pages."""


@dataclass(frozen=True)
class Channels:
    """The sections as configured."""

    configured: Mapping[str, Channel] = field(default_factory=dict)
    """By id, by ``#name``, ``default``, or ``direct`` for direct messages."""

    def of(self, channel: str, name_of: Callable[[str], str | None]) -> Channel:
        """What holds in a channel; ``name_of`` is asked only where some section has a name."""
        keys = [DEFAULT, DIRECT] if channel.startswith("D") else [DEFAULT]
        if any(key.startswith("#") for key in self.configured):
            keys.append(f"#{name_of(channel)}")
        given: dict[str, object] = {}
        for key in (*keys, channel):
            if section := self.configured.get(key):
                given |= {name: getattr(section, name) for name in section.model_fields_set}
        return Channel.model_validate(given)


def read_owners(config: ConfigFile) -> dict[str, str]:
    """``[owners]``: owner as the docs name it -> the group or person that is called."""
    return {name: owner.escalation for name, owner in config.section("owners", Owner).items()}


def read_channels(config: ConfigFile, collections: Collection[str]) -> Channels:
    """The sections, checked; ``collections`` are those that the file defines."""
    channels = config.section("channels", Channel)
    for key, channel in channels.items():
        if not (key in (DEFAULT, DIRECT) or key.startswith("#") or _ID.fullmatch(key)):
            cure = 'Give its id, such as C0123ABCD, its name as "#name", or default or direct'
            raise config.mistake(("channels", key), f"is no channel. {cure}")
        for name in channel.collections or ():
            if name not in collections:
                known = ", ".join(collections) or "none"
                raise config.mistake(
                    ("channels", key, "collections"),
                    f"names {name!r}, which is no collection. Configured: {known}",
                )
    return Channels(channels)
