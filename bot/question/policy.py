"""When Footnote speaks and when it stays silent. Pure: a question and its thread -> Decision.

A mention and a direct message are always answered. A reply without a mention is answered only
where it is plainly meant for Footnote, by these rules, in this order:

1.  Footnote has answered in the thread, or is about to: a notice of its own is not speaking.
2.  Nobody told it to stop since it was last mentioned.
3.  It addresses nobody else, by mention or by name.
4.  It asks: a question, a request, or a problem. Where nobody but its writer and Footnote takes
    part in a thread that began with a mention, it is enough that it is no mere remark: thanks,
    chit-chat and what somebody is doing are for people.
5.  Since Footnote last spoke or was mentioned, nobody else has spoken: otherwise people are talking
    to each other. Of an edited message that holds up to now.
6.  It comes from somebody whom Footnote has answered, or who mentioned it, in this thread; or it
    is a question, in a thread that a mention or an alert began.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.question.addressee import calls_another, calls_one_of
from bot.question.event import SPOKEN, Question
from bot.question.intent import asks, is_question, is_stop
from bot.question.remarks import is_remark
from bot.reading.mentions import mentioned, mentions, words_of
from bot.slack.identity import Identity, Message, metadata_of

Action = Literal["answer", "help", "stop", "ignore"]

NOT_PART = "not part of the thread"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a message, and why, in words for the journal."""

    action: Action
    reason: str = ""


def decide(
    question: Question,
    thread: Sequence[Message],
    me: Identity,
    *,
    answering: bool = False,
    name_of: Callable[[str], str | None] = lambda _user: None,
) -> Decision:
    """Whether to answer; ``answering`` tells that an answer in this thread is under way."""
    words = question.words
    earlier = [m for m in thread if question.follows(m)]
    if question.is_called:
        if is_stop(words):
            return Decision("stop", "told to stop")
        has_words = bool(words or question.message.get("attachments"))
        if has_words or _has_content(earlier, me):
            return Decision("answer")
        return Decision("help", "a bare mention")
    if not (answering or any(me.spoke(m) for m in earlier)):
        return Decision("ignore", NOT_PART)
    said = [m for m in thread if m.get("ts") != question.ts] if question.edited else earlier
    if _was_stopped(said, me):
        return Decision("ignore", "told to stop earlier")
    if is_stop(words):
        return Decision("stop", "told to stop")
    return _between_people(question, said, me, name_of)


def _between_people(
    question: Question,
    said: Sequence[Message],
    me: Identity,
    name_of: Callable[[str], str | None],
) -> Decision:
    root = said[0] if said else {}
    others = {str(m["user"]) for m in said if _is_person(m, me)} - {str(question.user)}
    alone = mentions(root, me.user_id) and not others
    words = question.words
    if mentioned(question.message):
        return Decision("ignore", "addressed to somebody else")
    if not (asks(words) or (alone and not is_remark(words))):
        return Decision("ignore", "nothing asked")
    called = calls_one_of(words, [name_of(user) or "" for user in others])
    if called or calls_another(words, ["footnote", name_of(me.user_id) or ""]):
        return Decision("ignore", "addressed to somebody else")
    ours = (i for i, m in enumerate(said) if me.spoke(m) or mentions(m, me.user_id))
    after = said[max(ours, default=-1) + 1 :]
    if any(str(m.get("user")) in others and _is_person(m, me) for m in after):
        return Decision("ignore", "people are talking to each other")
    if question.user in _askers(said, me):
        return Decision("answer")
    own_thread = not _is_person(root, me) or mentions(root, me.user_id)
    if own_thread and is_question(words):
        return Decision("answer")
    return Decision("ignore", "not one of the askers")


def _askers(earlier: Sequence[Message], me: Identity) -> set[object]:
    """Who mentioned Footnote, and whom it answered: a shortcut leaves no mention."""
    mentioners = {m["user"] for m in earlier if _is_person(m, me) and mentions(m, me.user_id)}
    return mentioners | {metadata_of(m)[1].get("asker") for m in earlier if me.spoke(m)}


def _was_stopped(earlier: Sequence[Message], me: Identity) -> bool:
    for message in reversed(earlier):
        if not _is_person(message, me):
            continue
        if is_stop(words_of(message, me.user_id)):
            return True
        if mentions(message, me.user_id):
            return False
    return False


def _has_content(earlier: Sequence[Message], me: Identity) -> bool:
    """Something in the thread that a bare mention can mean."""
    return any(
        m.get("subtype") != "tombstone"
        and not me.wrote(m)
        and (words_of(m, me.user_id) or m.get("attachments"))
        for m in earlier
    )


def _is_person(message: Message, me: Identity) -> bool:
    return (
        isinstance(message.get("user"), str)
        and not message.get("bot_id")
        and not message.get("bot_profile")
        and message.get("user") != "USLACKBOT"
        and message.get("subtype") in SPOKEN
        and not me.wrote(message)
    )
