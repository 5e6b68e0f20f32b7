"""The rules for answering and for silence. Pure: question, thread -> Decision.

A mention and a direct message are always answered. A reply without a mention is answered only
if it is plainly meant for Footnote, by these rules, in this order:

1.  Footnote has answered in the thread, or is about to. A notice does not count as an answer.
2.  Nobody has told Footnote to stop since it was last mentioned.
3.  The reply addresses nobody else, by mention or by name.
4.  It contains a question, a request, or a problem. If only its writer and Footnote take part in a
    thread that began with a mention, every reply counts except a remark: thanks, chit-chat and
    progress are for people.
5.  Since Footnote last spoke or was mentioned, nobody else has spoken: otherwise people are talking
    to each other. For an edited message, everything up to now counts.
6.  Its writer mentioned Footnote in this thread, or was answered there. Or the reply is a
    question, and the thread began with a mention or an alert.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.question.addressee import calls_another, calls_one_of
from bot.question.event import Question
from bot.question.intent import asks, is_question, is_stop
from bot.question.remarks import is_remark
from bot.question.thread_message import ThreadMessage
from bot.slack.identity import Identity

Action = Literal["answer", "help", "stop", "ignore", "refuse"]

NOT_PART = "not part of the thread"
_ADDRESSED = "addressed to somebody else"


@dataclass(frozen=True, slots=True)
class Decision:
    """The action for a message. ``reason`` goes into the journal, or to an asker who is refused."""

    action: Action
    reason: str = ""


def decide(
    question: Question,
    thread: Sequence[ThreadMessage],
    me: Identity,
    *,
    is_answering: bool = False,
    name_of: Callable[[str], str | None] = lambda _user: None,
) -> Decision:
    """Decide whether to answer.

    ``is_answering``: an answer to an earlier message of this thread is under way. ``name_of`` gives
    the name of a user id.
    """
    earlier = [message for message in thread if question.follows(message)]
    if question.is_called:
        return _when_called(question, earlier)
    if not (is_answering or any(m.writer == "footnote" for m in earlier)):
        return Decision("ignore", NOT_PART)
    others = earlier
    if question.edited:
        others = [message for message in thread if message.ts != question.ts]
    if _was_stopped(others):
        return Decision("ignore", "told to stop earlier")
    if is_stop(question.words):
        return Decision("stop", "told to stop")
    return _between_people(question, others, me, name_of)


def _when_called(question: Question, earlier: Sequence[ThreadMessage]) -> Decision:
    if is_stop(question.words):
        return Decision("stop", "told to stop")
    has_attachments = question.message is not None and question.message.has_attachments
    if question.words or has_attachments or _has_content(earlier):
        return Decision("answer")
    return Decision("help", "a bare mention")


def _between_people(
    question: Question,
    thread: Sequence[ThreadMessage],
    me: Identity,
    name_of: Callable[[str], str | None],
) -> Decision:
    root = thread[0] if thread else None
    starts_with_mention = root is not None and root.mentions_me
    people = {message.user for message in thread if message.is_person} - {question.user}
    if question.message and question.message.addresses:
        return Decision("ignore", _ADDRESSED)
    is_alone_with_me = starts_with_mention and not people
    if not (asks(question.words) or (is_alone_with_me and not is_remark(question.words))):
        return Decision("ignore", "nothing asked")
    calls_somebody = calls_one_of(question.words, [name_of(user) or "" for user in people])
    if calls_somebody or calls_another(question.words, ["footnote", name_of(me.user_id) or ""]):
        return Decision("ignore", _ADDRESSED)
    if any(message.is_person and message.user in people for message in _since_last_turn(thread)):
        return Decision("ignore", "people are talking to each other")
    if question.user in _askers(thread):
        return Decision("answer")
    is_automatic = root is None or not root.is_person
    if (is_automatic or starts_with_mention) and is_question(question.words):
        return Decision("answer")
    return Decision("ignore", "not one of the askers")


def _since_last_turn(thread: Sequence[ThreadMessage]) -> Sequence[ThreadMessage]:
    """Messages after the last one by Footnote or with its mention."""
    turns = (n for n, m in enumerate(thread) if m.writer == "footnote" or m.mentions_me)
    return thread[max(turns, default=-1) + 1 :]


def _askers(thread: Sequence[ThreadMessage]) -> set[str]:
    """People who mentioned Footnote, or whom it answered after a shortcut."""
    mentioners = {m.user for m in thread if m.is_person and m.mentions_me}
    return mentioners | {m.metadata.asker for m in thread if m.metadata}


def _was_stopped(thread: Sequence[ThreadMessage]) -> bool:
    for message in reversed(thread):
        if message.is_person and is_stop(message.words):
            return True
        if message.is_person and message.mentions_me:
            return False
    return False


def _has_content(earlier: Sequence[ThreadMessage]) -> bool:
    """Return True if the thread holds something that a bare mention can mean."""
    return any(
        not message.is_deleted and not message.is_own and (message.words or message.has_attachments)
        for message in earlier
    )
