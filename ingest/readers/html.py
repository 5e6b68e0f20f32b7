"""HTML: the visible text of a page, by beautifulsoup4 -> plain lines under its headings.

Lists keep their bullets, tables become rows with bars, ``pre`` stays as it is. The line numbers are
those of the source, so a block may show fewer lines than it covers.
"""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from bs4 import BeautifulSoup
from bs4.element import Comment, NavigableString, PageElement, PreformattedString, Tag

from ingest.readers.reading import Block, Kind, Reading

UNSEEN = {
    "script", "style", "nav", "footer", "template", "noscript", "iframe", "svg", "head", "form",
    "button", "select", "object", "audio", "video", "canvas",
}  # fmt: skip
INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr", "br", "td", "th",
}  # fmt: skip
HEADING = re.compile(r"^h([1-6])$")
MAIN = ("main", "[role=main]", "article")


def read_html(lines: Sequence[str]) -> Reading:
    """Read a page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a page looks like XML, or like a file's name
        soup = BeautifulSoup("\n".join(lines), "html.parser")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    mains = [found for selector in MAIN for found in soup.select(selector, limit=1)]
    text = _Text()
    text.read(mains[0] if mains else soup.body or soup)
    text.close()
    return Reading(
        "plain", tuple(text.lines), tuple(text.blocks), numbers=tuple(text.numbers), title=title
    )


@dataclass
class _Text:
    """The lines so far, and the block that is being read."""

    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    kind: Kind = "prose"
    level: int = 0
    line: int = 1
    begun: int = 0

    def read(self, element: PageElement) -> None:
        if isinstance(element, Tag):
            self.line = max(self.line, element.sourceline or 1)
            self._read_tag(element)
        elif isinstance(element, NavigableString):
            if not isinstance(element, (Comment, PreformattedString)):
                self._say(str(element))
            self.line += str(element).count("\n")

    def _read_tag(self, tag: Tag) -> None:
        if tag.name in UNSEEN or tag.has_attr("hidden"):
            return
        if tag.name == "img":
            self._say(str(tag.get("alt") or ""))
        elif tag.name == "br":
            self.words.append("\n")
        elif tag.name == "pre":
            self._preformatted(tag)
        elif tag.name in INLINE:
            self._inline(tag)
        else:
            self._block(tag)

    def _inline(self, tag: Tag) -> None:
        mark = "`" if tag.name in ("code", "kbd", "samp", "tt") else ""
        self._say(mark or (" | " if tag.name in ("td", "th") and self.words else ""))
        for child in tag.children:
            self.read(child)
        self._say(mark)

    def _block(self, tag: Tag) -> None:
        self.close()
        heading = HEADING.match(tag.name)
        if heading:
            self.kind, self.level = "heading", int(heading[1])
        elif tag.name == "tr":
            self.kind = "table"
        elif tag.name == "li":
            self._say("- ")
        for child in tag.children:
            self.read(child)
        self.close()

    def _preformatted(self, tag: Tag) -> None:
        self.close()
        text = tag.get_text().strip("\n")
        start = len(self.lines)
        for offset, line in enumerate(text.split("\n")):
            self._add(line.rstrip(), self.line + offset)
        self._end_block("code", start)
        self.line += tag.get_text().count("\n")

    def _say(self, text: str) -> None:
        if text and not (text.isspace() and not self.words):
            if not self.words:
                self.begun = self.line + len(text) - len(text.lstrip("\n"))
            self.words.append(re.sub(r"\s+", " ", text))

    def close(self) -> None:
        """End the block that is being read, if it has any words."""
        said = "".join(self.words)
        start = len(self.lines)
        for part in said.split("\n"):
            if folded := " ".join(part.split()):
                self._add(folded, self.begun)
        if len(self.lines) > start:
            self.numbers[-1] = max(self.begun, self.line)
            self._end_block(self.kind, start, self.level)
        self.words, self.kind, self.level = [], "prose", 0

    def _add(self, line: str, number: int) -> None:
        self.lines.append(line)
        self.numbers.append(number)

    def _end_block(self, kind: Kind, start: int, level: int = 0) -> None:
        label = " ".join(self.lines[start:]) if kind == "heading" else ""
        self.blocks.append(Block(kind, start, len(self.lines), level=level, label=label))
        if kind != "table" and not self.lines[start].startswith("- "):
            self._add("", self.numbers[-1])
