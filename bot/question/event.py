"""Raw Slack payload -> Question: what in an event may be something to answer. Pure.

Nothing here decides whether to answer; it only sorts out what can never be a question (other
bots, housekeeping, edits without a new mention) and gives the rest one shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bot.reading.block_text import string
from bot.reading.mentions import files_of, mentions, words_of
from bot.slack.identity import Identity, Message

Origin = Literal["message", "shortcut", "command"]
"""How a question was asked: by writing a message, or about one, or where nobody else sees it."""

SPOKEN = (None, "", "file_share", "thread_broadcast", "me_message")
"""Subtypes of what people say; all others are notices of Slack."""
_DIRECT = ("im", "app_home")
_TYPE_BY_PREFIX = {"D": "im", "G": "group", "C": "channel"}


@dataclass(frozen=True, slots=True)
class Key:
    """What names a message: a ``ts`` is unique within one channel only."""

    team: str
    channel: str
    ts: str


@dataclass(frozen=True, slots=True)
class Question:
    """A message that may have to be answered."""

    team: str
    channel: str
    ts: str
    thread_ts: str
    """Where the reply goes: the thread's root, or the message itself."""
    user: str | None
    text: str
    """As Slack sent it, tokens and entities unread: names are known only to Slack."""
    channel_type: str
    is_mention: bool
    edited: bool = False
    """The message was changed since it was posted, so it may have been answered before."""
    retried: bool = False
    is_shared: bool = False
    """Posted in a channel that other organisations read."""
    user_team: str | None = None
    gesture: str | None = None
    """The client's own id of the message: one gesture may arrive under two ``ts``."""
    words: str = ""
    """What its writer says, without Footnote's own mention, wherever in the message it stands."""
    message: Message = field(default_factory=dict, repr=False, compare=False)
    origin: Origin = "message"
    about: str | None = None
    """The ts of the message that a shortcut was used on."""

    @property
    def key(self) -> Key:
        return Key(self.team, self.channel, self.ts)

    @property
    def in_thread(self) -> bool:
        return self.thread_ts != self.ts

    def follows(self, message: Message) -> bool:
        """Whether a message of the thread stands before what is asked."""
        ts = str(message.get("ts", ""))
        return ts <= self.about if self.about else ts < self.ts

    @property
    def is_direct(self) -> bool:
        return self.channel_type in _DIRECT

    @property
    def is_called(self) -> bool:
        """Addressed to Footnote whatever it says: it is never left without a word."""
        return self.is_mention or self.is_direct

    @property
    def files(self) -> tuple[str, ...]:
        """Names of attached files."""
        return files_of(self.message)


@dataclass(frozen=True, slots=True)
class Deleted:
    """A message that is gone."""

    key: Key


@dataclass(frozen=True, slots=True)
class Edited:
    """A question whose words a person changed; it may be answered already, or just being.

    The new words need be no question any longer.
    """

    question: Question


Found = Question | Edited | Deleted | None


def read_event(body: Message, me: Identity, *, retried: bool = False) -> Found:
    """What an event envelope holds for Footnote; None where there is nothing to do."""
    event = body.get("event")
    if not isinstance(event, Mapping) or not isinstance(event.get("channel"), str):
        return None
    subtype = event.get("subtype")
    if event.get("type") == "message" and subtype == "message_deleted":
        return _deleted(event, event.get("deleted_ts"), me)
    is_shared = bool(body.get("is_ext_shared_channel"))
    if event.get("type") == "message" and subtype == "message_changed":
        return _changed(event, me, is_shared)
    if event.get("type") not in ("message", "app_mention"):
        return None
    return read_message(
        event,
        me,
        channel=event["channel"],
        channel_type=event.get("channel_type"),
        is_mention=event["type"] == "app_mention",
        is_shared=is_shared,
        retried=retried,
    )


def read_message(
    message: Message,
    me: Identity,
    *,
    channel: str,
    channel_type: str | None = None,
    is_mention: bool = False,
    was_mention: bool = False,
    is_shared: bool = False,
    retried: bool = False,
) -> Question | None:
    """A message by a person that mentions Footnote, stands in a DM or replies in a thread.

    ``was_mention``: it did before it was edited, and counts whatever it is now.
    """
    ts, user = string(message.get("ts")), string(message.get("user"))
    if not ts or not user:
        return None
    if message.get("subtype") not in SPOKEN or message.get("hidden") or _is_robot(message, me):
        return None
    teams = (string(message.get(name)) for name in ("user_team", "source_team", "team"))
    question = Question(
        team=me.team_id,
        channel=channel,
        ts=ts,
        thread_ts=string(message.get("thread_ts")) or ts,
        user=user,
        text=string(message.get("text")),
        channel_type=string(channel_type) or _TYPE_BY_PREFIX.get(channel[:1], "channel"),
        is_mention=is_mention or mentions(message, me.user_id),
        edited="edited" in message,
        retried=retried,
        is_shared=is_shared,
        user_team=next(filter(None, teams), None),
        gesture=string(message.get("client_msg_id")) or None,
        words=words_of(message, me.user_id),
        message=message,
    )
    return question if was_mention or question.is_called or question.in_thread else None


def by_hand(
    origin: Origin,
    key: Key,
    user: str | None,
    *,
    text: str = "",
    thread_ts: str | None = None,
    about: str | None = None,
) -> Question:
    """What is asked by a command, or by a shortcut ``about`` a message: addressed to Footnote."""
    return Question(
        team=key.team,
        channel=key.channel,
        ts=key.ts,
        thread_ts=thread_ts or key.ts,
        user=user,
        text=text,
        words=text,
        channel_type=_TYPE_BY_PREFIX.get(key.channel[:1], "channel"),
        is_mention=True,
        origin=origin,
        about=about,
    )


def _is_robot(message: Message, me: Identity) -> bool:
    return (
        bool(message.get("bot_id") or message.get("bot_profile"))
        or message.get("user") in ("USLACKBOT", me.user_id)
        or me.wrote(message)
    )


def _changed(event: Message, me: Identity, is_shared: bool) -> Found:
    """An edit is a question only the first time the mention appears in it.

    One that takes the mention away is an edit of the question that it was.

    Slack also sends ``message_changed`` for link previews, thread counters and detected languages.
    """
    message, before = event.get("message"), event.get("previous_message")
    if not isinstance(message, Mapping):
        return None
    if message.get("subtype") == "tombstone":
        return _deleted(event, message.get("ts"), me)
    before = before if isinstance(before, Mapping) else {}
    was_mention = mentions(before, me.user_id)
    question = read_message(
        {**message, "edited": message.get("edited", {})},
        me,
        channel=event["channel"],
        channel_type=event.get("channel_type"),
        was_mention=was_mention,
        is_shared=is_shared,
    )
    if question is None:
        return None
    if question.is_mention and not was_mention:
        return question
    reworded = "edited" in message and message.get("text") != before.get("text")
    return Edited(question) if reworded else None


def _deleted(event: Message, ts: object, me: Identity) -> Deleted | None:
    return Deleted(Key(me.team_id, event["channel"], ts)) if isinstance(ts, str) else None
