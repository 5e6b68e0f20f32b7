"""Removes the wrapping of a Markdown document: comments, scripts, wrapper tags, module lines.

Source lines in; two lists out: the lines that are shown, and the lines from which structure is
read. The second list also has the indented bodies of admonitions and tabs moved out to ordinary
Markdown, code between template tags put between fences, and merge marks removed. Both have one line
per line of the file. Code is never changed.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

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
NAMES = (
    r"(?:details|summary|div|section|article|aside|main|center|figure|figcaption|p"
    r"|[A-Z][a-z]\w*+(?:\.\w++)*+)"
)
ATTRIBUTES = r"(?:[^<>{}\"'`]++|\"[^\"]*+\"|'[^']*+'|\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\})*+"
WRAPPER = re.compile(rf"</?{NAMES}(?![\w:-]){ATTRIBUTES}>")
COMPONENT = re.compile(r"</?([A-Z][\w.]*)")
CLOSING_TAG = re.compile(r"</([A-Z][\w.]*)\s*>")
WRAPPER_LINE = re.compile(rf"^[ \t]*</?{NAMES}(?![\w:-])")
SPOKEN = re.compile(r"""\b(?:title|label|summary|alt|header|caption)=["']([^"']*)["']""")
IMPORT = re.compile(r"""^import\s*(?:[\w*{][^'"]*\sfrom\s*)?["'][^'"]+["'];?\s*$""")
OPEN_IMPORT = re.compile(r"^import\s*(?:type\s+)?(?:\w+\s*,\s*)?\{[^}]*$")
EXPORT = re.compile(r"^export\s+(?:default|const|let|var|function|class|async|\*|\{)")
LONGEST_MODULE = 100
"""Maximum number of blank lines that are tried as the end of an import or export."""
TRIGGER = re.compile(
    r"<|\{[/{%]|^ {0,3}\[[^\]]+\]:[ \t]*#|^import\s|^export\s|^ *(?:!!!|\?\?\?|===)", re.MULTILINE
)


def unwrapped(lines: Sequence[str], *, mdx: bool) -> tuple[list[str], list[str]]:
    """Return the lines that are shown, and the lines from which structure is read."""
    if not TRIGGER.search("\n".join(lines)):
        return list(lines), list(lines)
    read = _Pass(lines, mdx=mdx)
    structure = read.structure
    if any(line.startswith("<<<<<<< ") for line in structure):
        structure = ["" if MERGE_MARK.match(line) else line for line in structure]
    if INDENTED_BODY.search("\n".join(structure)):
        structure = _dedented(structure)
    return read.visible, structure


class _Pass:
    """One pass over the lines of a document, with the state at each line."""

    def __init__(self, lines: Sequence[str], *, mdx: bool) -> None:
        self._mdx = mdx
        self._blanks = [i for i, line in enumerate((*lines, "")) if not line.strip()]
        self._depths = list(accumulate(map(_opened, lines), initial=0))
        self._closed_tags = frozenset(CLOSING_TAG.findall("\n".join(lines)))
        self._closings = {
            mark: [i for i, line in enumerate(lines) if closing in line]
            for mark, closing in CLOSINGS.items()
        }
        self._code_ends = [i for i, line in enumerate(lines) if CODE_TAG_END.match(line)]
        self._fence = self._comment = ""
        self._code_edges: list[int] = []
        self._module_until = -1
        self._table = self._nested = self._indented = False
        self._after_blank = True
        self.visible: list[str] = []
        self.structure: list[str] = []
        for index, line in enumerate(lines):
            visible = self._line(index, line)
            self.visible.append(visible)
            self.structure.append(CODE_FENCE if index in self._code_edges[-2:] else visible)

    def _line(self, index: int, line: str) -> str:
        if self._comment:
            _, closed, line = line.partition(self._comment)
            if not closed:
                return ""
            self._comment = ""
        if self._is_code(index, line):
            self._after_blank = False
            return line
        if index <= self._module_until:
            return ""
        if not line.strip():
            self._after_blank = True
            return line
        if self._after_blank and self._begins_module(line):
            self._module_until = self._end_of_module(index)
            return ""
        self._after_blank = False
        line = "" if NOWHERE.match(line) else self._without_comments(index, line)
        self._table = (self._table or "<table" in line) and "</table" not in line
        if not self._table and WRAPPER_LINE.match(line):
            return WRAPPER.sub(self._spoken, line).rstrip()
        return line

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

    def _spoken(self, tag: re.Match[str]) -> str:
        """Replace a wrapper tag by the words in its attributes."""
        component = COMPONENT.match(tag[0])
        if component and not (
            self._mdx or tag[0].endswith("/>") or component[1] in self._closed_tags
        ):
            return tag[0]  # without a closing tag ``<Name>`` is a placeholder, not a component
        return " ".join(SPOKEN.findall(tag[0]))

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
