"""Jupyter notebook: its Markdown and code cells, without outputs -> lines and blocks of Markdown.

Code cells are shown as fenced blocks. Each line keeps its number in the JSON file.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from ingest.invisible import without_hidden
from ingest.readers.credentials import masked
from ingest.readers.decoding import with_line_feeds
from ingest.readers.markdown import markdown_blocks
from ingest.readers.parsed_file import FileBlock, ParsedFile, UnreadableDocument, moved


def read_notebook(lines: Sequence[str]) -> ParsedFile:
    """Read a notebook of format 3 or 4. Raises UnreadableDocument."""
    source = "\n".join(lines)
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise UnreadableDocument(f"malformed: not the JSON of a notebook ({error})") from error
    language, cells = _contents(notebook)
    numbers_in_file = _LineNumbers(source)
    visible: list[str] = []
    numbers: list[int] = []
    blocks: list[FileBlock] = []
    masked_lines: list[int] = []
    for kind, source_lines in cells:
        cell_numbers = numbers_in_file.of_cell(source_lines)
        text, cell_lines = masked(without_hidden("\n".join(source_lines)))
        masked_lines += (cell_numbers[line - 1] for line in cell_lines)
        shown = map(str.rstrip, text.split("\n"))
        numbered = list(zip(shown, cell_numbers, strict=True))
        if kind == "code":
            numbered = _fenced(numbered, language)
        cell, cell_blocks, indexes = markdown_blocks([line for line, _ in numbered])
        blocks.extend(moved(block, len(visible)) for block in cell_blocks)
        visible.extend((*cell, ""))
        numbers.extend(numbered[index][1] for index in indexes)
        numbers.append(numbers[-1])
    return ParsedFile(
        "markdown",
        tuple(visible),
        tuple(blocks),
        tuple(numbers),
        masked_lines=tuple(masked_lines),
    )


def _contents(notebook: object) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return the language, and the kind and lines of each cell with text."""
    if not isinstance(notebook, dict):
        raise UnreadableDocument("malformed: the JSON is not a notebook")
    cells, sheets = notebook.get("cells"), notebook.get("worksheets")
    if not isinstance(cells, list) and isinstance(sheets, list):
        cells = [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet["cells"]]
    if not isinstance(cells, list):
        raise UnreadableDocument("malformed: the JSON is not a notebook")
    return _language(notebook), [read for cell in cells if (read := _read_cell(cell))]


def _read_cell(cell: object) -> tuple[str, list[str]] | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("markdown", "code", "heading"):
        return None
    text = cell.get("source", cell.get("input"))
    text = "".join(filter(_is_text, text)) if isinstance(text, list) else text
    if not _is_text(text) or not text.strip():
        return None
    # An escape can mean half a surrogate pair, which cannot be stored.
    lines = with_line_feeds(text.encode(errors="replace").decode()).strip("\n").split("\n")
    if cell["cell_type"] == "heading":
        return "markdown", ["#" * int(cell.get("level", 1)) + " " + " ".join(lines)]
    return cell["cell_type"], lines


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _language(notebook: dict[str, object]) -> str:
    metadata = notebook.get("metadata")
    for key, entry in (("language_info", "name"), ("kernelspec", "language")):
        section = metadata.get(key) if isinstance(metadata, dict) else None
        name = section.get(entry) if isinstance(section, dict) else None
        if isinstance(name, str) and name.isidentifier():
            return name
    return ""


@dataclass
class _LineNumbers:
    """Finds the line numbers of cells, in one pass from the beginning of the file."""

    source: str
    position: int = 0
    line: int = 1

    def of_cell(self, lines: Sequence[str]) -> list[int]:
        begin = self.source.find('"source"', self.position)
        self._move(begin)
        return [self._number(line) for line in lines]

    def _number(self, line: str) -> int:
        if not line.strip():
            return self.line
        # Characters outside ASCII may be escaped or not.
        spellings = (json.dumps(line, ensure_ascii=plain)[1:-1] for plain in (False, True))
        nearby = self.position + 20_000 + 2 * len(line)
        matches = (self.source.find(text, self.position, nearby) for text in spellings)
        self._move(next((match for match in matches if match >= 0), -1))
        return self.line

    def _move(self, position: int) -> None:
        if position > self.position:
            self.line += self.source.count("\n", self.position, position)
            self.position = position


def _fenced(numbered: list[tuple[str, int]], language: str) -> list[tuple[str, int]]:
    fence = "```"
    while any(line.lstrip().startswith(fence) for line, _ in numbered):
        fence += "`"
    return [(fence + language, numbered[0][1]), *numbered, (fence, numbered[-1][1])]
