"""Event body -> Question, edit or deletion. Pure.

Nothing here decides whether to answer. Events that can never be a question are left out: messages
of other bots, housekeeping, edits that change no words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from bot.question.thread_message import ThreadMessage, read_thread_message
from bot.reading.block_text import SlackJson, string
from bot.slack.identity import Identity

Origin = Literal["message", "shortcut", "command"]
"""A question is a message, or a shortcut used on one, or a command that nobody else sees."""

_DIRECT = ("im", "app_home")
_TYPE_BY_PREFIX = {"D": "im", "G": "group", "C": "channel"}


@dataclass(frozen=True, slots=True)
class Key:
    """Identifies a message: a ``ts`` is unique within one channel only."""

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
    """Timestamp of the thread that the reply goes to: its root, or the message itself."""
    user: str | None
    text: str
    """As Slack sent it, with tokens such as ``<@U1>`` and entities."""
    channel_type: str
    is_mention: bool
    edited: bool = False
    """True if the message was edited, so that it may have been answered before."""
    retried: bool = False
    is_twin: bool = False
    """True for the ``message`` event of a mention: Slack sends an ``app_mention`` of it as well."""
    is_shared: bool | None = None
    """True if the channel is shared with other organisations. None if the event does not say."""
    user_team: str | None = None
    gesture: str | None = None
    """The client's own id of the message: one gesture may arrive under two ``ts``."""
    words: str = ""
    """The text without Footnote's own mention."""
    message: ThreadMessage | None = field(default=None, repr=False, compare=False)
    """The message itself. None for a command and a shortcut."""
    origin: Origin = "message"
    about: str | None = None
    """Timestamp of the message that a shortcut was used on."""
    payer: str | None = None
    """Id of the person who edited the question or asked again. None: whoever wrote it."""
    response_url: str = field(default="", repr=False, compare=False)
    """Address for words to the asker of a command: a credential for half an hour."""

    @property
    def key(self) -> Key:
        return Key(self.team, self.channel, self.ts)

    @property
    def in_thread(self) -> bool:
        return self.thread_ts != self.ts

    def follows(self, message: ThreadMessage) -> bool:
        """Return True if a message of the thread comes before the question."""
        return message.ts <= self.about if self.about else message.ts < self.ts

    @property
    def is_direct(self) -> bool:
        return self.channel_type in _DIRECT

    @property
    def is_called(self) -> bool:
        """True if the question mentions Footnote or is direct, so that it always gets a reply."""
        return self.is_mention or self.is_direct

    @property
    def may_be_elsewhere(self) -> bool:
        """True if another process may have an event of the same message."""
        return self.is_twin or self.retried

    @property
    def is_command(self) -> bool:
        """True if only the asker sees the question, so that no message contains it."""
        return self.origin == "command"

    @property
    def files(self) -> tuple[str, ...]:
        """Names of attached files."""
        return self.message.files if self.message else ()

    @property
    def payload(self) -> SlackJson:
        """The message as Slack sent it, to be turned into text."""
        return self.message.payload if self.message else {}


@dataclass(frozen=True, slots=True)
class Deleted:
    """A deleted message."""

    key: Key


@dataclass(frozen=True, slots=True)
class Edited:
    """An edited question; the edited text need not be a question any more.

    The question may be answered already, or its answer may be under way.
    """

    question: Question


Event = Question | Edited | Deleted


def read_event(body: SlackJson, me: Identity, *, retried: bool = False) -> Event | None:
    """Read the body of an event. Return None if there is nothing to do."""
    event = body.get("event")
    if not isinstance(event, Mapping) or not isinstance(event.get("channel"), str):
        return None
    shared = body.get("is_ext_shared_channel")
    is_shared = shared if isinstance(shared, bool) else None
    if event.get("type") == "message":
        read = _message(event, me, is_shared, retried)
        if isinstance(read, Question) and read.is_mention and not read.is_direct:
            return replace(read, is_twin=True)
        return read
    if event.get("type") == "app_mention":
        return _posted(event, me, is_shared, retried)
    return None


def read_question(
    message: ThreadMessage,
    me: Identity,
    *,
    channel: str,
    channel_type: str | None = None,
    is_mention: bool = False,
    was_mention: bool = False,
    is_shared: bool | None = None,
    retried: bool = False,
) -> Question | None:
    """Return a person's message as a question if it mentions Footnote, is direct or is a reply.

    ``was_mention``: the message mentioned Footnote before it was edited; it stays a question.
    """
    payload = message.payload
    if not message.ts or not message.is_person or payload.get("hidden"):
        return None
    teams = (string(payload.get(name)) for name in ("user_team", "source_team", "team"))
    question = Question(
        team=me.team_id,
        channel=channel,
        ts=message.ts,
        thread_ts=string(payload.get("thread_ts")) or message.ts,
        user=message.user,
        text=string(payload.get("text")),
        channel_type=string(channel_type) or _TYPE_BY_PREFIX.get(channel[:1], "channel"),
        is_mention=is_mention or message.mentions_me,
        edited="edited" in payload,
        retried=retried,
        is_shared=is_shared,
        user_team=next(filter(None, teams), None),
        gesture=string(payload.get("client_msg_id")) or None,
        words=message.words,
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
    response_url: str = "",
) -> Question:
    """Return the question of a command, or of a shortcut used on the message ``about``."""
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
        response_url=response_url,
    )


def _message(event: SlackJson, me: Identity, is_shared: bool | None, retried: bool) -> Event | None:
    match event.get("subtype"):
        case "message_deleted":
            return _deleted(event, event.get("deleted_ts"), me)
        case "message_changed":
            return _changed(event, me, is_shared)
        case _:
            return _posted(event, me, is_shared, retried)


def _posted(
    event: SlackJson, me: Identity, is_shared: bool | None, retried: bool
) -> Question | None:
    return read_question(
        read_thread_message(event, me),
        me,
        channel=event["channel"],
        channel_type=event.get("channel_type"),
        is_mention=event["type"] == "app_mention",
        is_shared=is_shared,
        retried=retried,
    )


def _changed(event: SlackJson, me: Identity, is_shared: bool | None) -> Event | None:
    """Read an edit.

    An edited message is a new question only the first time that it mentions Footnote.

    Removing the mention still counts as an edit of the original question. Slack also sends
    ``message_changed`` for link previews, thread counters and detected languages.
    """
    changed, previous = event.get("message"), event.get("previous_message")
    if not isinstance(changed, Mapping):
        return None
    if changed.get("subtype") == "tombstone":
        return _deleted(event, changed.get("ts"), me)
    previous = previous if isinstance(previous, Mapping) else {}
    was_mention = read_thread_message(previous, me).mentions_me
    question = read_question(
        read_thread_message({**changed, "edited": changed.get("edited", {})}, me),
        me,
        channel=event["channel"],
        channel_type=event.get("channel_type"),
        was_mention=was_mention,
        is_shared=is_shared,
    )
    if question is None:
        return None
    edited = changed.get("edited")
    editor = string(edited.get("user")) if isinstance(edited, Mapping) else ""
    question = replace(question, payer=editor or None)
    if question.is_mention and not was_mention:
        return question
    is_reworded = "edited" in changed and changed.get("text") != previous.get("text")
    return Edited(question) if is_reworded else None


def _deleted(event: SlackJson, ts: object, me: Identity) -> Deleted | None:
    return Deleted(Key(me.team_id, event["channel"], ts)) if isinstance(ts, str) else None
