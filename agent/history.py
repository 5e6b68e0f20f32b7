"""Conversation -> API messages: the thread is the memory.

Earlier turns are plain text, one message a turn, rendered from the turn alone. So the messages
before the newest question are the beginning of the next turn's messages, byte for byte, and can
be cached. What changes (the day, passages) comes after the question, in its message only.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from agent.conversation import CitedChunk, Conversation, Turn
from agent.model.profiles import Profile
from agent.passages import Block, passage_blocks
from ingest.documents import DEFAULT_BUDGET, Passage
from ingest.index import Index

Message = dict[str, Any]

_CHARACTERS_A_TOKEN = 3
_TURN_SHARE = 4
"""One turn may take this fraction of the budget; a pasted log must not crowd out the thread."""
_HOP = 8
"""Turns are dropped so many at a time: the beginning changes rarely, and the cache holds."""
_QUERY_HISTORY = 600
_QUERY = 1_200
_BRACKETED = re.compile(r"\[([^\[\]\s`]+-\d+)\](?!:)")
_ELEMENT = re.compile(r"<(?=/?\s*message\b)", re.IGNORECASE)


def history(conversation: Conversation, tokens: int) -> list[Message]:
    """The turns before the question: the root and the newest that fit."""
    turns = [turn for turn in conversation.earlier if turn.text.strip() or turn.speaker == "person"]
    limit = tokens * _CHARACTERS_A_TOKEN
    messages = [_message(turn, limit // _TURN_SHARE) for turn in turns]
    dropped = _dropped([len(m["content"][0]["text"]) for m in messages], limit)
    if dropped:
        note = f"({dropped} messages of the thread are left out here.)"
        messages[1 : 1 + dropped] = [{"role": "user", "content": [_text(note)]}]
    if messages and messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [_text("(The thread begins here.)")]})
    return messages


def question(
    conversation: Conversation,
    profile: Profile,
    tokens: int,
    recalled: Sequence[Passage] = (),
    found: Sequence[Passage] = (),
) -> Message:
    """The newest turn's message: the turn itself, then everything that is true only now."""
    limit = tokens * _CHARACTERS_A_TOKEN // _TURN_SHARE
    asked = _text(_spoken(conversation.turns[-1], limit))
    if profile.cache:
        asked["cache_control"] = {"type": "ephemeral", "ttl": "1h"}
    content = [asked]
    for passages, what in (
        (recalled, "Passages cited earlier in this thread, as the docs have them now:"),
        (found, "Passages found with the question as the query:"),
    ):
        if passages:
            native = profile.native_citations
            content += [_text(what), *passage_blocks(passages, {}, native=native)]
    today = datetime.now(UTC).strftime("%A, %d %B %Y")
    content.append(_text(f"Today is {today} (UTC). The message to answer is the one above."))
    if conversation.wishes:
        content.append(_text(f"How to answer in this channel: {conversation.wishes}"))
    return {"role": "user", "content": content}


def query_of(conversation: Conversation) -> str:
    """A query without a model's help: what people wrote in the thread, then the question."""
    said = " ".join(t.text for t in conversation.earlier if t.speaker != "footnote")
    # The end of the thread is nearest to the question; the question itself always goes along.
    return f"{said[-_QUERY_HISTORY:]} {conversation.question[:_QUERY]}".strip()


def said_by_people(conversation: Conversation) -> str:
    """What the thread's other messages say: a name taken from there is not made up."""
    return "\n".join(t.text for t in conversation.earlier if t.speaker != "footnote")


def recalled(conversation: Conversation, index: Index) -> list[Passage]:
    """As many of the chunks that earlier answers cited as there is room for, newest first."""
    passages = []
    size = 0
    for passage in cited_before(conversation, index):
        size += len(passage.text)
        if size > DEFAULT_BUDGET:
            break
        passages.append(passage)
    return passages


def cited_before(conversation: Conversation, index: Index) -> list[Passage]:
    """Chunks that earlier answers cited, newest first, where their text is still the same."""
    cited: dict[str, str | None] = {}
    for turn in reversed(conversation.earlier):
        for chunk in turn.cited or _bracketed(turn):
            cited.setdefault(chunk.id, chunk.hash)
    found = index.passages(list(cited)) if cited else []
    return [passage for passage in found if cited[passage.id] in (None, passage.hash)]


def _bracketed(turn: Turn) -> tuple[CitedChunk, ...]:
    if turn.speaker != "footnote":
        return ()
    return tuple(CitedChunk(i) for i in dict.fromkeys(_BRACKETED.findall(turn.text)))


def _dropped(sizes: Sequence[int], limit: int) -> int:
    """How many messages after the root go, so that the rest fits."""
    kept = sum(sizes)
    for dropped in range(0, len(sizes), _HOP):
        if kept <= limit:
            return dropped
        kept -= sum(sizes[1 + dropped : 1 + dropped + _HOP])
    return max(0, len(sizes) - 2)


def _message(turn: Turn, limit: int) -> Message:
    if turn.speaker == "footnote":
        return {"role": "assistant", "content": [_text(_cut(turn.text.strip(), limit))]}
    return {"role": "user", "content": [_text(_spoken(turn, limit))]}


def _spoken(turn: Turn, limit: int) -> str:
    """Somebody's words as data: they cannot leave their element."""
    name = re.sub(r'[<>"\s]+', " ", turn.name).strip()[:80]
    kind = ' kind="bot"' if turn.speaker == "other_bot" else ""
    words = _ELEMENT.sub("&lt;", _cut(turn.text.strip(), limit))
    words = words or "(no words: this asks for help with what stands above in the thread)"
    return f'<message from="{name}"{kind}>\n{words}\n</message>'


def _cut(text: str, limit: int) -> str:
    """The beginning and the end of a text that is too long."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[… {len(text) - head - tail:,} characters left out …]\n{text[-tail:]}"


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
