"""What stands around the text of a Markdown page and is not part of it.

In: the source lines. Out: the lines that are shown (comments, wrapper tags, module lines gone),
and the lines that structure is read from (the same, with the indented bodies of admonitions and
tabs moved out to where they are ordinary Markdown). Both keep one line for each line of the file.
Code is never touched.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
INDENTED_BODY = re.compile(r"^( *)(?:!!!|\?\?\?\+?|===[+!]?) *[\w\"']", re.MULTILINE)
MARK = re.compile(r"`+|<!--|\{/\*")
CLOSINGS = {"<!--": "-->", "{/*": "*/}"}
NAMES = (
    r"(?:details|summary|div|section|article|aside|main|center|figure|figcaption|p"
    r"|[A-Z][a-z]\w*(?:\.\w+)*)"
)
ATTRIBUTES = r"(?:[^<>{}\"'`]|\"[^\"]*\"|'[^']*'|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})*"
WRAPPER = re.compile(rf"</?{NAMES}(?![\w:-]){ATTRIBUTES}>")
COMPONENT = re.compile(r"</?([A-Z][\w.]*)")
CLOSING_TAG = re.compile(r"</([A-Z][\w.]*)\s*>")
WRAPPER_LINE = re.compile(rf"^[ \t]*</?{NAMES}(?![\w:-])")
SPOKEN = re.compile(r"""\b(?:title|label|summary|alt|header|caption)=["']([^"']*)["']""")
IMPORT = re.compile(r"""^import\s*(?:[\w*{][^'"]*\sfrom\s*)?["'][^'"]+["'];?\s*$""")
OPEN_IMPORT = re.compile(r"^import\s*(?:type\s+)?(?:\w+\s*,\s*)?\{[^}]*$")
EXPORT = re.compile(r"^export\s+(?:default|const|let|var|function|class|async|\*|\{)")
TRIGGER = re.compile(r"<|\{/\*|^import\s|^export\s|^ *(?:!!!|\?\?\?|===)", re.MULTILINE)


def unwrapped(lines: Sequence[str], *, mdx: bool) -> tuple[list[str], list[str]]:
    """The lines that are shown, and the lines that structure is read from."""
    if not TRIGGER.search("\n".join(lines)):
        return list(lines), list(lines)
    shown = _Pass(lines, mdx=mdx).shown
    return shown, _dedented(shown) if INDENTED_BODY.search("\n".join(shown)) else shown


class _Pass:
    """One pass over the lines of a page, with what is open at each of them."""

    def __init__(self, lines: Sequence[str], *, mdx: bool) -> None:
        self._mdx = mdx
        self._closed_tags = frozenset(CLOSING_TAG.findall("\n".join(lines)))
        self._closings = {
            mark: [i for i, line in enumerate(lines) if closing in line]
            for mark, closing in CLOSINGS.items()
        }
        self._fence = self._comment = ""
        self._module = self._table = self._nested = self._indented = False
        self._after_blank = True
        self.shown = [self._line(index, line) for index, line in enumerate(lines)]

    def _line(self, index: int, line: str) -> str:
        if self._comment:
            _, closed, line = line.partition(self._comment)
            if not closed:
                return ""
            self._comment = ""
        if self._is_code(line):
            self._after_blank = False
            return line
        if not line.strip():
            self._after_blank, self._module = True, False
            return line
        self._module = self._module or (self._after_blank and self._begins_module(line))
        self._after_blank = False
        if self._module:
            return ""
        line = self._without_comments(index, line)
        self._table = (self._table or "<table" in line) and "</table" not in line
        if not self._table and WRAPPER_LINE.match(line):
            return WRAPPER.sub(self._spoken, line).rstrip()
        return line

    def _is_code(self, line: str) -> bool:
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
            self._fence, self._module = opened[1], False
            return True
        return False

    def _spoken(self, tag: re.Match[str]) -> str:
        """A wrapper tag leaves nothing but the words in its attributes."""
        component = COMPONENT.match(tag[0])
        if component and not (
            self._mdx or tag[0].endswith("/>") or component[1] in self._closed_tags
        ):
            return tag[0]  # nothing closes it: ``<Name>`` is a placeholder, not a component
        return " ".join(SPOKEN.findall(tag[0]))

    def _begins_module(self, line: str) -> bool:
        """Whether a paragraph that begins so is one of imports and exports."""
        if IMPORT.match(line):
            return True
        return self._mdx and bool(OPEN_IMPORT.match(line) or EXPORT.match(line))

    def _without_comments(self, index: int, line: str) -> str:
        if "<!--" not in line and "{/*" not in line:
            return line
        last = {match[0]: match.start() for match in MARK.finditer(line)}
        last_closing = {mark: line.rfind(closing) for mark, closing in CLOSINGS.items()}
        kept, position, span = [], 0, ""
        for match in MARK.finditer(line):
            mark, start = match[0], match.start()
            if start < position or (mark == "{/*" and not self._mdx):
                continue
            if span:
                span = "" if mark == span else span
            elif mark.startswith("`"):
                span = mark if last[mark] > start else ""
            elif last_closing[mark] > start:
                kept.append(line[position:start])
                position = line.index(CLOSINGS[mark], start + 2) + 3
            elif bisect_right(self._closings[mark], index) < len(self._closings[mark]):
                self._comment = CLOSINGS[mark]
                return "".join((*kept, line[position:start])).rstrip()
        return "".join((*kept, line[position:])).rstrip()


def closes(line: str, fence: str) -> bool:
    """Whether a line closes the fence that was opened with these characters."""
    bare = line.strip(" \t>")
    return len(bare) >= len(fence) and not bare.strip(fence[0])


def _dedented(lines: Sequence[str]) -> list[str]:
    """Move the indented bodies of ``!!! note``, ``??? note`` and ``=== "Tab"`` out."""
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
