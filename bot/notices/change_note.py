"""Old and new text of a cited chunk -> a note with the diff. Pure.

The diff is text of the docs, so it is posted as preformatted rich text, which has no markup.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff

from bot.blocks.elements import Block, code, context, link, section
from bot.reading.mrkdwn import escape, inert
from bot.slack.identity import SlackMessage
from ingest.documents import Passage
from ingest.shorten import shorten_end

_MOST_CHANGES = 3
_DIFF_LINES = 16
_LINE = 240
"""Maximum number of characters of a line of the diff."""
_LONG = 120
"""A line with more characters is compared by sentences."""
_LIKE = 0.3
"""Similarity, from 0 to 1, from which a chunk counts as the successor of a text."""
_SENTENCE_END = re.compile(r"(?<=[.!?;:]) +")


@dataclass(frozen=True, slots=True)
class Change:
    """A cited chunk whose text has changed."""

    path: str
    old: str
    old_url: str | None
    new: Passage | None
    """The chunk that replaces it, or None."""
    document_deleted: bool = False


def contains_text(text: str, passages: Sequence[Passage]) -> bool:
    """Return True if the passages of a document contain the text's lines in order."""
    document = "\n".join(line for passage in passages for line in _lines(passage.text))
    return "\n".join(["", *_lines(text), ""]) in f"\n{document}\n"


def find_successor(text: str, passages: Sequence[Passage]) -> Passage | None:
    """Return the chunk that is most similar to the text, or None if none is similar enough."""
    words = text.split()
    ranked = [
        (SequenceMatcher(None, words, passage.text.split(), autojunk=False).ratio(), passage)
        for passage in passages
    ]
    likeness, best = max(ranked, key=lambda pair: pair[0], default=(0.0, None))
    return best if likeness >= _LIKE else None


def change_note(changes: Sequence[Change], revision: str | None) -> SlackMessage:
    """Return the message for a thread that cites these chunks."""
    paths = list(dict.fromkeys(change.path for change in changes))
    names = ", ".join(escape(inert(path)) for path in paths[:_MOST_CHANGES])
    intro = (
        ":memo: *The docs have changed since they were cited here.* "
        "Check the new text before you rely on the answer above."
    )
    blocks = [section(intro)]
    for change in changes[:_MOST_CHANGES]:
        blocks += _blocks(change)
    if len(changes) > _MOST_CHANGES:
        blocks.append(section(f"{len(changes) - _MOST_CHANGES} more cited passages have changed."))
    tail = f"Docs at {code(revision)}. " if revision else ""
    tail += "Mention me to get the answer as of now."
    blocks.append(context("footnote_change", tail))
    return {
        "text": f"The docs have changed since they were cited here: {names}",
        "blocks": blocks,
    }


def diff_lines(old: str, new: str) -> Iterator[str]:
    """Yield a unified diff without its head; long lines are compared by sentences."""
    hunks = 0
    for line in list(unified_diff(_pieces(old), _pieces(new), n=1, lineterm=""))[2:]:
        if line.startswith("@@"):
            hunks += 1
            if hunks > 1:
                yield "…"
        elif line.strip():
            yield shorten_end(line, _LINE)


def _blocks(change: Change) -> list[Block]:
    where = code(change.path)
    old = link("as it was cited", change.old_url)
    if change.new is None:
        gone = (
            "is no longer in the docs" if change.document_deleted else "no longer has this passage"
        )
        return [section(f"{where} {gone} ({old})." if change.old_url else f"{where} {gone}.")]
    first, last = change.new.lines
    now = link(f"lines {first}-{last} now", change.new.url)
    line = f"{where}: {old} → {now}" if change.old_url else f"{where}, {now}"
    diff = list(diff_lines(change.old, change.new.text))
    if len(diff) > _DIFF_LINES:
        diff = [*diff[:_DIFF_LINES], f"… {len(diff) - _DIFF_LINES} more lines"]
    text = {"type": "text", "text": "\n".join(diff) or " "}
    preformatted = {"type": "rich_text_preformatted", "elements": [text]}
    return [section(line), {"type": "rich_text", "elements": [preformatted]}]


def _lines(text: str) -> list[str]:
    return [stripped for line in text.splitlines() if (stripped := line.strip())]


def _pieces(text: str) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines():
        lines += _SENTENCE_END.split(line) if len(line) > _LONG else [line]
    return lines
