"""A message of a Slack thread, read once: who wrote it, whom it addresses, what it says. Pure."""

from dataclasses import dataclass, field
from typing import Literal

from bot.reading.block_text import SlackJson, string
from bot.reading.mentions import files_of, mentioned, words_of
from bot.slack.identity import NOTICE, REPLY, Identity, ReplyMetadata, metadata_of, read_metadata

WriterKind = Literal["person", "footnote", "notice", "app", "slack"]
"""``notice``: Footnote's message that nobody asked for. ``slack``: joins, deletions, Slackbot."""

SLACKBOT = "USLACKBOT"
"""Id of the account that posts reminders, and e-mails that were sent to a channel."""
SPOKEN = (None, "", "file_share", "thread_broadcast", "me_message")
"""Subtypes of messages that people write. All others are Slack's own notices."""


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """One message of a thread."""

    ts: str
    writer: WriterKind
    user: str
    """Id of the account that posted the message. Empty for some apps."""
    addresses: frozenset[str]
    """Ids of the users and groups that the message mentions."""
    mentions_me: bool
    words: str
    """The message's text without Footnote's own mention."""
    has_attachments: bool
    files: tuple[str, ...]
    """Names of the attached files."""
    is_deleted: bool
    metadata: ReplyMetadata | None
    """Metadata of Footnote's own reply. None for all other messages."""
    payload: SlackJson = field(repr=False, compare=False)
    """The message as Slack sent it, to be turned into text or shown again."""

    @property
    def is_person(self) -> bool:
        return self.writer == "person"

    @property
    def is_own(self) -> bool:
        """True if Footnote posted the message, as a reply or as a notice."""
        return self.writer in ("footnote", "notice")


def read_thread_message(message: SlackJson, me: Identity) -> ThreadMessage:
    """Read one message as Slack sends it."""
    addresses = mentioned(message)
    kind, payload = metadata_of(message)
    is_own = me.wrote(message)
    return ThreadMessage(
        ts=string(message.get("ts")),
        writer=_writer(message, is_own=is_own, is_notice=kind == NOTICE),
        user=string(message.get("user")),
        addresses=frozenset(addresses),
        mentions_me=me.user_id in addresses,
        words=words_of(message, me.user_id),
        has_attachments=bool(message.get("attachments")),
        files=files_of(message),
        is_deleted=message.get("subtype") == "tombstone",
        metadata=read_metadata(payload) if is_own and kind == REPLY and payload else None,
        payload=message,
    )


def _writer(message: SlackJson, *, is_own: bool, is_notice: bool) -> WriterKind:
    if is_own:
        return "notice" if is_notice else "footnote"
    if message.get("bot_id") or message.get("bot_profile"):
        return "app"
    user = string(message.get("user"))
    is_person = user and user != SLACKBOT and message.get("subtype") in SPOKEN
    return "person" if is_person else "slack"
