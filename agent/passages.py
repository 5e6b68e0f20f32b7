"""Passages -> what the model reads; the model's content blocks -> Markdown with ``[chunk-id]``.

With native citations a passage is a ``search_result`` block whose source is the chunk id, one text
block a paragraph, and the model's text comes back with pointers. Elsewhere passages are JSON, so
that nothing in a page can pass for our own words, and the model writes the brackets itself. Both
ways end in the same Markdown.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anthropic.types import ContentBlock

from ingest.documents import Passage

Block = dict[str, Any]

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)", re.MULTILINE)


def passage_blocks(
    passages: Sequence[Passage], facts: Mapping[str, Any], *, native: bool
) -> list[Block]:
    """Content blocks for a tool result or a user message; ``facts`` are what we say of them.

    A tool result may not mix search_result blocks with others: what has to be said beside passages
    stands in their titles.
    """
    if native and passages:
        blocks = [search_result(passage, weak=bool(facts.get("weak"))) for passage in passages]
        if before := facts.get("already_shown"):
            blocks[-1]["title"] += f" | given to you before: {', '.join(before)}"
        if end := facts.get("page_ends_at_line"):
            blocks[-1]["title"] += f" | the page ends at line {end}"
        for said in ("note", "check", "budget"):
            if said in facts:
                blocks[-1]["title"] += f" | {facts[said]}"
        return blocks
    body = {**facts, "passages": [_as_json(passage) for passage in passages]} if passages else facts
    return [{"type": "text", "text": json.dumps(body, ensure_ascii=False, indent=1)}]


def search_result(passage: Passage, *, weak: bool = False) -> Block:
    where = " > ".join(dict.fromkeys((passage.path, passage.title, *passage.heading)))
    first, last = passage.lines
    title = f"{where} | lines {first}-{last}"
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
    return {
        "id": passage.id,
        "source": passage.path,
        "heading": list(passage.heading),
        "lines": list(passage.lines),
        "distance": round(passage.distance, 3),
        "text": passage.text,
    }


def paragraphs(text: str) -> list[str]:
    """Parts between blank lines, fenced code whole: the units that a pointer can name."""
    parts: list[str] = []
    fence = None
    begin_new = True
    for line in text.splitlines(keepends=True):
        if not line.strip() and fence is None:
            begin_new = True
        if begin_new and line.strip():
            parts.append("")
            begin_new = False
        if parts:
            parts[-1] += line
        if found := _FENCE.match(line):
            fence = _fence_after(found, fence)
    return parts or ["(empty)"]


def _fence_after(line: re.Match[str], fence: str | None) -> str | None:
    """The fence that is open after a line that looks like one."""
    mark, rest = line.groups()
    if fence is None:
        return str(mark)
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip()
    return None if closes else fence


def reply_text(content: Iterable[ContentBlock]) -> str:
    """The model's text with ``[id]`` behind what its pointers support."""
    text = ""
    owed: list[str] = []
    for block in content:
        if block.type != "text":
            continue
        text += block.text
        for citation in block.citations or ():
            if citation.type == "search_result_location" and citation.source not in owed:
                owed.append(citation.source)
        if owed and not _inside_fence(text):
            text = _cited(text, [i for i in owed if f"[{i}]" not in block.text])
            owed = []
    return text.strip()


def _inside_fence(text: str) -> bool:
    fence = None
    for line in _FENCE.finditer(text):
        fence = _fence_after(line, fence)
    return fence is not None


def _cited(text: str, ids: Sequence[str]) -> str:
    """``text`` with ``ids`` at its end: within the sentence, in the table cell, below the fence."""
    if not ids:
        return text
    marks = " ".join(f"[{i}]" for i in ids)
    said = text.rstrip()
    space = text[len(said) :]
    last_line = said.rpartition("\n")[2]
    if _FENCE.match(last_line):
        return f"{said}\n{marks}\n"
    if last_line.lstrip().startswith("|") and last_line.endswith("|"):
        return f"{said.removesuffix('|').rstrip()} {marks} |{space}"
    stop = said[-1:] if said.endswith((".", "!", "?", ":", ";", ",")) else ""
    return f"{said.removesuffix(stop)} {marks}{stop}{space}"
