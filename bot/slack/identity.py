"""Footnote's own ids in this workspace, and the metadata of its messages."""

from dataclasses import dataclass
from typing import Any

from agent.conversation import CitedChunk
from bot.reading.block_text import SlackJson, items, string

SlackMessage = dict[str, Any]
"""Text and blocks of a message, as arguments of ``chat.postMessage``."""
MetadataPayload = dict[str, object]
"""Payload of a message's metadata, as an argument."""

REPLY = "footnote_answer"
"""Metadata type of replies."""
NOTICE = "footnote_notice"
"""Metadata type of messages that nobody asked for, and of calls for a human."""
QUOTE = "footnote_quote"
"""Metadata type of messages that repeat a person's words."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Footnote's own ids in this workspace."""

    user_id: str
    bot_id: str | None
    team_id: str
    enterprise_id: str | None = None

    def wrote(self, message: SlackJson) -> bool:
        """Return True if Footnote posted the message, by its own ids."""
        bot_id = message.get("bot_id")
        return message.get("user") == self.user_id or bool(bot_id and bot_id == self.bot_id)

    def home(self, *teams: str | None) -> bool:
        """Return True if a team is this workspace or its organisation, or if no team is given."""
        ids = {team for team in teams if team}
        return not ids or not ids.isdisjoint({self.team_id, self.enterprise_id})


@dataclass(frozen=True, slots=True)
class ReplyMetadata:
    """The metadata of one of Footnote's replies. Values of a wrong type count as missing."""

    answer: str = ""
    """Id of the answer, or the reference of a short line."""
    question: str = ""
    """Timestamp of the question."""
    part: int | None = None
    """Number of this message among the messages of the answer, from 0."""
    parts: int = 1
    """Number of messages of the answer."""
    piece: int | None = None
    """Number of this message among the plain ones that replace a part."""
    runbook: str = ""
    """Timestamp of the question that this runbook was posted for."""
    verdict: str = ""
    """Verdict of the answer. Empty for a short line and a runbook, which are not answers."""
    asker: str = ""
    """Id of a person who asked by a shortcut or a command, which leave no message."""
    cited: tuple[CitedChunk, ...] | None = None
    """Chunks that the answer cites. None if Slack refused to keep them."""

    @property
    def identity(self) -> tuple[str, str, int | None, int, int | None]:
        """Values that tell one reply from all others."""
        return (self.answer, self.question, self.part, self.parts, self.piece)


def metadata_of(message: SlackJson) -> tuple[str, SlackJson]:
    """Return type and payload of a message's metadata, both empty for a message without any."""
    metadata = message.get("metadata")
    if not isinstance(metadata, dict):
        return "", {}
    payload = metadata.get("event_payload")
    return string(metadata.get("event_type")), payload if isinstance(payload, dict) else {}


def read_metadata(payload: SlackJson) -> ReplyMetadata:
    """Read the metadata payload of a reply."""
    cited = payload.get("cited")
    chunks = (c for c in items(cited) if isinstance(c, dict) and "id" in c)
    return ReplyMetadata(
        answer=string(payload.get("answer")),
        question=string(payload.get("question")),
        part=_number(payload.get("part")),
        parts=_number(payload.get("parts")) or 1,
        piece=_number(payload.get("piece")),
        runbook=string(payload.get("runbook")),
        verdict=string(payload.get("verdict")),
        asker=string(payload.get("asker")),
        cited=None
        if cited is None
        else tuple(CitedChunk(str(c["id"]), string(c.get("hash")) or None) for c in chunks),
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
