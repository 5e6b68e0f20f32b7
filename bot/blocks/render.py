"""Answer -> the messages that carry it: text with linked citations, sources, footer, buttons. Pure.

The first message begins with a line about the verdict, unless the docs support the answer. The last
message ends with the sources, the footer and the buttons; every message keeps room for these.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agent.answer import Answer, Citation, Segment, Verdict
from agent.grounding import read_segments
from bot.blocks.around import DocsState, buttons, footer, sources, verdict_line
from bot.blocks.body import Body, read_body, words
from bot.blocks.debug import read_request
from bot.blocks.elements import Block, context
from bot.blocks.richtext import rich_text, section
from bot.blocks.runs import Run
from bot.blocks.split import split
from bot.reading.addresses import may_be_linked
from bot.reading.mrkdwn import escape, inert
from ingest.documents import DocumentInfo, Passage

RenderedMessage = dict[str, Any]
"""``text`` and ``blocks``, as chat.postMessage takes them."""

_ANSWER_ROOM = 8_400
"""Maximum number of characters of the answer in one message, which stays under 12,000 itself."""
_NOTIFICATION = 300
_NOTHING = "I have no answer to this. Please ask again, perhaps in other words."


def render_answer(
    answer: Answer,
    *,
    documents: Mapping[str, DocumentInfo] | None = None,
    ingested_at: datetime | None = None,
    now: datetime | None = None,
    stale_after: timedelta | None = None,
    growth: str | None = None,
) -> list[RenderedMessage]:
    """An answer -> at least one message, in the order in which they are posted.

    ``documents`` (by path) add age and owner to the sources, ``ingested_at`` adds the age of the
    index. An index older than ``stale_after`` gets a warning. ``growth`` says what it still lacks.
    """
    body = _read(answer)
    if not body.blocks:
        body = Body((rich_text([section((Run(answer.reason or _NOTHING),))]),))
    messages = [_message(blocks, body.cited) for blocks in split(body.blocks, _ANSWER_ROOM)]
    state = DocsState(documents or {}, ingested_at, now, stale_after, growth)
    passages = {passage.id: passage for passage in _passages(answer)}
    cited = [passages[ident] for ident in body.cited if ident in passages]
    messages[0]["blocks"][:0] = verdict_line(answer)
    messages[-1]["blocks"] += [*sources(cited, state), *footer(answer, state), *buttons(answer)]
    return messages


def render_body(answer: Answer) -> list[list[Block]]:
    """The answer's own blocks, message by message, without those around it."""
    return split(_read(answer).blocks, _ANSWER_ROOM)


def render_runbook(passages: Sequence[Passage], found_by: str) -> RenderedMessage:
    """Passages of one document -> the message that is posted ahead of an answer."""
    segments = [
        part
        for passage in passages
        for part in (Segment(f"{passage.text}\n\n", (Citation(passage.id),)), Segment("\n\n"))
    ]
    body = read_body(segments, passages)
    first, *more = split(body.blocks, _ANSWER_ROOM)
    line = f"*From the docs*, found by {escape(found_by)}. A model's answer follows."
    message = _message(first, body.cited)
    message["blocks"].insert(0, context("footnote_verdict", line))
    if more:
        message["blocks"].append(
            context("footnote_footer", "The page is longer than this: open it to read on.")
        )
    return message


def render_json(request: Mapping[str, Any]) -> dict[str, Any]:
    """``{text, passages}`` -> ``{messages}``, for ``footnote debug render``."""
    wanted = read_request(request)
    passages = tuple(passage.read() for passage in wanted.passages)
    segments = read_segments(wanted.text, [passage.id for passage in passages])
    body = read_body(segments, passages)
    verdict: Verdict = "answered" if body.cited else "uncited" if body.blocks else "failed"
    answer = Answer("debug", "", wanted.verdict or verdict, segments, passages=passages)
    return {"messages": render_answer(answer)}


def _passages(answer: Answer) -> tuple[Passage, ...]:
    return (*answer.passages, *answer.citations)


def _read(answer: Answer) -> Body:
    return read_body(answer.segments, _passages(answer), [link.url for link in answer.web_links])


def _message(blocks: list[Block], cited: Sequence[str]) -> RenderedMessage:
    return {"text": _notification(blocks, cited), "blocks": list(blocks)}


def _notification(blocks: Sequence[Block], cited: Sequence[str]) -> str:
    """The first words, as a phone shows them: no citations, nothing that could be clicked."""
    first: list[str] = []
    for block in blocks:
        text = words(block)
        for ident in cited:
            text = text.replace(f" [{ident}]", "").replace(f"[{ident}]", "")
        first.extend(text.split())
        if sum(map(len, first)) > _NOTIFICATION:
            break
    text = " ".join(inert(word) if may_be_linked(word) else word for word in first)
    if len(text) > _NOTIFICATION:
        text = f"{text[:_NOTIFICATION].rpartition(' ')[0] or text[:_NOTIFICATION]} …"
    return escape(text) if any(map(str.isalnum, text)) else "Answer"
