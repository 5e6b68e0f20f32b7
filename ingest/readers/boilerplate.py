"""ParsedFile -> the same without lines of links around its text, footers of exports and licences.

Only the edges of a page are looked at, and only their form: a line of links between signs, a short
line with a link to another site below the last rule, paragraphs of a licence above the first
heading. A page that has nothing else keeps all of it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.readers.search_text import IMAGE, LINK, WIKI_LINK, has_words

EDGE = 3
"""Number of first blocks, and of last ones, that are looked at."""
LONGEST_LINE = 400
STEP = re.compile(r"[>›»]")
PAGER = re.compile(r"[←→«»‹›⟵⟶◀▶]|<<|>>")
BETWEEN = re.compile(r"[\s|/·•:←→«»‹›>⟵⟶◀▶-]*")
ELSEWHERE = re.compile(r"\]\(https?://")
ITEM = re.compile(r"\s*(?:[-*+|]|\d+[.)])\s")
MOST_WORDS_OUTSIDE = 3
WORD = re.compile(r"\w++")
COPYRIGHT = re.compile(
    r"SPDX-License-Identifier:|(?:\bcopyright\b|©|\(c\))[^\n]{0,60}?\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
LICENCE = re.compile(r"\blicen[cs]e|\bcopyright\b|SPDX-|©", re.IGNORECASE)


def without_boilerplate(parsed: ParsedFile) -> ParsedFile:
    """Return the file without what stands around its text."""
    blocks = list(parsed.blocks)
    licence = _licence(blocks, parsed)
    dropped = {id(block) for block in blocks[:licence]}
    first = [block for block in blocks[licence:] if block.kind != "heading"][:EDGE]
    last = [block for block in blocks if block.kind != "heading"][-EDGE:]
    dropped |= {id(block) for block in first if _is_trail(block, parsed)}
    dropped |= {id(block) for block in last if _is_pager(block, parsed)}
    dropped |= {id(block) for block in _footer(last, parsed)}
    kept = [block for block in blocks if id(block) not in dropped]
    has_text = any(block.kind != "heading" and has_words(block, parsed) for block in kept)
    return replace(parsed, blocks=tuple(kept)) if dropped and has_text else parsed


def _text(block: FileBlock, parsed: ParsedFile) -> str:
    return "\n".join(parsed.lines[block.start : block.end])


def _licence(blocks: Sequence[FileBlock], parsed: ParsedFile) -> int:
    """Return the number of first blocks that are the licence of a page with a heading below it."""
    above = list(takewhile(lambda block: block.kind != "heading", blocks))
    if len(above) == len(blocks) or not above or not COPYRIGHT.search(_text(above[0], parsed)):
        return 0
    return len(list(takewhile(lambda block: LICENCE.search(_text(block, parsed)), above)))


def _bare(block: FileBlock, parsed: ParsedFile) -> str:
    """Return the only line of a paragraph with a sign for each link, else an empty text."""
    text = _text(block, parsed)
    is_line = block.kind == "prose" and block.end - block.start == 1 and len(text) <= LONGEST_LINE
    if parsed.syntax != "markdown" or not is_line or ITEM.match(text):
        return ""
    return WIKI_LINK.sub("\x04", LINK.sub("\x04", IMAGE.sub("", text))).strip()


def _is_trail(block: FileBlock, parsed: ParsedFile) -> bool:
    """Return True for ``[Home](/) > [Docs](/docs) > Page``."""
    bare = _bare(block, parsed)
    *links, page = map(str.strip, STEP.split(bare))
    return bool(links) and set(links) == {"\x04"} and len(page) <= 60 and not page.endswith(".")


def _is_pager(block: FileBlock, parsed: ParsedFile) -> bool:
    """Return True for links to the page before and the page after, with arrows."""
    bare = _bare(block, parsed)
    arrows = PAGER.search(bare) or PAGER.search(_text(block, parsed))
    return "\x04" in bare and bool(arrows) and bool(BETWEEN.fullmatch(bare.replace("\x04", "")))


def _footer(last: Sequence[FileBlock], parsed: ParsedFile) -> list[FileBlock]:
    """Return the blocks below the last rule, if all are short lines with a link to other sites."""
    below = list(takewhile(lambda block: has_words(block, parsed), reversed(last)))
    if len(below) in (0, len(last)):
        return []
    return below if all(_is_footer(block, parsed) for block in below) else []


def _is_footer(block: FileBlock, parsed: ParsedFile) -> bool:
    bare = _bare(block, parsed)
    words = WORD.findall(bare.replace("\x04", " "))
    elsewhere = ELSEWHERE.search(_text(block, parsed))
    return "\x04" in bare and bool(elsewhere) and len(words) <= MOST_WORDS_OUTSIDE
