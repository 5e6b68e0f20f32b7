"""Nodes -> groups of pieces, one group a message: cut at block borders where possible, nothing lost.

A piece is a node as it will be sent. It goes out as Markdown when a plain reading of that Markdown
gives back the very same node, and as ``rich_text`` otherwise.
"""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from bot.cuts import as_lines, halves, unwrapped
from bot.markdown import read_plainly
from bot.nodes import Code, Heading, Listing, Node, Paragraph, Quote, Run, Runs, Table, merged
from bot.richtext import Block, rich_blocks
from bot.writing import write_markdown

Style = Literal["markdown", "rich_text"]

_IN_DOUBT = re.compile(r"```|<[!@#]|<[A-Za-z][\w+.-]*:|&(?:#\w+|\w+);")
"""In code, Slack may read these as something else than code, or decode them."""
_COLUMNS, _ROWS = 20, 100
_RENDERED = 34


@dataclass(frozen=True, slots=True)
class Piece:
    """One node, written."""

    node: Node
    markdown: str = ""
    blocks: tuple[Block, ...] = ()

    @property
    def size(self) -> int:
        """Characters as sent, line ends and quotes escaped."""
        return len(json.dumps(self.blocks or self.markdown, ensure_ascii=False)) + 4

    @property
    def rendered(self) -> int:
        """Blocks that Slack makes of it, at most."""
        return 1 + 2 * sum(isinstance(leaf, Code | Quote) for leaf in _descendants(self.node))


def split(nodes: Iterable[Node], room: int, style: Style = "markdown") -> list[list[Piece]]:
    """Nodes -> one list of pieces a message, each list at most ``room`` characters."""

    def write(node: Node) -> Piece:
        return _written(node, style)

    waiting = deque(_sendable(node) for node in nodes)
    messages: list[list[Piece]] = []
    current: list[Piece] = []
    while waiting:
        node = waiting.popleft()
        piece = write(node)
        if _fit([*current, piece], room):
            current.append(piece)
            continue
        left = room - sum(p.size for p in current)
        head: list[Node] = []
        if not current or (not _fit([piece], room) and left > room // 3):
            before = list(current)
            head, rest = halves(node, lambda part: _fit([*before, write(part)], room), left)
        if head:
            current.extend(map(write, head))
            waiting.extendleft(reversed(rest))
        elif current:
            carried = [current.pop().node] if _ends_in_heading(current) else []
            waiting.extendleft([node, *carried])
            messages.append(current)
            current = []
        elif parts := unwrapped(node):
            waiting.extendleft(reversed(parts))
        else:
            current.append(piece)
    return [*messages, current] if current else messages


def _ends_in_heading(pieces: list[Piece]) -> bool:
    return len(pieces) > 1 and isinstance(pieces[-1].node, Heading)


def _fit(pieces: list[Piece], room: int) -> bool:
    tables = [piece.node for piece in pieces if isinstance(piece.node, Table)]
    return (
        sum(piece.size for piece in pieces) <= room
        and sum(piece.rendered for piece in pieces) <= _RENDERED
        and len(tables) <= 1
        and all(len(table.rows) < _ROWS for table in tables)
    )


def _written(node: Node, style: Style) -> Piece:
    if style == "markdown" and not any(_IN_DOUBT.search(code) for code in _codes(node)):
        markdown = write_markdown(node)
        if [_bare(read) for read in read_plainly(markdown)] == [_bare(node)]:
            return Piece(node, markdown=markdown)
    return Piece(node, blocks=tuple(rich_blocks([node])))


def _sendable(node: Node, nested: bool = False) -> Node:
    """The node without what the block that carries it cannot hold."""
    match node:
        case Heading(level, runs):
            return Heading(level, _on_one_line(runs))
        case Code(text, language):
            return Code(text, re.sub(r"[^\w+#.-]", "", language))
        case Table(header, rows):
            cells = [tuple(map(_on_one_line, row)) for row in (header, *rows)]
            table = Table(cells[0], tuple(cells[1:]))
            return as_lines(table) if nested or len(header) > _COLUMNS else table
        case Quote(children):
            return Quote(tuple(_sendable(child, True) for child in children))
        case Listing(items):
            inner = tuple(tuple(_sendable(child, True) for child in item) for item in items)
            return replace(node, items=inner)
    return node


def _on_one_line(runs: Runs) -> Runs:
    return tuple(
        run if run.code else replace(run, text=" ".join(run.text.splitlines())) for run in runs
    )


def _bare(node: Node) -> Node:
    """The node with nothing left of what a second reading cannot know or need not keep."""

    def bare(runs: Runs) -> Runs:
        return merged(tuple(Run(run.text, run.marks, run.code, run.url) for run in runs))

    match node:
        case Paragraph(runs):
            return Paragraph(bare(runs))
        case Heading(level, runs):
            return Heading(level, bare(runs))
        case Quote(children):
            return Quote(tuple(map(_bare, children)))
        case Listing(items, start):
            return Listing(tuple(tuple(map(_bare, item)) for item in items), start)
        case Table(header, rows):
            return Table(tuple(map(bare, header)), tuple(tuple(map(bare, row)) for row in rows))
    return node


def _descendants(node: Node) -> Iterator[Node]:
    children: Iterable[Node] = ()
    if isinstance(node, Quote):
        children = node.children
    elif isinstance(node, Listing):
        children = (child for item in node.items for child in item)
    for child in children:
        yield child
        yield from _descendants(child)


def _codes(node: Node) -> Iterator[str]:
    for part in (node, *_descendants(node)):
        match part:
            case Code(text):
                yield text
            case Paragraph(runs) | Heading(_, runs):
                yield from (run.text for run in runs if run.code)
            case Table(header, rows):
                for row in (header, *rows):
                    yield from (run.text for cell in row for run in cell if run.code)
