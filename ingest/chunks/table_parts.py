"""Rows of a table and their cells, and the head that names the columns, as text of the file.

Rows joined in order are the text of the block. A row knows the head of its table, so that each
chunk can repeat the names of its columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.readers.parsed_file import Syntax
from ingest.readers.search_text import search_text
from ingest.shorten import shorten_end

LONGEST_HEAD = 400
"""Maximum number of characters of a head that is repeated; a longer one is shortened by cells."""
LONGEST_NAME = 80
"""The same for the name of a row, which is its first cell."""
SHORTEST_COLUMN = 20
"""Minimum number of characters to which the name of a column is shortened."""


@dataclass(frozen=True, eq=False)
class Head:
    """The rows that name a table's columns."""

    at: tuple[int, int]
    """Line and character at which the table begins."""
    text: str
    rows: tuple[tuple[str, ...], ...]
    """Cells of each row, with their markup."""
    syntax: Syntax
    has_bars: bool = False
    """True if bars and a rule make it a table."""
    is_above: bool = False
    """True if its lines are another block, above that of the rows."""

    def repeated(self, row: "Row | None", cells: range | None, longest: int = LONGEST_HEAD) -> str:
        """Return the head for these cells of a row, or for whole rows, within about a limit."""
        rows = self.rows
        if row and cells and all(len(own) == len(row.cells) for own in rows):
            rows = tuple((own[0], *(own[i] for i in cells if i)) for own in rows)
        if rows == self.rows and len(self.text) <= longest:
            return self.text.rstrip("\n")
        share = max(SHORTEST_COLUMN, longest // max(1, sum(map(len, rows))))
        names = [[shorten_end(self._words(cell), share) for cell in own] for own in rows]
        lines = [" | ".join(own) for own in names]
        if self.has_bars:
            lines = [f"| {line} |" for line in lines]
            lines[1:1] = ["|" + " --- |" * len(names[0])] if names else []
        return "\n".join(lines)

    def _words(self, cell: str) -> str:
        return " ".join(search_text(self.syntax, "prose", cell.strip().strip("|")).split())


@dataclass(frozen=True, eq=False)
class Row:
    """A row of a table, or text beside one."""

    at: tuple[int, int]
    """Line of the file, from 0, and character in it, at which the row begins."""
    text: str
    """With the line break at its end."""
    cells: tuple[str, ...] = ()
    head: Head | None = None
    names: bool = False
    """True for a row of the head itself."""
    columns: tuple[tuple[int, int], ...] = ()
    """First and last character of each column, where cells stand beside each other."""

    def of(self, cells: range) -> str:
        """Return the text of some cells."""
        if not self.columns:
            return "".join(self.cells[cells.start : cells.stop])
        first, last = self.columns[cells.start][0], self.columns[cells[-1]][1]
        lines = (line[first:last].rstrip() for line in self.text.rstrip("\n").split("\n"))
        return "\n".join(line for line in lines if line.strip("+-=: "))

    def named(self, part: str) -> list[str]:
        """Return the first line of a part of this row, behind or below the name of the row."""
        name = self._name
        if self.columns or "\n" in name or part[:1].isspace():
            return [*name.rstrip("\n").split("\n"), part]
        if self.head and self.head.has_bars and not part.startswith("|"):
            part = f"| … {part}"
        return [f"{name}{part}" if name.endswith(" ") else f"{name} {part}"]

    @property
    def has_words(self) -> bool:
        return any(map(str.isalnum, self.text))

    @property
    def has_short_name(self) -> bool:
        """True if each part of this row repeats the whole of the first cell."""
        return len(self.cells[0].rstrip("\n")) <= LONGEST_NAME

    @property
    def _name(self) -> str:
        """The first cell, shortened: it says what the row is about."""
        first = self.cells[0].rstrip("\n")
        if len(first) <= LONGEST_NAME:
            return first
        return shorten_end(" ".join(first.split()), LONGEST_NAME)


def cut(text: str, cuts: Sequence[int]) -> tuple[str, ...]:
    """Return the cells; none if there is only one, which is no name for the others."""
    if not cuts:
        return ()
    return tuple(text[a:b] for a, b in pairwise((0, *cuts, len(text))))
