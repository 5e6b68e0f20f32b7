"""Passages -> content blocks that the model reads.

With native citations a passage is a ``search_result`` block: its source is the chunk id, and each
paragraph is a text block that a citation can point at. Elsewhere passages are JSON, so that no text
of a document can pass for Footnote's own words.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ingest.documents import DocumentInfo, Passage

BlockParam = dict[str, Any]
"""A content block of a request."""

_PLACES_NAMED = 6
"""Maximum number of other places of a text that are named beside it."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\S\n]*+(\S?)", re.MULTILINE)


def passage_blocks(
    passages: Sequence[Passage], facts: Mapping[str, Any], *, native: bool
) -> list[BlockParam]:
    """Content blocks for a tool result or a user message; ``facts`` say more about the passages.

    A tool result must not mix search_result blocks with others, so the titles carry the facts.
    """
    if native and passages:
        blocks = [search_result(passage, weak=bool(facts.get("weak"))) for passage in passages]
        if before := facts.get("already_shown"):
            blocks[-1]["title"] += f" | given to you before: {', '.join(before)}"
        if end := facts.get("page_ends_at_line"):
            blocks[-1]["title"] += f" | the page ends at line {end}"
        for fact in ("edition", "note", "check", "budget"):
            if fact in facts:
                blocks[-1]["title"] += f" | {facts[fact]}"
        return blocks
    body = {**facts, "passages": [_as_json(passage) for passage in passages]} if passages else facts
    return [{"type": "text", "text": json.dumps(body, ensure_ascii=False, indent=1)}]


def search_result(passage: Passage, *, weak: bool = False) -> BlockParam:
    where = " > ".join(dict.fromkeys((passage.path, passage.title, *passage.heading)))
    first, last = passage.lines
    title = f"{where} | lines {first}-{last}"
    if says := where_else(passage):
        title += f" | {says}"
    if passage.distance:
        title += f" | distance {passage.distance:.2f}{' (weak match)' if weak else ''}"
    return {
        "type": "search_result",
        "source": passage.id,
        "title": title,
        "content": [{"type": "text", "text": part} for part in paragraphs(passage.text)],
        "citations": {"enabled": True},
    }


def _as_json(passage: Passage) -> dict[str, Any]:
    says = where_else(passage)
    return {
        "id": passage.id,
        "source": passage.path,
        "heading": list(passage.heading),
        "lines": list(passage.lines),
        **({"edition": says} if says else {}),
        "distance": round(passage.distance, 3),
        "text": passage.text,
    }


def edition_words(of: Passage | DocumentInfo) -> list[str]:
    """Say which version and which translation this is, if it is not the current original."""
    version = [f"version {of.version}"] if of.version else []
    return version + ([f"translation ({of.language})"] if of.language else [])


def where_else(passage: Passage) -> str:
    """Say which edition a passage is from, if not the current one, and where else its text is."""
    edition = edition_words(passage)
    places = passage.places[:_PLACES_NAMED]
    named = [
        f"{place.version or place.path}{' (differing)' if place.differs else ''}"
        for place in places
    ]
    if more := len(passage.places) - len(places):
        named.append(f"{more} more places")
    also = f"also in {', '.join(dict.fromkeys(named))}" if named else ""
    return "; ".join(filter(None, (*edition, also)))


def paragraphs(text: str) -> list[str]:
    """Parts between blank lines, with fenced code in one piece: a citation points at these."""
    parts: list[list[str]] = []
    fence: str | None = None
    begin_new = True
    for line in text.splitlines(keepends=True):
        if not line.strip() and fence is None:
            begin_new = True
        if begin_new and line.strip():
            parts.append([])
            begin_new = False
        if parts:
            parts[-1].append(line)
        fence = fence_after(line, fence)
    return ["".join(part) for part in parts] or ["(empty)"]


def fence_after(line: str, fence: str | None) -> str | None:
    """The fence that is open after this line of Markdown, or None."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    mark, rest = match.groups()
    if fence is None:
        return str(mark)
    return None if mark[0] == fence[0] and len(mark) >= len(fence) and not rest else fence
