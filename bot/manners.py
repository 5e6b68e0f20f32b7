"""When Footnote speaks and when it stays silent. Pure: a question and its thread -> Decision.

A mention and a direct message are always answered. A reply without a mention is answered only
where it is plainly meant for Footnote, by these rules, in this order:

1.  Footnote has answered in the thread, or is about to: a notice of its own is not speaking.
2.  Nobody told it to stop since it was last mentioned.
3.  The message has words, and is more than a thank-you.
4.  It addresses nobody else, by mention or by name.
5.  Since Footnote last spoke, nobody else has: otherwise people are talking to each other.
6.  It comes from somebody who mentioned Footnote in this thread; or it is a question, in a
    thread that a mention or an alert began.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.events import Identity, Message, Question, mentioned, mentions, without_mention

Action = Literal["answer", "help", "stop", "ignore"]

_STOP = re.compile(
    r"(please |ok |okay |thanks |thank you )*"
    r"(stop|stop it|stop (answering|replying|talking)|be quiet|quiet|silence|hush|shut up|mute|"
    r"go away)"
    r"( please| now| thanks| thank you| footnote)*"
)
_THANKS = re.compile(
    r"((thanks|thank you|thx|ty|ta|cheers|ok|okay|k|kk|cool|great|perfect|awesome|nice|super|good|"
    r"got it|understood|makes sense|will do|done|works|worked|that worked|that works|it works|"
    r"that helped|lgtm|ack|noted|yes|yep|yeah|no|nope|sure|right|exactly|never mind|nvm|"
    r"a lot|so much|very much|all|again|for that|for the help|all good|\+1) ?)+"
)
_QUESTION = re.compile(
    r"(and|but|so|ok|okay|also|then|hm+|well|or)?,? ?"
    r"(what|whats|how|hows|why|where|wheres|when|which|who|whom|whose|is|are|was|were|can|could|"
    r"do|does|did|should|shall|will|would|has|have|may|any|what's|how's|where's|isn't|doesn't)\b"
)
_CALL = re.compile(
    r"(?:(?:hey|hi|hello|ok|thanks),? )?(?:@([\w.-]+)|([\w.-]+) ?[,:–])", re.IGNORECASE
)
_MARK = re.compile(r"[?？؟]")
_NOT_WORDS = re.compile(r"```.*?```|`[^`]*`|https?://\S+|<[^>]*>", re.DOTALL)


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
    words = without_mention(question.text, me.user_id)
    earlier = [m for m in thread if str(m.get("ts", "")) < question.ts]
    if question.is_mention or question.is_direct:
        if is_stop(words):
            return Decision("stop", "told to stop")
        has_words = bool(words or question.message.get("attachments"))
        if has_words or _has_content(earlier, me):
            return Decision("answer")
        return Decision("help", "a bare mention")
    if not (answering or any(me.spoke(m) for m in earlier)):
        return Decision("ignore", NOT_PART)
    if _was_stopped(earlier, me):
        return Decision("ignore", "told to stop earlier")
    if is_stop(words):
        return Decision("stop", "told to stop")
    plain = _plain(words)
    if not plain or _THANKS.fullmatch(plain):
        return Decision("ignore", "nothing asked")
    return _between_people(question, words, earlier, me, name_of)


def _between_people(
    question: Question,
    words: str,
    earlier: Sequence[Message],
    me: Identity,
    name_of: Callable[[str], str | None],
) -> Decision:
    speakers = {str(m["user"]) for m in earlier if _is_person(m, me)} - {str(question.user)}
    if mentioned(question.message) or "<!" in question.text or _names(words, speakers, name_of):
        return Decision("ignore", "addressed to somebody else")
    last_own = max((i for i, m in enumerate(earlier) if me.spoke(m)), default=len(earlier))
    if any(_is_person(m, me) and m["user"] != question.user for m in earlier[last_own + 1 :]):
        return Decision("ignore", "people are talking to each other")
    askers = {m["user"] for m in earlier if _is_person(m, me) and mentions(m, me.user_id)}
    if question.user in askers:
        return Decision("answer")
    root = earlier[0] if earlier else {}
    own_thread = not _is_person(root, me) or mentions(root, me.user_id)
    if own_thread and is_question(words):
        return Decision("answer")
    return Decision("ignore", "not one of the askers")


def is_stop(words: str) -> bool:
    return bool(_STOP.fullmatch(_plain(words)))


def is_question(words: str) -> bool:
    """True for a question mark outside code and addresses, or an opening that asks."""
    prose = _NOT_WORDS.sub(" ", words).strip()
    return bool(_MARK.search(prose) or _QUESTION.match(prose.lower()))


def _plain(words: str) -> str:
    """Lower case, no punctuation, no emoji: the form in which fixed phrases are compared."""
    words = re.sub(r":[a-z0-9_+-]+:", " ", words.lower())
    return " ".join(re.sub(r"[^\w\s'+]", " ", words).split())


def _was_stopped(earlier: Sequence[Message], me: Identity) -> bool:
    for message in reversed(earlier):
        if not _is_person(message, me):
            continue
        if is_stop(without_mention(str(message.get("text") or ""), me.user_id)):
            return True
        if mentions(message, me.user_id):
            return False
    return False


def _has_content(earlier: Sequence[Message], me: Identity) -> bool:
    """Something in the thread that a bare mention can mean."""
    return any(
        m.get("subtype") != "tombstone"
        and not me.wrote(m)
        and (
            without_mention(str(m.get("text") or ""), me.user_id)
            or m.get("attachments")
            or (m.get("blocks") and not mentions(m, me.user_id))
        )
        for m in earlier
    )


def _names(words: str, speakers: Collection[str], name_of: Callable[[str], str | None]) -> bool:
    """``kim, can you check?``, ``@kim check``: opens with the name of somebody in the thread."""
    opening = _CALL.match(words)
    known = {part for user in speakers for part in (name_of(user) or "").lower().split()}
    return opening is not None and (opening[1] or opening[2]).lower() in known


def _is_person(message: Message, me: Identity) -> bool:
    return (
        isinstance(message.get("user"), str)
        and not message.get("bot_id")
        and not message.get("bot_profile")
        and message.get("user") != "USLACKBOT"
        and message.get("subtype") in (None, "", "file_share", "thread_broadcast")
        and not me.wrote(message)
    )
