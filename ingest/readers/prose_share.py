"""ParsedFile -> the share of its words that stand outside links: a page of navigation has few."""

import re
from collections.abc import Iterator

from ingest.readers.parsed_file import BlockKind, ParsedFile
from ingest.readers.search_text import AUTOLINK, IMAGE, LINK, RST_LINK, WIKI_LINK, search_text

WORD = re.compile(r"\w++")
RST_REFERENCE = re.compile(r":(?:doc|ref|any|numref):`[^`]*+`")
ADDRESS = re.compile(r"\bhttps?://\S++")
LINKS = {
    "markdown": (IMAGE, LINK, WIKI_LINK, AUTOLINK, ADDRESS),
    "rst": (RST_REFERENCE, RST_LINK, ADDRESS),
    "plain": (ADDRESS,),
}


def prose_share(parsed: ParsedFile) -> float:
    """Return the share, from 0 to 1; headings do not count, and a page without words has 1."""
    linked = outside = 0
    for kind, text in _texts(parsed):
        words = _count(search_text(parsed.syntax, kind, text))
        bare = text
        for link in LINKS.get(parsed.syntax, ()) if kind != "code" else ():
            bare = link.sub(" ", bare)
        left = min(words, _count(search_text(parsed.syntax, kind, bare)))
        outside += left
        linked += words - left
    return outside / (outside + linked) if outside + linked else 1.0


def _texts(parsed: ParsedFile) -> Iterator[tuple[BlockKind, str]]:
    for block in parsed.blocks:
        if block.kind != "heading":
            yield block.kind, "\n".join(parsed.lines[block.start : block.end])


def _count(text: str) -> int:
    return len(WORD.findall(text))
