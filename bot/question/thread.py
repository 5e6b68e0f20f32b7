"""Slack thread -> Conversation: the thread is the memory, so each turn is rebuilt from Slack.

All pages are read; the root and the newest messages are kept within a budget of characters. Own
answers are told apart by own ids, joined when they were posted in parts, and carry the chunks
they cited, read back from the message metadata (or, where there is none, from the bracketed ids).
"""

import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from slack_sdk import WebClient

from agent.conversation import CitedChunk, Conversation, Turn
from bot.question.event import Question
from bot.reading.block_text import items, string
from bot.reading.mentions import files_of, without_own_mention
from bot.reading.message import message_text
from bot.reading.mrkdwn import Names
from bot.slack.identity import Identity, Message, metadata_of

EVENT_TYPE = "footnote_answer"
"""Type of the metadata that an own reply carries."""

MAX_PAGES = 50
MAX_MESSAGES = 1_000
MAX_CHARS = 40_000
MAX_OWN_CHARS = 20_000
MAX_QUESTION_CHARS = 12_000

_HOP = 8
_WHOLE = 1_000_000
_ID = re.compile(r"\[([^\[\]\s]+-\d+)\]")
_CONTROLS = ("actions", "context_actions", "context", "divider")


def read_thread(client: WebClient, channel: str, thread_ts: str) -> list[Message]:
    """The root and the newest replies, oldest first, over all pages."""
    root: Message | None = None
    newest: deque[Message] = deque(maxlen=MAX_MESSAGES)
    cursor: str | None = None
    for _page in range(MAX_PAGES):
        answer = client.conversations_replies(
            channel=channel, ts=thread_ts, limit=200, cursor=cursor, include_all_metadata=True
        )
        for message in answer.get("messages") or ():
            if root is None:
                root = message
            elif message.get("ts") != root.get("ts"):  # some pages repeat the root
                newest.append(message)
        following = (answer.get("response_metadata") or {}).get("next_cursor")
        if not following or following == cursor:
            break
        cursor = following
    return [root, *newest] if root is not None else []


def build_conversation(
    question: Question, thread: Sequence[Message], me: Identity, names: Names
) -> Conversation:
    """The turns before the question, and the question last."""
    asker = names(question.user or "") or "somebody"
    turns = [*_earlier(question, thread, me, names)]
    attached = message_text({"attachments": question.message.get("attachments")}, names)
    if attached:
        turns.append(Turn("person", asker, attached))
    if question.files:
        files = ", ".join(question.files)
        turns.append(Turn("person", asker, f"[attached files, which you cannot read: {files}]"))
    turns.append(Turn("person", asker, question_text(question, me, names)))
    return Conversation(tuple(turns), question.user or "")


def question_text(question: Question, me: Identity, names: Names) -> str:
    """The asker's words: own mention gone, tokens read, entities decoded."""
    said = {"text": question.text, "blocks": question.message.get("blocks")}
    text = message_text(without_own_mention(said, me.user_id), names, limit=_WHOLE)
    return _shorten(text.strip(), MAX_QUESTION_CHARS)


def notes(question: Question, thread: Sequence[Message] = ()) -> list[str]:
    """What of the question, and of a thread that it is all about, was not read: for the asker."""
    said = []
    seen = [m for m in thread if m.get("ts") != question.ts]
    files = [*question.files, *(name for message in seen for name in files_of(message))]
    if files:
        names = ", ".join(f"`{name.replace('`', '')[:80]}`" for name in files[:3])
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        said.append(f"Attachments (images, files) are not read: {names}{more}.")
    if len(question.text) > MAX_QUESTION_CHARS:
        said.append("Your message was too long to read whole: its middle was left out.")
    return said


def replies_of(
    question_ts: str, thread: Sequence[Message], me: Identity, *, but: str | None = None
) -> list[Message]:
    """Own messages in the thread that answer this question, known by their metadata.

    ``but``: id of an answer that does not count.
    """
    answers = ((m, _payload(m)) for m in thread if me.wrote(m))
    return [
        m
        for m, payload in answers
        if payload.get("question") == question_ts and not (but and payload.get("answer") == but)
    ]


def is_whole(own: Sequence[Message]) -> bool:
    """Whether the newest of these answers to a question stands there with all its parts."""
    if not own:
        return False
    newest, parts = _payload(own[-1]), set[str]()
    for payload in map(_payload, own):
        if payload.get("answer") == newest.get("answer"):
            parts.add(str(payload.get("part")))
    wanted = newest.get("parts")
    return len(parts) >= (wanted if isinstance(wanted, int) else 1)


def unmarked(message: Message, me: Identity) -> bool:
    """An own message that says of no question that it answers it: half an answer."""
    return me.spoke(message) and not _payload(message)


def runbook_of(question_ts: str, thread: Sequence[Message], me: Identity) -> str | None:
    """The ts of the runbook that was posted for this question before a crash."""
    for message in thread:
        if me.wrote(message) and _payload(message).get("runbook") == question_ts:
            return str(message["ts"])
    return None


def alert_text(question: Question, thread: Sequence[Message], me: Identity) -> str:
    """The alert that a question is asked under for the first time; empty where there is none."""
    answered = (m for m in thread if me.wrote(m) and _payload(m).get("question"))
    if any(str(m["ts"]) < question.ts for m in answered):
        return ""
    root = thread[0] if thread and question.in_thread else question.message
    if me.wrote(root) or not (
        root.get("bot_id")
        or root.get("bot_profile")
        or root.get("attachments")
        or root.get("user") == "USLACKBOT"  # who posts e-mails
    ):
        return ""
    return message_text(root)


def _earlier(
    question: Question, thread: Sequence[Message], me: Identity, names: Names
) -> Iterator[Turn]:
    before = [m for m in thread if question.follows(m)]
    turns = _join_parts([(m, _turn(m, me, names)) for m in before])
    yield from _within_budget(turns)


def _turn(message: Message, me: Identity, names: Names) -> Turn | None:
    if message.get("subtype") == "tombstone":
        return None
    if me.wrote(message):
        # A notice shows page text: as a turn, the model would take it for its own words.
        return _own_turn(message, names) if me.spoke(message) else None
    text = message_text(without_own_mention(message, me.user_id), names).strip()
    if not text:
        return None
    known = names(string(message.get("user")))
    profile = message.get("bot_profile")
    if not (message.get("bot_id") or profile):
        return Turn("person", known or "somebody", text)
    called = string(profile.get("name")) if isinstance(profile, dict) else ""
    return Turn("other_bot", string(message.get("username")) or called or known or "a bot", text)


def _own_turn(message: Message, names: Names) -> Turn | None:
    """An own answer without the controls and the sources list under it.

    ``text`` may be a shortened copy of the blocks, and Slack hands markdown blocks back as rich
    text.
    """
    blocks = [
        block
        for block in items(message.get("blocks"))
        if isinstance(block, dict) and block.get("type") not in _CONTROLS
    ]
    shown = {"blocks": blocks} if blocks else {"text": message.get("text")}
    text = message_text(shown, names, limit=MAX_OWN_CHARS, addresses=False)
    if not text:
        return None
    listed = items(_payload(message).get("cited"))
    cited = tuple(
        CitedChunk(str(c["id"]), string(c.get("hash")) or None)
        for c in listed
        if isinstance(c, dict) and "id" in c
    )
    cited = cited or tuple(CitedChunk(found) for found in dict.fromkeys(_ID.findall(text)))
    return Turn("footnote", "footnote", text, cited)


def _join_parts(turns: Sequence[tuple[Message, Turn | None]]) -> list[Turn]:
    """One turn an answer: parts share the answer's id, or follow each other directly."""
    joined: list[Turn] = []
    last_id: str | None = None
    own_before = False
    for message, turn in turns:
        if turn is None:
            continue
        answer_id = _payload(message).get("answer")
        same = own_before and turn.speaker == "footnote" and answer_id == last_id
        if same:
            before = joined[-1]
            cited = tuple(dict.fromkeys((*before.cited, *turn.cited)))
            joined[-1] = replace(before, text=f"{before.text}\n\n{turn.text}", cited=cited)
        else:
            joined.append(turn)
        own_before, last_id = turn.speaker == "footnote", answer_id
    return joined


def _within_budget(turns: Sequence[Turn]) -> list[Turn]:
    """The first turn and as many of the newest as fit, with a word where some were left out."""
    if sum(len(turn.text) for turn in turns) <= MAX_CHARS:
        return list(turns)
    first, rest = turns[0], turns[1:]
    left = MAX_CHARS - len(first.text)
    kept = 0
    for turn in reversed(rest):
        left -= len(turn.text)
        if left < 0:
            break
        kept += 1
    # Dropped so many at a time, so that the beginning changes rarely and can be cached.
    gone = math.ceil((len(rest) - kept) / _HOP) * _HOP
    first = replace(first, text=f"{first.text}\n[{gone} messages of the thread left out]")
    return [first, *rest[gone:]]


def _shorten(text: str, limit: int) -> str:
    """The head and the tail of a text that is too long, and how much is missing between."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    gone = len(text) - limit
    return f"{text[: limit - tail]}\n[… {gone} characters left out …]\n{text[-tail:]}"


def _payload(message: Message) -> dict[str, Any]:
    kind, payload = metadata_of(message)
    return payload if kind == EVENT_TYPE else {}
