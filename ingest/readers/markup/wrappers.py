"""Removes the wrapping of a Markdown document: comments, scripts, wrapper tags, module lines.

Source lines in; two lists out: the lines that are shown, and the lines from which structure is
read. A wrapper tag that carries words is shown as written, and is a comment for the structure; one
that carries none is removed from both. The second list also has the indented bodies of admonitions
and tabs moved out to ordinary Markdown, code between template tags put between fences, labels and
merge marks removed. Both have one line per line of the file, or per row of a table in HTML. Code is
never changed.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ingest.readers.markup.html_rows import HtmlRows, HtmlTable, with_whole_tag
from ingest.readers.markup.note_comments import (
    NOTE_MARK,
    closes_note_comment,
    opens_note_comment,
    without_note_comments,
)
from ingest.readers.markup.tags import Tag, TaggedText

FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
INDENTED_BODY = re.compile(r"^( *)(?:!!!|\?\?\?\+?|===[+!]?) *[\w\"']", re.MULTILINE)
CLOSINGS = {
    "<!--": "-->",
    "{{/*": "*/}}",
    "{{< comment >}}": "{{< /comment >}}",
    "{{% comment %}}": "{{% /comment %}}",
    "{% comment %}": "{% endcomment %}",
    "<script": "</script>",
    "<style": "</style>",
    "{/*": "*/}",
}
"""Invisible parts of a page: their beginning -> their end."""
MDX_ONLY = "{/*"
MARK = re.compile("`+|" + "|".join(map(re.escape, CLOSINGS)))
NOWHERE = re.compile(r"^ {0,3}\[(?!\^)[^\]]+\]:[ \t]*(?:#|<>)(?:[ \t]+[\"'(].*)?$")
"""A link definition without a target, which people use as a comment."""
CODE_TAG = re.compile(r"^[ \t]*\{(?:\{[<%]|%-?)\s*highlight\b")
CODE_TAG_END = re.compile(r"^[ \t]*\{(?:\{[<%]\s*/\s*|%-?\s*end)highlight\b")
CODE_FENCE = "~" * 40
MERGE_MARK = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?: |$)")
WRAPPERS = {
    "details", "summary", "div", "section", "article", "aside", "main", "center", "figure",
    "figcaption", "p",
}  # fmt: skip
CLOSING_TAG = re.compile(r"</([A-Za-z][\w.-]*)\s*>")
TAG_LINE = re.compile(r"^[ \t]*</?[A-Za-z]")
LABEL = re.compile(
    r"^ {0,3}(?:\([^()\s][^()\n]*+\)=|\{#[^{}\n]++\}"
    r"|<a\s++(?:id|name)=[^<>\n]*+>(?:\s*+</a>)?+)[ \t]*$",
    re.MULTILINE,
)
"""A line with the name of what stands below it, by which other pages link to it."""
IMPORT = re.compile(r"""^import\s*(?:[\w*{][^'"]*\sfrom\s*)?["'][^'"]+["'];?\s*$""")
OPEN_IMPORT = re.compile(r"^import\s*(?:type\s+)?(?:\w+\s*,\s*)?\{[^}]*$")
EXPORT = re.compile(r"^export\s+(?:default|const|let|var|function|class|async|\*|\{)")
LONGEST_MODULE = 100
"""Maximum number of blank lines that are tried as the end of an import or export."""
TRIGGER = re.compile(
    r"<|%%|\{[/{%#]|^ {0,3}\[[^\]]+\]:[ \t]*#|^import\s|^export\s|^ *(?:!!!|\?\?\?|===)"
    r"|^ {0,3}\([^()\n]++\)=",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The lines of a document without its wrapping."""

    visible: list[str]
    structure: list[str]
    indexes: list[int]
    """Index in the file of each line."""
    tables: list[HtmlTable]


def unwrapped(lines: Sequence[str], *, mdx: bool) -> Unwrapped:
    """Return the lines that are shown, and the lines from which structure is read."""
    if not TRIGGER.search("\n".join(lines)):
        return Unwrapped(list(lines), list(lines), list(range(len(lines))), [])
    read = _Pass(lines, mdx=mdx)
    structure = read.structure
    if any(line.startswith("<<<<<<< ") for line in structure):
        structure = ["" if MERGE_MARK.match(line) else line for line in structure]
    if INDENTED_BODY.search("\n".join(structure)):
        structure = _dedented(structure)
    return Unwrapped(read.visible, structure, read.indexes, read.tables)


class _Pass:
    """One pass over the lines of a document, with the state at each line."""

    def __init__(self, lines: Sequence[str], *, mdx: bool) -> None:
        self._mdx = mdx
        self._lines = lines
        self._source = TaggedText("\n".join(lines))
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self._blanks = [i for i, line in enumerate((*lines, "")) if not line.strip()]
        self._depths = list(accumulate(map(_opened, lines), initial=0))
        self._closed_tags = frozenset(CLOSING_TAG.findall(self._source.text))
        self._closings = {
            mark: [i for i, line in enumerate(lines) if closing in line]
            for mark, closing in CLOSINGS.items()
        }
        self._note_ends = [i for i, line in enumerate(lines) if closes_note_comment(line)]
        self._code_ends = [i for i, line in enumerate(lines) if CODE_TAG_END.match(line)]
        self._fence = self._comment = ""
        self._code_edges: list[int] = []
        self._module_until = -1
        self._rows = HtmlRows.of(lines)
        self._nested = self._indented = False
        self._after_blank = True
        self.visible: list[str] = []
        self.structure: list[str] = []
        self.indexes: list[int] = []
        index = 0
        while index < len(lines):
            for at, visible, structure in self._line(index, lines[index]):
                self.visible.append(visible)
                self.structure.append(CODE_FENCE if at in self._code_edges[-2:] else structure)
                self.indexes.append(at)
            index = self.indexes[-1] + 1
        self.tables = self._rows.tables

    def _line(self, index: int, line: str) -> Iterator[tuple[int, str, str]]:
        """Yield index, shown line and line of structure, for this line or for several."""
        line, is_text = self._begun(index, line)
        if not is_text:
            self._rows.pass_by()
            yield index, line, line
        elif self._rows.has(index, line):
            line, last = with_whole_tag(self._lines, index, line)
            for visible, part in self._rows.read(index, line, self.visible):
                yield index, visible, part
            for below in range(index + 1, last + 1):
                for visible, _ in self._rows.read(below, "", self.visible):
                    yield below, visible, self._lines[below]
        elif LABEL.match(line):
            yield index, line, ""
        elif TAG_LINE.match(line):
            yield from self._wrapped(index, line)
        else:
            yield index, line, line

    def _begun(self, index: int, line: str) -> tuple[str, bool]:
        """Return the line without comments, and True if it may hold tags."""
        if self._comment:
            _, closed, line = line.partition(self._comment)
            if not closed:
                return "", False
            self._comment = ""
        if self._is_code(index, line):
            self._after_blank = False
            return line, False
        if index <= self._module_until:
            return "", False
        if not line.strip():
            self._after_blank = True
            return line, False
        if self._after_blank and self._begins_module(line):
            self._module_until = self._end_of_module(index)
            return "", False
        self._after_blank = False
        if not self._mdx and NOTE_MARK in line:
            line = without_note_comments(line)
            if opens_note_comment(line) and _first_after(self._note_ends, index):
                self._comment = NOTE_MARK
                return "", False
        return ("" if NOWHERE.match(line) else self._without_comments(index, line)), True

    def _wrapped(self, index: int, line: str) -> Iterator[tuple[int, str, str]]:
        """Yield the lines of wrapper tags that begin on this line; the last may end lines below."""
        source, start, end = TaggedText(line), 0, len(line)
        if line == self._lines[index]:
            source, start = self._source, self._starts[index]
            end = start + len(line)
        last, position = index, start
        wrappers: list[Tag] = []
        while position < end:
            for tag in source.tags(position, end):
                position = tag.end
                if self._is_wrapper(tag):
                    wrappers.append(tag)
            if position <= end:
                break
            last = bisect_right(self._starts, position - 1) - 1
            end = self._starts[last] + len(self._lines[last])
        written = source.text[start:end]
        shown = _without(written, start, wrappers)
        if any(tag.words for tag in wrappers):
            shown, structure = written, _as_comment(written)
        else:
            structure = shown
        pairs = zip(shown.split("\n"), structure.split("\n"), strict=True)
        for at, (visible, read) in enumerate(pairs, index):
            yield at, visible.rstrip(), read.rstrip()

    def _is_wrapper(self, tag: Tag) -> bool:
        if tag.name in WRAPPERS:
            return True
        if tag.is_element:
            return False
        # Without a closing tag or values ``<Name>`` is a placeholder, not a component.
        is_jsx = self._mdx and tag.name[0].isupper()
        known = is_jsx or tag.is_closing or tag.is_empty or tag.has_values
        return known or tag.name in self._closed_tags

    def _is_code(self, index: int, line: str) -> bool:
        if self._code_edges and index <= self._code_edges[-1]:
            return True
        if self._fence:
            self._fence = "" if closes(line, self._fence) else self._fence
            return True
        if not line.strip():
            return False
        indented = line.startswith(("    ", "\t")) and not self._mdx and not self._nested
        self._indented = indented and (self._indented or self._after_blank)
        if self._indented:
            return True
        if ITEM.match(line) or INDENTED_BODY.match(line):
            self._nested = True
        elif self._after_blank and not line.startswith((" ", "\t")):
            self._nested = False
        if opened := FENCE.match(line):
            self._fence, self._module_until = opened[1], -1
            return True
        if CODE_TAG.match(line) and (end := _first_after(self._code_ends, index)):
            self._code_edges += (index, end)
            return True
        return False

    def _begins_module(self, line: str) -> bool:
        """Return True if a paragraph that begins with this line has imports or exports."""
        if IMPORT.match(line):
            return True
        return self._mdx and bool(OPEN_IMPORT.match(line) or EXPORT.match(line))

    def _end_of_module(self, start: int) -> int:
        """Return the last line before a blank one at which all its brackets are closed."""
        first = bisect_left(self._blanks, start)
        for blank in self._blanks[first : first + LONGEST_MODULE]:
            if self._depths[blank] <= self._depths[start]:
                return blank - 1
        return self._blanks[first] - 1

    def _without_comments(self, index: int, line: str) -> str:
        if not any(mark in line for mark in CLOSINGS):
            return line
        last = {match[0]: match.start() for match in MARK.finditer(line)}
        last_closing = {mark: line.rfind(closing) for mark, closing in CLOSINGS.items()}
        parts, position, span = [], 0, ""
        for match in MARK.finditer(line):
            mark, start = match[0], match.start()
            if start < position or (mark == MDX_ONLY and not self._mdx):
                continue
            if span:
                span = "" if mark == span else span
            elif mark.startswith("`"):
                span = mark if last[mark] > start else ""
            elif last_closing[mark] > start:
                parts.append(line[position:start])
                closing = CLOSINGS[mark]
                position = line.index(closing, start + 2) + len(closing)
            elif _first_after(self._closings[mark], index):
                self._comment = CLOSINGS[mark]
                return "".join((*parts, line[position:start])).rstrip()
        return "".join((*parts, line[position:])).rstrip()


def _without(text: str, start: int, tags: Sequence[Tag]) -> str:
    """Return the text, which begins at ``start`` of its source, without tags but for line ends."""
    parts: list[str] = []
    position = 0
    for tag in tags:
        begin, end = tag.start - start, tag.end - start
        parts += (text[position:begin], "\n" * text.count("\n", begin, end))
        position = end
    return "".join((*parts, text[position:]))


def _as_comment(text: str) -> str:
    """Return a comment of HTML with as many lines: a block of its own, which nothing continues."""
    indent = text[: len(text) - len(text.lstrip())]
    return f"{indent}<!--{chr(10) * text.count(chr(10))}-->"


def _opened(line: str) -> int:
    """Number of opening brackets minus closing ones."""
    return sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))


def _first_after(indexes: Sequence[int], index: int) -> int | None:
    place = bisect_right(indexes, index)
    return indexes[place] if place < len(indexes) else None


def closes(line: str, fence: str) -> bool:
    """Return True if a line closes the fence that these characters opened."""
    bare = line.strip(" \t>")
    return len(bare) >= len(fence) and not bare.strip(fence[0])


def _dedented(lines: Sequence[str]) -> list[str]:
    """Dedent the bodies of ``!!! note``, ``??? note`` and ``=== "Tab"``."""
    result: list[str] = []
    bodies: list[int] = []
    fence = ""
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        while bodies and line.strip() and indent < bodies[-1]:
            bodies.pop()
            fence = ""
        moved = line[4 * len(bodies) :] if line.strip() else ""
        result.append(moved)
        if fence:
            fence = "" if closes(moved, fence) else fence
        elif opened := FENCE.match(moved):
            fence = opened[1]
        elif INDENTED_BODY.match(line):
            bodies.append(indent + 4)
    return result
