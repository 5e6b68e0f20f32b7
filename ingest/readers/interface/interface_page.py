"""Words of a described interface, with their lines in the file -> the ParsedFile."""

from collections.abc import Sequence

from ingest.readers.interface.yaml_nodes import Node
from ingest.readers.parsed_file import FileBlock, ParsedFile, UnreadableDocument

MOST_GROWTH = 10
"""Maximum length of a page in lengths of its file: references and aliases repeat what they name."""
ALWAYS_ROOM = 1_000_000
"""Number of characters that every page may have."""
_LINE = 20
"""Number of characters that a line costs besides its text."""

Line = tuple[str, int]
"""Text, and the number of its line in the file."""


class Page:
    """The lines and blocks so far. Within a section, numbers grow and stay within its lines."""

    def __init__(self, lines: int | None, size: int) -> None:
        """``size``: number of characters of the file."""
        self._room = ALWAYS_ROOM + MOST_GROWTH * size
        self._most = lines
        """Number of lines of a file whose lines are not those of the nodes."""
        self._lines: list[str] = []
        self._numbers: list[int] = []
        self._blocks: list[FileBlock] = []
        self._section = self._first, self._last = 1, 1

    def heading(self, level: int, label: str, first: int, last: int) -> None:
        """Begin a section, for these lines of the file."""
        self._end_section()
        self._first, self._last = first, max(first, last)
        self._add([(label, first)])
        end = len(self._lines)
        self._blocks.append(FileBlock("heading", end - 1, end, level, label))

    def section_of_root(self) -> None:
        """Let the lines of what follows lie anywhere after the section's first one."""
        self._end_section()
        self._last = 10**9

    def paragraph(self, node: Node | None) -> None:
        """Add a text that may have several paragraphs."""
        if node is None or not node.text:
            return
        text = node.text.strip("\n").split("\n")
        self._lines.append("")
        self._numbers.append(self._number(node.first))
        start = len(self._lines)
        self._add([(line, min(node.first + i, node.last)) for i, line in enumerate(text)])
        for index in range(start, len(self._lines) + 1):
            if index == len(self._lines) or not self._lines[index].strip():
                if index > start:
                    self._blocks.append(FileBlock("prose", start, index))
                start = index + 1

    def line(self, text: str, number: int) -> None:
        """Add a line of its own."""
        self._add([(text, number)])
        self._blocks.append(FileBlock("prose", len(self._lines) - 1, len(self._lines)))

    def group(self, label: str, items: Sequence[Line]) -> None:
        """Add lines under a label, which is repeated where they are cut."""
        if not items:
            return
        head = (0, 0)
        if label:
            self._add([(label, items[0][1])])
            head = len(self._lines) - 1, len(self._lines)
            self._blocks.append(FileBlock("prose", *head))
        for text, number in items:
            words = text.lstrip()
            self._add([(f"{text[: len(text) - len(words)]}- {words}", number)])
            end = len(self._lines)
            self._blocks.append(FileBlock("prose", end - 1, end, head=head))

    def parsed(self, title: Node | None) -> ParsedFile:
        """Return the whole page."""
        self._end_section()
        most = self._most
        numbers = [min(number, most) for number in self._numbers] if most else self._numbers
        words = " ".join(title.text.split()) if title and title.text else ""
        return ParsedFile(
            "markdown", tuple(self._lines), tuple(self._blocks), tuple(numbers), title=words
        )

    def _add(self, lines: Sequence[Line]) -> None:
        for text, number in lines:
            self._room -= _LINE + len(text)
            if self._room < 0:
                raise UnreadableDocument("huge: its references and aliases repeat too much")
            self._lines.append(text.rstrip())
            self._numbers.append(self._number(number))

    def _number(self, number: int) -> int:
        before = self._numbers[-1] if self._numbers else self._first
        floor = max(self._first, min(before, self._last))
        return max(floor, min(number, self._last))

    def _end_section(self) -> None:
        """Let the last line of a section stand for all that follows in the file's own lines."""
        if self._numbers and self._last < 10**9:
            self._numbers[-1] = max(self._numbers[-1], self._last)
