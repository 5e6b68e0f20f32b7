"""``[channels]`` and ``[owners]`` of ``footnote.toml`` -> settings of one channel, and owners.

A value that a channel's section lacks comes from ``[channels.default]``.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BeforeValidator, Field, Strict

from agent.conversation import Conversation
from ingest.config_file import ConfigFile, Line, Section

SECTIONS = ("channels", "owners")
"""Sections of ``footnote.toml`` that the bot reads."""
DEFAULT, DIRECT = "default", "direct"
OFF = "I am switched off in this channel. Ask me in another one, or in a direct message."
_ID = re.compile(r"[CDG][A-Z0-9]{2,}")
_CALLEE = re.compile(r"[SUW][A-Z0-9]{2,}")


def _callee(value: object) -> object:
    if isinstance(value, str) and not _CALLEE.fullmatch(value):
        raise ValueError("has to be the id of a user group (S…) or of a person (U…)")
    return value


class Channel(Section):
    """Settings of one channel."""

    collections: Annotated[tuple[str, ...], Strict(False), Field(min_length=1)] | None = None
    """Collections that are searched for this channel; None: all docs."""
    follow_ups: bool = True
    """Answer replies without a mention in threads of the channel."""
    language: Line | None = None
    tone: Line | None = None
    escalation: Annotated[str, BeforeValidator(_callee)] | None = None
    """User group (``S…``) or person (``U…``) that *Need a human* calls from here."""
    ephemeral: bool = False
    """Show an answer to the asker only."""
    stream: bool | None = None
    """Show an answer while it is written; None: as FOOTNOTE_STREAM says."""
    runbook_at_once: bool = True
    """Post an alert's runbook before the answer is ready."""
    change_notes: bool = False
    """Post a note in a thread when a document that the thread cites changes."""
    off: bool = False

    @property
    def wishes(self) -> str:
        """Language and tone as a sentence for the model."""
        wishes = [f"answer in {self.language}"] if self.language else []
        return "; ".join([*wishes, *([f"tone: {self.tone}"] if self.tone else [])])

    def applied_to(self, conversation: Conversation) -> Conversation:
        """Return the conversation with the collections and wishes of its channel."""
        return replace(conversation, collections=self.collections, wishes=self.wishes)

    def described(self) -> Iterator[str]:
        """Describe the differences from the default settings, for people."""
        if self.off:
            yield "I am switched off."
            return
        if self.collections is not None:
            yield f"I use only these docs: {', '.join(f'`{name}`' for name in self.collections)}."
        if not self.follow_ups:
            yield "I answer only when I am mentioned."
        if self.ephemeral:
            yield "Only the person who asks sees my answer."
        if self.language:
            yield f"I answer in {self.language}."
        if self.tone:
            yield f"Tone: {self.tone}"
        if not self.runbook_at_once:
            yield "I do not post a runbook before the answer."
        if self.change_notes:
            yield "I post a note in a thread when a page changes that I cited there."


class OwnerContact(Section):
    """The group or person in Slack for an owner of documents."""

    escalation: Annotated[str, BeforeValidator(_callee)]
    """User group (``S…``) or person (``U…``) that *Need a human* calls for these documents."""


@dataclass(frozen=True)
class Channels:
    """The sections as configured."""

    configured: Mapping[str, Channel] = field(default_factory=dict)
    """Settings by channel id, ``#name``, ``default``, or ``direct`` for direct messages."""

    def of(self, channel: str, name_of: Callable[[str], str | None]) -> Channel:
        """Return the settings of a channel. ``name_of`` is called only if a section has a name."""
        keys = [DEFAULT, DIRECT] if channel.startswith("D") else [DEFAULT]
        if any(key.startswith("#") for key in self.configured):
            keys.append(f"#{name_of(channel)}")
        values: dict[str, object] = {}
        for key in (*keys, channel):
            if section := self.configured.get(key):
                values |= {name: getattr(section, name) for name in section.model_fields_set}
        return Channel.model_validate(values)


def read_owners(config: ConfigFile) -> dict[str, str]:
    """Return the group or person to call for each owner in the docs. Raises SettingsError."""
    return {
        name: owner.escalation for name, owner in config.section("owners", OwnerContact).items()
    }


def read_channels(config: ConfigFile, collections: Collection[str]) -> Channels:
    """Return the checked sections. ``collections`` are the names that the file defines."""
    channels = config.section("channels", Channel)
    for key, channel in channels.items():
        if not (key in (DEFAULT, DIRECT) or key.startswith("#") or _ID.fullmatch(key)):
            cure = 'Give its id, such as C0123ABCD, its name as "#name", or default or direct'
            raise config.mistake(("channels", key), f"is not a channel. {cure}")
        for name in channel.collections or ():
            if name not in collections:
                names = ", ".join(collections) or "none"
                raise config.mistake(
                    ("channels", key, "collections"),
                    f"names {name!r}, which is not a collection. Configured: {names}",
                )
    return Channels(channels)
