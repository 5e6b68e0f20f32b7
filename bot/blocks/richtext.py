"""Nodes -> ``rich_text``, ``table`` and ``divider`` blocks, where every character is literal.

Nothing in these blocks is parsed again, so they show exactly what a ``markdown`` block might read
otherwise.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

from bot.blocks.elements import Block
from bot.blocks.nodes import (
    HARD_BREAK,
    Code,
    Heading,
    Listing,
    Node,
    Paragraph,
    Quote,
    Rule,
    Run,
    Runs,
    Table,
    plain,
)

Element = dict[str, Any]

_STYLES = {"**": "bold", "__": "bold", "*": "italic", "_": "italic", "~~": "strike"}


def rich_blocks(node: Node) -> list[Block]:
    """The block of a node; none where nothing of it would be seen."""
    match node:
        case Table():
            return [_table(node)]
        case Rule():
            return [{"type": "divider"}]
    elements = list(_elements(node, 0))
    return [{"type": "rich_text", "elements": elements}] if elements else []


def _elements(node: Node, indent: int) -> Iterator[Element]:
    match node:
        case Paragraph() | Heading():
            yield _section(_words(node))
        case Code(text):
            if text:
                code = {"type": "text", "text": text}
                yield {"type": "rich_text_preformatted", "elements": [code]}
        case Quote(children):
            for is_code, group in groupby(children, lambda child: isinstance(child, Code)):
                if is_code:
                    yield from chain.from_iterable(_elements(child, indent) for child in group)
                elif inline := list(_quoted(group)):
                    yield {"type": "rich_text_quote", "elements": inline}
        case Listing():
            yield from _listing(node, indent)
        case _:
            yield _section((Run(plain(node) or "—"),))


def _words(node: Paragraph | Heading) -> Runs:
    if isinstance(node, Paragraph):
        return node.runs
    return tuple(replace(run, marks=(*run.marks, "**")) for run in node.runs)


def _listing(listing: Listing, indent: int) -> Iterator[Element]:
    """Items that are words each share a list; what stands below an item's words ends it."""
    # Slack counts from 1 on: a list from 0 carries its numbers as words.
    by_hand = listing.start == 0
    style = "bullet" if listing.start is None or by_hand else "ordered"
    current: Element | None = None
    for offset, item in enumerate(listing.items, max((listing.start or 1) - 1, 0)):
        runs, below = _begun(item)
        section = _section((Run(f"{offset}. "), *runs) if by_hand else runs or (Run(" "),))
        if current:
            current["elements"].append(section)
        else:
            current = _list_element(style, indent, offset, section)
        if below:
            yield current
            current = None
        yield from chain.from_iterable(_elements(child, indent + 1) for child in below)
    if current:
        yield current


def _begun(item: tuple[Node, ...]) -> tuple[Runs, tuple[Node, ...]]:
    """The words that an item begins with, and what stands below them."""
    runs: list[Run] = []
    for number, child in enumerate(item):
        if not isinstance(child, Paragraph | Heading):
            return tuple(runs), item[number:]
        runs += [Run("\n"), *_words(child)] if runs else _words(child)
    return tuple(runs), ()


def _list_element(style: str, indent: int, offset: int, section: Element) -> Element:
    element: Element = {"type": "rich_text_list", "style": style, "indent": min(indent, 8)}
    if style == "ordered" and offset:
        element["offset"] = offset
    return {**element, "elements": [section]}


def _quoted(children: Iterable[Node]) -> Iterator[Element]:
    for number, child in enumerate(children):
        if number:
            yield {"type": "text", "text": "\n"}
        if isinstance(child, Paragraph | Heading):
            yield from _inline(child.runs)
        elif isinstance(child, Quote):
            yield from _quoted(child.children)
        elif isinstance(child, Code):
            yield from _inline((Run(child.text, code=True),))
        elif isinstance(child, Listing):
            for position, item in enumerate(child.items, child.start or 0):
                mark = "• " if child.start is None else f"{position}. "
                yield {
                    "type": "text",
                    "text": ("\n" if position != (child.start or 0) else "") + mark,
                }
                yield from _quoted(item)
        elif text := plain(child):
            yield {"type": "text", "text": text}


def _table(table: Table) -> Block:
    return {
        "type": "table",
        "rows": [[_cell(cell) for cell in row] for row in (table.header, *table.rows)],
    }


def _cell(runs: Runs) -> Element:
    match runs:
        case ():
            return {"type": "raw_text", "text": " "}
        case (Run(text, (), False, None, None),):
            return {"type": "raw_text", "text": text}
    return {"type": "rich_text", "elements": [_section(runs)]}


def _section(runs: Runs) -> Element:
    return {"type": "rich_text_section", "elements": list(_inline(runs))}


def _inline(runs: Runs) -> Iterator[Element]:
    for run in runs:
        text = run.text if run.code else re.sub(HARD_BREAK, "\n", run.text)
        if not text:
            continue
        element: Element = {"type": "text", "text": text}
        if run.url:
            element = {"type": "link", "url": run.url, "text": text}
        style = {_STYLES[mark]: True for mark in run.marks}
        if run.code:
            style["code"] = True
        yield {**element, "style": style} if style else element
