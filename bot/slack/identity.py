"""Who Footnote is in this workspace, and what it wrote into the metadata of its own messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.reading.block_text import string

Message = Mapping[str, Any]
"""A message as Slack sends it; nothing of it is checked."""

NOTICE = "footnote_notice"
"""Type of the metadata of what Footnote says without being asked."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who Footnote is in this workspace."""

    user_id: str
    bot_id: str | None
    team_id: str
    enterprise_id: str | None = None

    def wrote(self, message: Message) -> bool:
        """True for own messages: known by own ids, never by 'some bot wrote it'."""
        bot_id = message.get("bot_id")
        return message.get("user") == self.user_id or bool(bot_id and bot_id == self.bot_id)

    def spoke(self, message: Message) -> bool:
        """True for own messages by which Footnote takes part: all but its notices."""
        return self.wrote(message) and metadata_of(message)[0] != NOTICE

    def home(self, *teams: str | None) -> bool:
        """True when one of these is this workspace or its organisation, or none is told."""
        told = {team for team in teams if team}
        return not told or not told.isdisjoint({self.team_id, self.enterprise_id})


def metadata_of(message: Message) -> tuple[str | None, dict[str, Any]]:
    """Type and payload of a message's metadata; none of it is to be trusted."""
    metadata = message.get("metadata")
    if not isinstance(metadata, dict):
        return None, {}
    payload = metadata.get("event_payload")
    return string(metadata.get("event_type")), payload if isinstance(payload, dict) else {}
