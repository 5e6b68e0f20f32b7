"""The blocks around an answer: a line about its verdict, sources, footer, buttons. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from agent.answer import Answer
from bot.blocks.elements import Block, actions, button, code, context, link
from bot.reading.mrkdwn import escape
from ingest.documents import DocumentInfo, Passage
from ingest.shorten import shorten_end

FEEDBACK, PASSAGES, HUMAN = "footnote_feedback", "footnote_passages", "footnote_human"
"""Action ids of the buttons; each button's value starts with the answer's id."""

AGAIN = "footnote_again"
"""Action id of the button that asks a question again; its value names thread and question."""

_SOURCES_ROOM = 1_900
_SOURCES_SHOWN = 10
_ID_SHOWN, _NAME_SHOWN = 300, 120

_VERDICTS = {
    "partly": ":warning: *Partly in the docs.* Words marked ⚠ are not in the passage"
    " that they cite: check them before you use them.",
    "uncited": ":warning: *No source.* This is general knowledge, not from the docs: check it"
    " before you act on it.",
    "not_in_docs": "*Not in the docs.*",
    "retrieval_only": "*Passages only.* No model wrote an answer.",
    "failed": ":warning: *No answer.*",
}


@dataclass(frozen=True, slots=True)
class DocsState:
    """Facts about documents and index that are shown with an answer."""

    documents: Mapping[str, DocumentInfo] = field(default_factory=dict)
    ingested_at: datetime | None = None
    now: datetime | None = None
    stale_after: timedelta | None = None
    """An index older than this gets a warning."""
    growth: str | None = None
    """A sentence while the index lacks documents or vectors."""

    def age(self, moment: datetime | None) -> timedelta | None:
        if moment is None:
            return None
        return (self.now or datetime.now(UTC)) - moment


def verdict_line(answer: Answer) -> list[Block]:
    """A warning for the reader; no block for an answer that the docs support."""
    is_in_text = bool(answer.reason and answer.reason in answer.text)
    if is_in_text and answer.verdict in ("retrieval_only", "failed"):
        return []
    parts = [_VERDICTS.get(answer.verdict, "")]
    if answer.reason and not is_in_text:
        parts.append(escape(answer.reason))
    line = " ".join(filter(None, parts))
    return [context("footnote_verdict", line)] if line else []


def sources(cited: Sequence[Passage], state: DocsState) -> list[Block]:
    """The cited passages, as many as fit."""
    if not cited:
        return []
    lines = ["*Sources*"]
    for passage in cited[:_SOURCES_SHOWN]:
        line = _source(passage, state)
        if sum(map(len, lines)) + len(line) <= _SOURCES_ROOM:
            lines.append(line)
    if more := len(cited) - len(lines) + 1:
        lines.append(f"and {more} more, linked in the text")
    return [context("footnote_sources", "\n".join(lines))]


def footer(answer: Answer, state: DocsState) -> list[Block]:
    """The author of the answer, and the revision of the docs behind it."""
    if answer.verdict == "failed":
        return []
    who = "Quoted from the docs" if answer.verdict == "retrieval_only" else "Written by a model"
    parts = [f"{who}: check before you run anything."]
    age = state.age(state.ingested_at)
    if answer.revision:
        parts.append(f"Docs at {code(answer.revision)}")
        if age is not None:
            parts[-1] += f", read {ago(age)}"
        parts[-1] += "."
    if age is not None and state.stale_after is not None and age > state.stale_after:
        parts.append(f":warning: The docs were last read {ago(age)}: newer changes are missing.")
    if state.growth:
        parts.append(f":hourglass_flowing_sand: {state.growth}")
    return [context("footnote_footer", " ".join(parts))]


def buttons(answer: Answer) -> list[Block]:
    """*Show passages*, *Need a human*, and a thumb up or down."""
    choices = [button(PASSAGES, "Show passages", answer.id)] if answer.passages else []
    if answer.verdict != "no_search":
        choices.append(button(HUMAN, "Need a human", answer.id))
    feedback = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": _thumb("Helpful", f"{answer.id}:up"),
        "negative_button": _thumb("Not helpful", f"{answer.id}:down"),
    }
    thumbs = {"type": "context_actions", "block_id": "footnote_thumbs", "elements": [feedback]}
    return [actions("footnote_actions", choices), thumbs] if choices else [thumbs]


def _source(passage: Passage, state: DocsState) -> str:
    name = (
        " > ".join(dict.fromkeys(filter(None, (passage.title, *passage.heading)))) or passage.path
    )
    ident = shorten_end(passage.id, _ID_SHOWN)
    parts = [link(f"[{ident}] {shorten_end(name, _NAME_SHOWN)}", passage.url)]
    if passage.path and len(passage.path) <= _ID_SHOWN:
        first, last = passage.lines
        lines = f" line {first}" if first == last else f" lines {first}-{last}"
        parts.append(escape(passage.path) + (lines if first else ""))
    if info := state.documents.get(passage.path):
        if (age := state.age(info.updated_at)) is not None:
            parts.append(f"changed {ago(age)}")
        if info.owner:
            parts.append(f"owner {escape(shorten_end(info.owner, _NAME_SHOWN))}")
    return " · ".join(parts)


def ago(age: timedelta) -> str:
    """An age in words, such as ``3 days ago``."""
    hours = int(age.total_seconds() // 3600)
    for size, unit in ((24 * 365, "year"), (24 * 30, "month"), (24, "day"), (1, "hour")):
        if count := hours // size:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "less than an hour ago"


def _thumb(label: str, value: str) -> Block:
    return {"text": {"type": "plain_text", "text": label}, "value": value}
