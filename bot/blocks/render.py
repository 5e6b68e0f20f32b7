"""Answer -> the messages that carry it: text with linked citations, sources, footer, buttons. Pure.

The first message opens with a line about the verdict where there is one to tell; the last one ends
with the sources, the footer and the buttons, for which room is kept whatever the answer's length.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from unicodedata import category

from agent.answer import Answer, Verdict
from agent.grounding import read_segments
from bot.blocks.around import Extra, buttons, footer, sources, verdict_line
from bot.blocks.debug import read_request
from bot.blocks.elements import Block, context
from bot.blocks.links import Addresses
from bot.blocks.nodes import Code, Node, Paragraph, Run, cited, plain
from bot.blocks.parse import Reading, read_markdown
from bot.blocks.split import Piece, Style, split
from bot.reading.addresses import may_be_linked
from bot.reading.mrkdwn import escape, inert
from ingest.documents import DocumentInfo, Passage

Message = dict[str, Any]
"""``text`` and ``blocks``, as chat.postMessage takes them."""

_ANSWER_ROOM = 8_400
"""Characters of answer in a message: with all that stands around it, it stays under 12,000."""
_NOTIFICATION = 300
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
_NOTHING = "No answer came out of this. Please ask again, perhaps in other words."


def render_answer(
    answer: Answer,
    *,
    documents: Mapping[str, DocumentInfo] | None = None,
    ingested_at: datetime | None = None,
    now: datetime | None = None,
    stale_after: timedelta | None = None,
    style: Style = "markdown",
) -> list[Message]:
    """An answer -> at least one message, in the order in which they are posted.

    ``documents`` (by path) add age and owner to the sources, ``ingested_at`` the age of the index,
    which is said to be old from ``stale_after`` on.
    ``style="rich_text"`` does without ``markdown`` blocks.
    """
    passages = _passages(answer)
    nodes = _read(answer)
    nodes = nodes or (Paragraph((Run(answer.reason or _NOTHING),)),)
    messages = [_message(pieces) for pieces in split(nodes, _ANSWER_ROOM, style)]
    extra = Extra(documents or {}, ingested_at, now, stale_after)
    shown = [passages[ident] for ident in cited(nodes)]
    messages[0]["blocks"][:0] = verdict_line(answer)
    messages[-1]["blocks"] += [*sources(shown, extra), *footer(answer, extra), *buttons(answer)]
    return messages


def render_body(answer: Answer) -> list[list[Block]]:
    """What the answer itself says, without all around it: the blocks of each message."""
    return [_body(pieces) for pieces in split(_read(answer), _ANSWER_ROOM)]


def render_runbook(passages: Sequence[Passage], found_by: str) -> Message:
    """Passages of one page -> the message that is there before an answer is."""
    urls = {passage.id: passage.url for passage in passages}
    reading = Reading(urls, Addresses.of(passages))
    text = "\n\n".join(f"{passage.text}\n\n[{passage.id}]" for passage in passages)
    first, *more = split(read_markdown(text, reading), _ANSWER_ROOM)
    line = f"*From the docs*, found by {escape(found_by)}. A model's answer follows."
    message = _message(first)
    message["blocks"].insert(0, context("footnote_verdict", line))
    if more:
        message["blocks"].append(context("footnote_footer", "The page goes on: open it."))
    return message


def render_json(request: Mapping[str, Any]) -> dict[str, Any]:
    """``{text, passages}`` -> ``{messages}``, for ``footnote debug render``."""
    given = read_request(request)
    passages = tuple(passage.read() for passage in given.passages)
    urls = {passage.id: passage.url for passage in passages}
    nodes = _visible(read_markdown(given.text, Reading(urls, Addresses())))
    verdict: Verdict = "answered" if cited(nodes) else "uncited" if nodes else "failed"
    segments = read_segments(given.text, urls)
    answer = Answer("debug", "", given.verdict or verdict, segments, passages=passages)
    return {"messages": render_answer(answer, style=given.style)}


def _passages(answer: Answer) -> dict[str, Passage]:
    return {passage.id: passage for passage in (*answer.passages, *answer.citations)}


def _read(answer: Answer) -> tuple[Node, ...]:
    passages = _passages(answer)
    urls = {ident: passage.url for ident, passage in passages.items()}
    web = (link.url for link in answer.web_links)
    addresses = Addresses.of(tuple(passages.values()), web)
    return _visible(read_markdown(answer.text, Reading(urls, addresses)))


def _visible(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes, or none where nobody would see anything of them."""
    words = "".join(plain(node) for node in nodes)
    has_code = any(isinstance(node, Code) for node in nodes)
    return nodes if has_code or any(category(char) not in _UNSEEN for char in words) else ()


def _message(pieces: Sequence[Piece]) -> Message:
    return {"text": _notification([piece.node for piece in pieces]), "blocks": _body(pieces)}


def _body(pieces: Sequence[Piece]) -> list[Block]:
    """Neighbouring Markdown shares one block, since Slack cuts it into blocks itself."""
    blocks: list[Block] = []
    for piece in pieces:
        if piece.blocks:
            blocks.extend(piece.blocks)
        elif blocks and blocks[-1]["type"] == "markdown":
            blocks[-1]["text"] += f"\n\n{piece.markdown}"
        elif piece.markdown:
            blocks.append({"type": "markdown", "text": piece.markdown})
    return blocks


def _notification(nodes: Sequence[Node]) -> str:
    """What a phone shows: the first words, without citations, and nothing that could be clicked."""
    words: list[str] = []
    for node in nodes:
        text = plain(node)
        for ident in cited((node,)):
            text = text.replace(f" [{ident}]", "").replace(f"[{ident}]", "")
        words.extend(text.split())
        if sum(map(len, words)) > _NOTIFICATION:
            break
    text = " ".join(inert(word) if may_be_linked(word) else word for word in words)
    if len(text) > _NOTIFICATION:
        text = f"{text[:_NOTIFICATION].rpartition(' ')[0] or text[:_NOTIFICATION]} …"
    return escape(text) if any(map(str.isalnum, text)) else "Answer"
