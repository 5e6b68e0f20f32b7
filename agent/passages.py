"""Passages -> what the model reads; the model's content blocks -> Markdown with ``[chunk-id]``.

With native citations a passage is a ``search_result`` block whose source is the chunk id, one text
block a paragraph, and the model's text comes back with pointers. Elsewhere passages are JSON, so
that nothing in a page can pass for our own words, and the model writes the brackets itself. Both
ways end in the same Markdown.
"""

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anthropic.types import ContentBlock

from ingest.documents import Passage

Block = dict[str, Any]

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\S\n]*+(\S?)", re.MULTILINE)
_ROW = re.compile(r"^[^\S\n]*+\|", re.MULTILINE)


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
    parts: list[list[str]] = []
    fence = None
    begin_new = True
    for line in text.splitlines(keepends=True):
        if not line.strip() and fence is None:
            begin_new = True
        if begin_new and line.strip():
            parts.append([])
            begin_new = False
        if parts:
            parts[-1].append(line)
        if found := _FENCE.match(line):
            fence = _fence_after(found, fence)
    return ["".join(part) for part in parts] or ["(empty)"]


def _fence_after(line: re.Match[str], fence: str | None) -> str | None:
    """The fence that is open after a line that looks like one."""
    mark, rest = line.groups()
    if fence is None:
        return str(mark)
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not rest
    return None if closes else fence


def reply_text(content: Iterable[ContentBlock]) -> str:
    """The model's text with ``[id]`` behind what its pointers support."""
    blocks = [block for block in content if block.type == "text"]
    text = "".join(block.text for block in blocks)
    fences = deque(_FENCE.finditer(text))
    fence = None
    out: list[str] = []
    owed: list[str] = []
    done = begins = end = line = 0
    for block in blocks:
        begun, end = end, end + len(block.text)
        line = text.rfind("\n", begun, end) + 1 or line
        while fences and fences[0].start() < line:
            fence = _fence_after(fences.popleft(), fence)
        for citation in block.citations or ():
            if citation.type == "search_result_location" and citation.source not in owed:
                owed.append(citation.source)
        if owed and not _is_open(fence, text, line, end):
            ids = [i for i in owed if f"[{i}]" not in block.text]
            out.append(_cited(text, done, end, begins, ids) if ids else text[done:end])
            done, begins, owed = end, line, []
    return "".join([*out, text[done:]]).strip()


def _is_open(fence: str | None, text: str, line: int, end: int) -> bool:
    """Whether a fence is open at ``end``: a line that goes on behind it counts as far as it is."""
    found = _FENCE.match(text, line, end)
    return (_fence_after(found, fence) if found else fence) is not None


def _cited(text: str, start: int, end: int, line: int, ids: Sequence[str]) -> str:
    """A part of the text, whose first line begins at ``line``, with ``ids`` at its end: within the
    sentence, in the table cell, below the fence."""
    marks = " ".join(f"[{i}]" for i in ids)
    said = text[start:end].rstrip()
    stop = start + len(said)
    space = text[stop:end]
    line = text.rfind("\n", start, stop) + 1 or line
    if _FENCE.match(text, line, stop):
        return f"{said}\n{marks}\n"
    if said.endswith("|") and _ROW.match(text, line):
        return f"{said.removesuffix('|').rstrip()} {marks} |{space}"
    sign = said[-1:] if said.endswith((".", "!", "?", ":", ";", ",")) else ""
    return f"{said.removesuffix(sign)} {marks}{sign}{space}"
