"""Conversation -> API messages: the thread is the memory.

Each earlier turn is one message of plain text, written from the turn alone. So the messages before
the newest question are, byte for byte, the beginning of the next request, and can be cached.
Everything that changes (the day, the passages) follows the question in its own message.

This is the only place that cuts a thread to size.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agent.conversation import CitedChunk, Conversation, Turn
from agent.grounding import named_ids
from agent.model.profiles import Profile
from agent.passages import BlockParam, passage_blocks
from ingest.documents import DEFAULT_BUDGET, Passage
from ingest.index import Index
from ingest.shorten import shorten_middle

MessageParam = dict[str, Any]
"""A message of a request."""

_CHARACTERS_A_TOKEN = 3
_TURN_SHARE = 4
"""One turn gets at most the budget divided by this: a pasted log must not crowd out the thread."""
_STEP_SHARE = 3
"""The oldest turns are left out in steps of the budget divided by this. So the messages after the
root change only now and then, and the cache stays valid in between."""
_QUERY_HISTORY = 600
_QUERY = 1_200
_ELEMENT = re.compile(r"<(?=/?\s*message\b)", re.IGNORECASE)


def fitted(conversation: Conversation, tokens: int) -> Conversation:
    """The conversation with the root and the newest turns that fit into ``tokens``.

    A turn that is too long keeps its beginning and its end. The question stays whole.
    """
    limit = tokens * _CHARACTERS_A_TOKEN
    turns = [
        replace(turn, text=shorten_middle(turn.text.strip(), limit // _TURN_SHARE))
        for turn in conversation.earlier
    ]
    omitted = _omitted([len(_message(turn)["content"][0]["text"]) for turn in turns], limit)
    del turns[1 : 1 + omitted]
    return replace(
        conversation,
        turns=(*turns, *conversation.turns[-1:]),
        omitted=conversation.omitted + omitted,
    )


def history(conversation: Conversation) -> list[MessageParam]:
    """The turns before the question."""
    turns = [turn for turn in conversation.earlier if turn.text or turn.speaker == "person"]
    messages = [_message(turn) for turn in turns]
    if conversation.omitted:
        line = f"({conversation.omitted} messages of the thread are left out here.)"
        messages.insert(1, {"role": "user", "content": [_text(line)]})
    if messages and messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [_text("(The thread begins here.)")]})
    return messages


def question(
    conversation: Conversation,
    profile: Profile,
    tokens: int,
    cited: Sequence[Passage] = (),
    searched: Sequence[Passage] = (),
    names: str = "",
) -> MessageParam:
    """The newest turn's message: the turn itself, then everything that is true only now.

    ``names`` tells which documents there are.
    """
    limit = tokens * _CHARACTERS_A_TOKEN // _TURN_SHARE
    newest = conversation.turns[-1]
    words = _text(_quoted(replace(newest, text=shorten_middle(newest.text.strip(), limit))))
    if profile.cache:
        words["cache_control"] = {"type": "ephemeral", "ttl": "1h"}
    content = [words]
    for passages, title in (
        (cited, "Passages cited earlier in this thread, as the docs have them now:"),
        (searched, "Passages found with the question as the query:"),
    ):
        if passages:
            native = profile.native_citations
            content += [_text(title), *passage_blocks(passages, {}, native=native)]
    if names:
        content.append(_text(names))
    today = datetime.now(UTC).strftime("%A, %d %B %Y")
    content.append(_text(f"Today is {today} (UTC). The message to answer is the one above."))
    if conversation.wishes:
        content.append(_text(f"How to answer in this channel: {conversation.wishes}"))
    return {"role": "user", "content": content}


def query_of(conversation: Conversation) -> str:
    """A query without a model's help: the thread's last words, then the question."""
    words = " ".join(t.text for t in conversation.earlier if not t.is_answer)
    return f"{words[-_QUERY_HISTORY:]} {conversation.question[:_QUERY]}".strip()


def recalled(conversation: Conversation, index: Index) -> list[Passage]:
    """The newest chunks that earlier answers cited, up to 9,600 characters of them."""
    passages = []
    size = 0
    for passage in cited_before(conversation, index):
        size += len(passage.text)
        if size > DEFAULT_BUDGET:
            break
        passages.append(passage)
    return passages


def cited_before(conversation: Conversation, index: Index) -> list[Passage]:
    """Chunks that earlier answers cited and whose text is still the same, newest first."""
    cited: dict[str, str | None] = {}
    for turn in reversed(conversation.earlier):
        for chunk in _named(turn) if turn.cited is None else turn.cited:
            cited.setdefault(chunk.id, chunk.hash)
    passages = index.passages(list(cited)) if cited else []
    return [passage for passage in passages if cited[passage.id] in (None, passage.hash)]


def _named(turn: Turn) -> tuple[CitedChunk, ...]:
    """The ids in an answer's text, which replace the metadata of the answer if that is lost."""
    return tuple(map(CitedChunk, named_ids(turn.text))) if turn.speaker == "footnote" else ()


def _omitted(sizes: Sequence[int], limit: int) -> int:
    """Count the messages after the root to leave out, so that the rest has at most ``limit``
    characters. The newest message always stays.
    """
    excess = sum(sizes) - limit
    step = max(1, limit // _STEP_SHARE)
    room = math.ceil(excess / step) * step
    omitted = 0
    while room > 0 and omitted < len(sizes) - 2:
        omitted += 1
        room -= sizes[omitted]
    return omitted


def _message(turn: Turn) -> MessageParam:
    if turn.speaker == "footnote":
        return {"role": "assistant", "content": [_text(turn.text)]}
    return {"role": "user", "content": [_text(_quoted(turn))]}


def _quoted(turn: Turn) -> str:
    """Somebody's words as data: they cannot close the element around them."""
    name = re.sub(r'[<>"\s]+', " ", turn.name).strip()[:80]
    kind = ' kind="bot"' if turn.speaker == "other_bot" else ""
    words = _ELEMENT.sub("&lt;", turn.text.strip())
    words = words or "(no words: this asks for help with the messages above in the thread)"
    return f'<message from="{name}"{kind}>\n{words}\n</message>'


def _text(text: str) -> BlockParam:
    return {"type": "text", "text": text}
