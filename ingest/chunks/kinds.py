"""Document and its chunks -> the chunks with the kind of text that each holds.

The form shows the kind: a page of navigation is nearly only links, a change log has headings that
are versions and dates. ``ingest.index.ranking`` says where each kind comes in a result.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from ingest.documents import Chunk
from ingest.readers.loader import Document
from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.readers.prose_share import prose_share

LINKS_ONLY = 0.2
"""A page or a chunk with a smaller share of its words outside links is navigation."""
FEWEST_LINES = 3
"""Minimum number of lines of a page of navigation: one link alone is a reference."""
RELEASES = 0.6
"""Minimum share of the headings below the title that name a version or a date, in a change log."""
FEWEST_RELEASES = 2

ORDERS = frozenset({"AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md", "SKILL.md", "llms.txt",
                    "llms-full.txt", "copilot-instructions.md"})  # fmt: skip
"""Names by which other programs find what they have to do; case counts."""
CHANGE_LOG = re.compile(r"(?:change[-_ ]?log|changes|release[-_ ]?notes|history|news)", re.I)
RELEASE = re.compile(
    r"[^\w\n]{0,3}(?:(?:version|release|v)[ .-]?)?\[?(?:\d+\.\d+[\w.+-]*+|\d{4}-\d\d-\d\d)"
    r"|[^\w\n]{0,3}\[?unreleased\b",
    re.I,
)
LINK = re.compile(r"\]\(|\[\[|`[^`\n]*+`")
ANY_LINK = re.compile(r"[\[`<]|://")
AWAY = re.compile(r"\bhttps?://")
"""A list of links to other sites is no navigation of these docs."""
MANY_WORDS = 6
"""A heading with more words is about something, even if it begins with a version."""


def with_kinds(document: Document, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks, each with its kind."""
    name = PurePosixPath(document.path)
    if name.name in ORDERS:
        return [replace(chunk, kind="orders") for chunk in chunks]
    if _is_change_log(name, document):
        return [replace(chunk, kind="change log") for chunk in chunks]
    if _is_navigation(document.parsed):
        return list(_navigation(chunks, document.parsed))
    return list(chunks)


def _is_change_log(name: PurePosixPath, document: Document) -> bool:
    """Most headings are releases; where there are few headings, the name decides."""
    labels = [block.label for block in document.parsed.blocks if block.level and block.label]
    if labels and not RELEASE.match(labels[0]):
        labels = labels[1:]
    top = _top_labels(document)
    releases = [label for label in top if RELEASE.match(label) and len(label.split()) < MANY_WORDS]
    if len(releases) >= FEWEST_RELEASES and len(releases) >= RELEASES * len(top):
        return True
    return bool(CHANGE_LOG.fullmatch(name.stem)) and (bool(releases) or not labels)


def _top_labels(document: Document) -> list[str]:
    """Headings of the highest level that occurs more than once."""
    levels: dict[int, list[str]] = {}
    for block in document.parsed.blocks:
        if block.level and block.label:
            levels.setdefault(block.level, []).append(block.label)
    return next((levels[level] for level in sorted(levels) if len(levels[level]) > 1), [])


def _is_navigation(parsed: ParsedFile) -> bool:
    blocks = [block for block in parsed.blocks if not block.level]
    own = [block for block in blocks if not _is_list_of_pages(block, parsed)]
    lines = [
        line for block in own for line in parsed.lines[block.start : block.end] if line.strip()
    ]
    if len(own) == len(blocks) and blocks and len(lines) < FEWEST_LINES:
        return False
    # The exact share takes long; a page with many lines without a link needs none.
    text = "\n".join(lines)
    if sum(len(line) for line in lines if not ANY_LINK.search(line)) * 2 > len(text):
        return False
    leads_away = len(AWAY.findall(text)) * 2 > len(LINK.findall(text))
    return not leads_away and _has_links_only(parsed, own)


def _is_list_of_pages(block: FileBlock, parsed: ParsedFile) -> bool:
    """Return True for the directive of Sphinx that lists the pages of a folder, in Markdown."""
    return block.kind == "code" and "{toctree}" in parsed.lines[block.start]


def _has_links_only(parsed: ParsedFile, blocks: Sequence[FileBlock]) -> bool:
    return not blocks or prose_share(replace(parsed, blocks=tuple(blocks))) < LINKS_ONLY


def _navigation(chunks: Sequence[Chunk], parsed: ParsedFile) -> Iterator[Chunk]:
    """Yield the chunks; those with nearly only links, or nothing but headings, are navigation."""
    own = [
        block for block in parsed.blocks if not block.level and not _is_list_of_pages(block, parsed)
    ]
    starts = [parsed.number(block.start) for block in own]
    ends = [parsed.number(max(block.start, block.end - 1)) for block in own]
    for chunk in chunks:
        blocks = own[bisect_left(ends, chunk.lines[0]) : bisect_right(starts, chunk.lines[1])]
        yield replace(chunk, kind="navigation") if _has_links_only(parsed, blocks) else chunk
