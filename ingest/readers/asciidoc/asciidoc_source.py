"""AsciiDoc source -> its lines without comments, conditions and settings, attributes replaced.

A line that nobody sees becomes empty, so each line keeps its place. ``{name}`` becomes the value
that this page gives it: people read the value, ask for it and quote it. A name that other files
define, or that two conditions define differently, stays as written. A branch of a condition is left
out only if the page itself says that it is not shown.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

DELIMITER = re.compile(
    r"^(?:-{4,}|={4,}|\.{4,}|\+{4,}|\*{4,}|_{4,}|/{4,}|~{4,}|--|`{3}[\w+-]*|[|,:!]={3,})[ \t]*$"
)
"""First line of a block that ends with the same line."""
VERBATIM = ("----", "....", "++++", "```")
COMMENT = re.compile(r"^//(?!/)|^(?:tag|end)::[\w.-]++\[\][ \t]*$")
"""What nobody sees: a comment, and the edge of a part that other pages include."""
META = re.compile(r"^\[(?:[\w.#%{,\"'\[].*)?\][ \t]*$")
"""Anchor, style or attributes of the block below."""
BLOCK_TITLE = re.compile(r"^\.[^\s.].*$")
UNDERLINE = re.compile(r"^(?:={2,}|-{2,}|~{2,}|\^{2,}|\+{2,})[ \t]*$")
WORD = re.compile(r"\w")

_ENTRY = re.compile(r"^:(!?)(\w[\w-]*+)(!?):(?:[ \t]++(.*))?$")
_DIRECTIVE = re.compile(r"^(ifn?def|ifeval|endif|include)::([^\s\[\]]*+)\[(.*)\][ \t]*$")
_REFERENCE = re.compile(r"(?<!\\)\{(\w[\w-]*+)\}")
_REPLACED = re.compile(r"\bsubs=[\"']?[^\"'\]]*(?:attributes|normal)")
_LONGEST_VALUE = 500
_CHARACTERS = {
    "empty": "",
    "zwsp": "",
    "wj": "",
    "sp": " ",
    "nbsp": " ",
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "plus": "+",
    "vbar": "|",
    "asterisk": "*",
    "caret": "^",
    "tilde": "~",
    "backtick": "`",
    "startsb": "[",
    "endsb": "]",
    "backslash": "\\",
    "apos": "'",
    "quot": '"',
    "deg": "°",
    "two-colons": "::",
    "two-semicolons": ";;",
    "cpp": "C++",
    "pp": "++",
    "lsquo": "‘",
    "rsquo": "’",
    "ldquo": "“",
    "rdquo": "”",
}
"""Attributes that every page has."""


class Closings:
    """The end of each block that begins with a delimiter."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._places: dict[str, list[int]] = defaultdict(list)
        for index, line in enumerate(lines):
            if DELIMITER.match(line) and not is_underline(lines, index):
                self._places[_closing(line)].append(index)

    def of(self, index: int, end: int) -> int | None:
        """Return the last line of the block that begins at a line, or None for ordinary text."""
        line = self._lines[index]
        if not DELIMITER.match(line) or is_underline(self._lines, index):
            return None
        places = self._places[_closing(line)]
        place = bisect_right(places, index)
        return places[place] if place < len(places) and places[place] < end else None


def _closing(line: str) -> str:
    return "```" if line.startswith("```") else line.rstrip()


def is_underline(lines: Sequence[str], index: int) -> bool:
    """Return True for the rule below a title, which is about as long as the title."""
    if index == 0 or not UNDERLINE.match(lines[index]):
        return False
    title = lines[index - 1].rstrip()
    if abs(len(title) - len(lines[index].rstrip())) > 1 or not WORD.search(title):
        return False
    if title[0].isspace() or META.match(title) or BLOCK_TITLE.match(title) or "::" in title:
        return False
    above = lines[index - 2] if index > 1 else ""
    return not above.strip() or bool(META.match(above) or COMMENT.match(above))


def visible_lines(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines of which structure is read, and the same lines with attributes replaced."""
    read = _Pass(lines)
    for index, line in enumerate(lines):
        read.line(index, line)
    return read.structure, read.shown


class _Pass:
    """One pass over the lines, with the attributes and conditions at each line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.structure: list[str] = []
        self.shown: list[str] = []
        self._closings = Closings(lines)
        self._end = len(lines)
        self._values: dict[str, str | None] = dict(_CHARACTERS)
        """None for a name without a value, and for one whose value depends on a condition."""
        self._certain: set[str] = set()
        self._conditions: list[bool] = []
        """True for each open condition whose text is not shown."""
        self._verbatim = self._comment = -1
        self._replaces = False
        self._continued: tuple[str, str] | None = None
        self._room = max(100_000, sum(map(len, lines)))
        """Number of characters that values may still add."""

    def line(self, index: int, line: str) -> None:
        seen = self._seen(index, line)
        self.structure.append(seen)
        replaced = index > self._verbatim or self._replaces
        self.shown.append(_REFERENCE.sub(self._value, seen) if replaced and "{" in seen else seen)

    def _seen(self, index: int, line: str) -> str:
        """Return the line, or an empty one if nobody sees it."""
        if index <= self._comment:
            return ""
        if self._continued:
            self._continue(line)
            return ""
        if directive := _DIRECTIVE.match(line):
            line = self._directive(directive)
        if any(self._conditions):
            return ""
        return line if index <= self._verbatim else self._text(index, line)

    def _text(self, index: int, line: str) -> str:
        if COMMENT.match(line):
            return ""
        if entry := _ENTRY.match(line):
            self._enter(entry)
            return ""
        closing = self._closings.of(index, self._end)
        if closing and line.startswith("////"):
            self._comment = closing
            return ""
        if closing and line.startswith(VERBATIM):
            self._verbatim = closing
        elif META.match(line):
            self._replaces = self._replaces or bool(_REPLACED.search(line))
        elif not BLOCK_TITLE.match(line):
            self._replaces = False
        return line

    def _enter(self, entry: re.Match[str]) -> None:
        before, name, after, value = entry.groups()
        value = (value or "").rstrip()
        if before or after:
            self._set(name, None)
        elif value.endswith((" \\", " +")) or value == "\\":
            self._continued = name, value.rstrip("\\+").rstrip()
        else:
            self._set(name, value)

    def _continue(self, line: str) -> None:
        name, value = self._continued or ("", "")
        more = line.strip()
        value = f"{value} {more.removesuffix(chr(92)).removesuffix(' +').rstrip()}".strip()
        goes_on = more.endswith((" \\", " +"))
        self._continued = (name, value[: _LONGEST_VALUE + 1]) if goes_on else None
        if not goes_on:
            self._set(name, value)

    def _set(self, name: str, value: str | None) -> None:
        if value is not None and len(value) <= _LONGEST_VALUE:
            value = _REFERENCE.sub(lambda match: self._values.get(match[1]) or match[0], value)
        if value is not None and (len(value) > _LONGEST_VALUE or f"{{{name}}}" in value):
            value = None  # or a few lines would grow without a limit
        if not self._conditions:
            self._certain.add(name)
        elif name in self._values and self._values[name] != value:
            value = None
            self._certain.discard(name)
        self._values[name] = value

    def _value(self, reference: re.Match[str]) -> str:
        value = self._values.get(reference[1].lower())
        if value is None or len(value) > self._room:
            return reference[0]
        self._room -= len(value)
        return value

    def _directive(self, directive: re.Match[str]) -> str:
        """Follow a condition; return the text that stands on its line."""
        kind, names, text = directive.groups()
        if kind == "endif":
            if self._conditions:
                self._conditions.pop()
            return ""
        if kind == "include":
            return ""
        hidden = kind != "ifeval" and self._is_hidden(kind, names)
        if kind == "ifeval" or not text:
            self._conditions.append(hidden)
            return ""
        if hidden or not (entry := _ENTRY.match(text)):
            return "" if hidden else text
        if not any(self._conditions):
            self._conditions.append(False)
            self._enter(entry)
            self._conditions.pop()
        return ""

    def _is_hidden(self, kind: str, names: str) -> bool:
        """Return True if the page itself decides the condition against its text."""
        unset = kind == "ifdef"
        decided = [
            name in self._certain and (self._values.get(name) is None) == unset
            for name in names.lower().replace("+", ",").split(",")
        ]
        return any(decided) if unset and "+" in names else all(decided)
