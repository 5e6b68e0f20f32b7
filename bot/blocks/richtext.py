"""Syntax tree of an answer -> ``rich_text``, ``table`` and ``divider`` blocks.

Slack parses none of these again, so every character in them is literal. A nested list becomes a
separate list with a deeper indent, since Slack does not nest lists.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, groupby

from markdown_it.tree import SyntaxTreeNode

from bot.blocks.elements import Block, Element
from bot.blocks.inline import Inline
from bot.blocks.runs import Run, Runs

Table = list[list[Runs]]
"""Rows of cells, the header first."""

_COLUMNS = 20
_LONGEST_ROW = 3_500
"""Maximum number of characters, as sent, of a row or the header of a table block."""
_DEEPEST = 8
_CODE = ("fence", "code_block")
_LISTS = ("bullet_list", "ordered_list")


def rich_text(elements: Iterable[Element]) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def section(runs: Runs) -> Element:
    return {"type": "rich_text_section", "elements": list(_inline(runs))}


def preformatted(text: str) -> Element:
    return {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": text}]}


@dataclass(frozen=True)
class RichTextWriter:
    """Writes blocks with the words that ``inline`` reads."""

    inline: Inline

    def blocks(self, tree: SyntaxTreeNode) -> Iterator[Block]:
        """Yield one block for each visible paragraph, list, table and so on."""
        for node in tree.children:
            if node.type == "hr":
                yield {"type": "divider"}
            elif node.type == "table" and _fits_a_block(rows := self._rows(node)):
                yield _table(rows)
            elif elements := list(self._elements(node, 0)):
                yield rich_text(elements)

    def _elements(self, node: SyntaxTreeNode, indent: int) -> Iterator[Element]:
        if node.type in ("paragraph", "heading"):
            if runs := self._runs(node):
                yield section(runs)
        elif node.type in _CODE:
            code, citations = self.inline.code(node.content.removesuffix("\n"))
            if code:
                yield preformatted(code)
            if citations:
                yield section(citations)
        elif node.type == "blockquote":
            yield from self._quote(node, indent)
        elif node.type in _LISTS:
            yield from self._list(node, indent)
        elif node.type == "table":
            lines = [section(line) for line in _lines(self._rows(node))]
            # The deeper indent keeps the table from looking like a part of a list before it.
            yield _list_element("bullet", indent + 1 if indent else 0, 0, lines)
        elif node.type == "hr":
            yield section((Run("—"),))

    def _runs(self, node: SyntaxTreeNode) -> Runs:
        token = node.children[0].token if node.children else None
        runs = self.inline.runs(token.children or ()) if token else ()
        return _bold(runs) if node.type == "heading" else runs

    def _quote(self, node: SyntaxTreeNode, indent: int) -> Iterator[Element]:
        for is_code, group in groupby(node.children, lambda child: child.type in _CODE):
            if is_code:
                yield from chain.from_iterable(self._elements(child, indent) for child in group)
            elif inline := list(self._quoted(group)):
                yield {"type": "rich_text_quote", "elements": inline}

    def _quoted(self, nodes: Iterable[SyntaxTreeNode]) -> Iterator[Element]:
        """The words of a quote, each paragraph and item on a separate line."""
        for number, node in enumerate(nodes):
            if number:
                yield {"type": "text", "text": "\n"}
            if node.type == "blockquote":
                yield from self._quoted(node.children)
            elif node.type in _LISTS:
                first = _start(node)
                for position, item in enumerate(node.children, first or 0):
                    break_ = "\n" if position != (first or 0) else ""
                    mark = "• " if first is None else f"{position}. "
                    yield {"type": "text", "text": break_ + mark}
                    yield from self._quoted(item.children)
            elif node.type in _CODE:
                code, citations = self.inline.code(node.content.removesuffix("\n"))
                yield from _inline((Run(code, code=True), *citations))
            elif node.type == "table":
                for position, line in enumerate(_lines(self._rows(node))):
                    yield from _inline((Run("\n" if position else ""), *line))
            else:
                yield from _inline(self._runs(node))

    def _list(self, node: SyntaxTreeNode, indent: int) -> Iterator[Element]:
        """Items share a list until one of them holds more than words."""
        start = _start(node)
        # Slack counts from 1 on: a list from 0 carries its numbers as words.
        by_hand = start == 0
        style = "bullet" if start is None or by_hand else "ordered"
        items: list[Element] = []
        first = max((start or 1) - 1, 0)
        for offset, item in enumerate(node.children, first):
            runs, below = self._item(item, indent)
            if not (runs or below) and start is None:
                continue
            number = (Run(f"{offset}. "),) if by_hand else ()
            if not items:
                first = offset
            items.append(section((*number, *(runs or (Run(" "),)))))
            if below:
                yield _list_element(style, indent, first, items)
                yield from below
                items = []
        if items:
            yield _list_element(style, indent, first, items)

    def _item(self, item: SyntaxTreeNode, indent: int) -> tuple[Runs, list[Element]]:
        """The words that an item begins with, and the elements below them."""
        words: list[Run] = []
        for number, child in enumerate(item.children):
            if child.type not in ("paragraph", "heading"):
                below = (self._elements(node, indent + 1) for node in item.children[number:])
                return tuple(words), list(chain.from_iterable(below))
            if runs := self._runs(child):
                words += [Run("\n"), *runs] if words else runs
        return tuple(words), []

    def _rows(self, table: SyntaxTreeNode) -> Table:
        rows = chain.from_iterable(part.children for part in table.children)
        return [[_on_one_line(self._runs(cell)) for cell in row.children] for row in rows]


def _start(node: SyntaxTreeNode) -> int | None:
    """The first number of an ordered list; None for a list with bullets."""
    return int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None


def _list_element(style: str, indent: int, offset: int, items: list[Element]) -> Element:
    element: Element = {"type": "rich_text_list", "style": style, "indent": min(indent, _DEEPEST)}
    if style == "ordered" and offset:
        element["offset"] = offset
    return {**element, "elements": items}


def _fits_a_block(rows: Table) -> bool:
    """Return True if a table block can hold this table, cut between rows if necessary."""
    longest = max(len(json.dumps([*map(_cell, row)], ensure_ascii=False)) for row in rows)
    return len(rows[0]) <= _COLUMNS and longest <= _LONGEST_ROW


def _table(rows: Table) -> Block:
    return {
        "type": "table",
        "column_settings": [{"is_wrapped": True}] * len(rows[0]),
        "rows": [[_cell(cell) for cell in row] for row in rows],
    }


def _cell(runs: Runs) -> Element:
    match runs:
        case ():
            return {"type": "raw_text", "text": " "}
        case (Run(text, (), False, None, None),):
            return {"type": "raw_text", "text": text}
    return rich_text([section(runs)])


def _lines(rows: Table) -> Iterator[Runs]:
    """The rows of a table that no table block can hold, the header in bold."""
    for number, row in enumerate(rows):
        line: Runs = ()
        for cell in row:
            line = (*line, Run(" | "), *cell) if line else cell
        yield line if number else _bold(line)


def _bold(runs: Runs) -> Runs:
    return tuple(replace(run, styles=(*run.styles, "bold")) for run in runs)


def _on_one_line(runs: Runs) -> Runs:
    return tuple(
        run if run.code else replace(run, text=" ".join(run.text.splitlines())) for run in runs
    )


def _inline(runs: Runs) -> Iterator[Element]:
    for run in runs:
        if not run.text:
            continue
        element: Element = {"type": "text", "text": run.text}
        if run.url:
            element = {"type": "link", "url": run.url, "text": run.text}
        style = dict.fromkeys(run.styles, True) | ({"code": True} if run.code else {})
        yield {**element, "style": style} if style else element
