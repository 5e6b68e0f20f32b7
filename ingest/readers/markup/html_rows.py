"""Lines of HTML tables and definition lists in Markdown -> rows as a reader sees them.

Source lines are cut before each row, so that a table that is written on one line has a shown line
for each row; cells are separated by bars. Links and images stay as written.
"""

import re
from dataclasses import dataclass
from html import unescape

from ingest.readers.markup.tags import TaggedText

BEGINS = re.compile(
    r"^[ \t>]*</?(?:table|caption|colgroup|col|thead|tbody|tfoot|tr|td|th|dl|dt|dd)(?=[\s/>])", re.I
)
ENDS = re.compile(r"</(?:table|dl)\s*+>", re.I)
OPENS = re.compile(r"<(?:table|dl)(?=[\s/>])", re.I)
ROW = re.compile(r"(?=<(?:tr|dt)(?=[\s/>]))|(?=</(?:table|dl)\s*+>)", re.I)
KEPT = frozenset({"a", "img", "pre"})
SIGNS = {"td": " | ", "th": " | ", "dd": ": ", "li": " - ", "br": " ", "p": " ", "div": " "}
CODE = frozenset({"code", "kbd", "samp", "tt"})


def cut_at_rows(line: str) -> list[str]:
    """Return the line in parts that begin with a row; joined they are the line."""
    cuts = [match.start() for match in ROW.finditer(line) if line[: match.start()].strip()]
    return [line[a:b] for a, b in zip([0, *cuts], [*cuts, len(line)], strict=True)]


@dataclass
class HtmlRows:
    """The rows of one document, in order."""

    cells: int = 0
    """Number of cells of the current row so far."""

    def shown(self, line: str) -> str:
        """Return what a reader sees of a part of a line."""
        parts: list[str] = []
        position = 0
        is_code = False
        for tag in TaggedText(line).tags():
            name = tag.name.lower()
            text = line[position : tag.start]
            parts.append(unescape(text) if is_code else text)
            position = tag.end
            if name in KEPT or tag.words or not (tag.is_element or tag.has_values):
                parts.append(line[tag.start : tag.end])
            elif name in CODE:
                is_code = not tag.is_closing
                parts.append("`")
            elif not tag.is_closing:
                parts.append(self._sign(name))
        if not position:
            return line
        text = " ".join("".join((*parts, line[position:])).split())
        return text if text.strip(" |:-") else ""

    def _sign(self, name: str) -> str:
        if name == "tr":
            self.cells = 0
        elif name in ("td", "th"):
            self.cells += 1
            if self.cells == 1:
                return ""
        return SIGNS.get(name, "")
