"""HTML -> its visible text as plain lines under its headings, by beautifulsoup4.

Lists keep their bullets, tables become rows with bars, ``pre`` is unchanged. Line numbers are those
of the source, so a block may show fewer lines than it covers.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, PreformattedString, Tag

from ingest.invisible import without_hidden
from ingest.readers.markup.html_panels import Panels, is_hidden
from ingest.readers.parsed_file import BlockKind, FileBlock, ParsedFile

UNSEEN = {
    "script", "style", "nav", "footer", "template", "noscript", "iframe", "svg", "head", "form",
    "button", "select", "object", "audio", "video", "canvas",
}  # fmt: skip
UNSEEN_ROLES = {"navigation", "contentinfo", "search"}
"""The same for elements of other names: menus, footers and forms."""
INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr", "br", "td", "th",
}  # fmt: skip
SPACE = re.compile(r"\s+")
HEADING = re.compile(r"^h([1-6])$")
WORD = re.compile(r"\w")
CODE = {"code", "kbd", "samp", "tt"}
CELLS = {"td", "th"}
SIGN = 20
"""Maximum number of parts of a link that are checked for words."""
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def read_html(lines: Sequence[str]) -> ParsedFile:
    """Read a page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about pages that look like XML or like a file name
        soup = BeautifulSoup(_closed("\n".join(lines)), "html.parser")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    main = soup.find("main") or soup.find(role="main") or soup.body
    text = _Text(Panels.of(soup))
    text.read(main if isinstance(main, Tag) else soup)
    return ParsedFile(
        "plain", tuple(text.lines), tuple(text.blocks), numbers=tuple(text.numbers), title=title
    )


def _closed(source: str) -> str:
    """Remove comments and escape unclosed tags, which slow the parser down."""
    source = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), source)
    end = source.rfind(">") + 1
    return source[:end] + source[end:].replace("<", "&lt;")


def _is_sign(tag: Tag) -> bool:
    """Return True for the sign beside a heading that links to it."""
    to_here = tag.name == "a" and str(tag.get("href", "")).startswith("#")
    return to_here and not any(map(WORD.search, islice(_strings(tag), SIGN)))


def _strings(tag: Tag) -> Iterator[str]:
    return (part if isinstance(part, NavigableString) else "" for part in tag.descendants)


@dataclass(frozen=True, slots=True)
class _End:
    """Marks the end of a tag's content."""

    tag: Tag


@dataclass
class _Text:
    """The lines so far, and the current block."""

    panels: Panels
    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    blocks: list[FileBlock] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    kind: BlockKind = "prose"
    level: int = 0
    line: int = 1
    first_line: int = 0
    cells: Counter[str] = field(default_factory=Counter)
    """Cells by tag: read so far; ``rows`` has their numbers at the start of each open row."""
    rows: list[Counter[str]] = field(default_factory=list)
    columns: tuple[int, int] = (0, 0)
    """Start and end of the lines with the names of the current table's columns."""

    def read(self, root: Tag) -> None:
        """Read a tag's content, without recursion: unclosed tags nest deeply."""
        waiting: list[PageElement | _End] = [root]
        while waiting:
            element = waiting.pop()
            if isinstance(element, _End):
                self._leave(element.tag)
            elif isinstance(element, Tag):
                self.line = max(self.line, element.sourceline or 1)
                if self._enter(element):
                    waiting.append(_End(element))
                    waiting.extend(reversed(element.contents))
            elif isinstance(element, NavigableString):
                if not isinstance(element, PreformattedString):
                    self._append(str(element))
                self.line += str(element).count("\n")
        self._close()

    def _enter(self, tag: Tag) -> bool:
        """Begin a tag; return True if its content has to be read."""
        if self._is_left_out(tag):
            return False
        self._count(tag)
        if tag.name == "img":
            self._append(str(tag.get("alt") or ""))
        elif tag.name == "br":
            self.words.append("\n")
        elif tag.name == "pre":
            self._preformatted(tag)
            return False
        elif tag.name in CELLS and self.words:
            self._append(" | ")
        elif tag.name in CODE:
            self._append("`")
        elif tag.name not in INLINE:
            self._begin_block(tag)
        return True

    def _is_left_out(self, tag: Tag) -> bool:
        hidden = is_hidden(tag) and not self.panels.shows(tag)
        unseen = tag.name in UNSEEN or tag.get("role") in UNSEEN_ROLES
        return hidden or unseen or _is_sign(tag)

    def _count(self, tag: Tag) -> None:
        if tag.name in CELLS:
            self.cells[tag.name] += 1
        if tag.name == "tr":
            self.rows.append(self.cells.copy())

    def _leave(self, tag: Tag) -> None:
        if tag.name in CODE:
            self._append("`")
        elif tag.name == "tr":
            start = len(self.lines)
            self._close()
            cells = self.cells - self.rows.pop()
            if cells["th"] and not cells["td"]:
                first = self.columns[0] if self.columns[1] == start else start
                self.columns = (first, len(self.lines))
        elif tag.name not in INLINE:
            self._close()
            if tag.name == "table":
                self.columns = (0, 0)

    def _begin_block(self, tag: Tag) -> None:
        self._close()
        heading = HEADING.match(tag.name)
        if name := self.panels.name(tag):
            self._append(f"{name}:")
            self._close()
        if heading:
            self.kind, self.level = "heading", int(heading[1])
        elif tag.name == "tr":
            self.kind = "table"
        elif tag.name == "li":
            self._append("- ")

    def _preformatted(self, tag: Tag) -> None:
        self._close()
        text = without_hidden(tag.get_text())
        start = len(self.lines)
        for offset, line in enumerate(text.split("\n")):
            if line.strip() or len(self.lines) > start:
                self._add(line.rstrip(), self.line + offset)
        if len(self.lines) > start:
            self._end_block("code", start)
        self.line += text.count("\n")

    def _append(self, text: str) -> None:
        if text and (self.words or not text.isspace()):
            if not self.words:
                self.first_line = self.line + len(text) - len(text.lstrip("\n"))
            self.words.append(SPACE.sub(" ", without_hidden(text)))

    def _close(self) -> None:
        """End the current block, if it has any words."""
        text = "".join(self.words)
        start = len(self.lines)
        for part in text.split("\n"):
            if part.strip(" -|`"):
                self._add(" ".join(part.split()), self.first_line)
        if len(self.lines) > start:
            self.numbers[-1] = max(self.first_line, self.line)
            self._end_block(self.kind, start, self.level)
        self.words, self.kind, self.level = [], "prose", 0

    def _add(self, line: str, number: int) -> None:
        self.lines.append(line)
        self.numbers.append(number)

    def _end_block(self, kind: BlockKind, start: int, level: int = 0) -> None:
        label = " ".join(self.lines[start:]) if kind == "heading" else ""
        head = self.columns if kind == "table" else (0, 0)
        self.blocks.append(
            FileBlock(kind, start, len(self.lines), level=level, label=label, head=head)
        )
        if kind != "table" and not self.lines[start].startswith("- "):
            self._add("", self.numbers[-1])
