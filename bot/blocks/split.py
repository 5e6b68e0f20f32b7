"""Nodes -> groups of pieces, one a message: cut at block borders where possible, nothing lost.

A piece is a node as it will be sent. It goes out as Markdown when a plain reading of that Markdown
gives back the very same node, and as ``rich_text`` otherwise.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from bot.blocks.cuts import as_lines, halves, unwrapped
from bot.blocks.elements import Block
from bot.blocks.nodes import (
    Code,
    Heading,
    Listing,
    Node,
    Paragraph,
    Quote,
    Runs,
    Table,
    merged,
    runs_of,
    with_runs,
    within,
)
from bot.blocks.parse import read_plainly
from bot.blocks.richtext import rich_blocks
from bot.blocks.writing import write_markdown

Style = Literal["markdown", "rich_text"]

_IN_DOUBT = re.compile(r"```|<[!@#]|<[A-Za-z][\w+.-]*:|&(?:#\w+|\w+);")
"""In code, Slack may read these as something else than code, or decode them."""
_IN_DOUBT_IN_TABLE = re.compile(rf"{_IN_DOUBT.pattern}|\|")
_COLUMNS, _ROWS = 20, 100
_RENDERED = 34
_DEEPEST, _LANGUAGE = 6, 40


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
        inner = islice(within(self.node), 1, None)
        return 1 + 2 * sum(isinstance(part, Code | Quote) for part in inner)


def split(nodes: Iterable[Node], room: int, style: Style = "markdown") -> list[list[Piece]]:
    """Nodes -> one list of pieces a message, each list at most ``room`` characters."""
    waiting = deque(_sendable(node) for node in nodes)
    messages: list[list[Piece]] = []
    current: list[Piece] = []
    while waiting:
        node = waiting.popleft()
        piece = _written(node, style) if _may_fit(node, room) else None
        if piece and _fit([*current, piece], room):
            current.append(piece)
            continue
        head: list[Piece] = []
        if not current or not piece or not _fit([piece], room):
            head, rest = _divided(node, current, room, style)
        if head:
            current.extend(head)
            waiting.extendleft(reversed(rest))
        elif current:
            carried = [current.pop().node] if _ends_in_heading(current) else []
            waiting.extendleft([node, *carried])
            messages.append(current)
            current = []
        elif parts := unwrapped(node):
            waiting.extendleft(reversed(parts))
        else:
            current.append(_written(node, style))
    return [*messages, current] if current else messages


def _divided(
    node: Node, before: list[Piece], room: int, style: Style
) -> tuple[list[Piece], list[Node]]:
    """A first part that still goes into this message, and the rest."""
    left = room - sum(piece.size for piece in before)
    if before and left < room // 3:
        return [], [node]
    # Reading back every part that is tried would take seconds, so only the one that is chosen is.
    for write in (_drafted, _written):

        def fits(part: Node, write: Callable[[Node, Style], Piece] = write) -> bool:
            return _may_fit(part, left) and _fit([*before, write(part, style)], room)

        head, rest = halves(node, fits, left)
        pieces = [_written(part, style) for part in head]
        if _fit([*before, *pieces], room):
            return pieces, rest
    return [], [node]


def _may_fit(node: Node, room: int) -> bool:
    """Spares writing what is too long already before it is written."""
    if isinstance(node, Table) and len(node.rows) >= _ROWS:
        return False
    # Not all of its words are counted: what is left of a long list is looked at for every message.
    for part in within(node):
        match part:
            case Code(text):
                room -= len(text)
            case Paragraph(runs) | Heading(_, runs):
                room -= sum(len(run.text) for run in runs)
        if room < 0:
            return False
    return True


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
    """The node as Markdown that was read back, or as rich text."""
    piece = _drafted(node, style)
    if piece.markdown and [_bare(n) for n in read_plainly(piece.markdown)] != [_bare(node)]:
        return _drafted(node, "rich_text")
    return piece


def _drafted(node: Node, style: Style) -> Piece:
    doubt = _IN_DOUBT_IN_TABLE if isinstance(node, Table) else _IN_DOUBT
    if style == "markdown" and not any(doubt.search(code) for code in _codes(node)):
        return Piece(node, markdown=write_markdown(node))
    return Piece(node, blocks=tuple(rich_blocks(node)))


def _sendable(node: Node, depth: int = 0) -> Node:
    """The node without what the block that carries it cannot hold."""
    match node:
        case Heading(level, runs):
            return Heading(level, _on_one_line(runs))
        case Code(text, language):
            return Code(text, re.sub(r"[^\w+#.-]", "", language)[:_LANGUAGE])
        case Table(header, rows):
            cells = [tuple(map(_on_one_line, row)) for row in (header, *rows)]
            table = Table(cells[0], tuple(cells[1:]))
            return as_lines(table) if depth or len(header) > _COLUMNS else table
        case Quote(children):
            return Quote(tuple(_inner(children, depth + 1)))
        case Listing(items):
            return replace(node, items=tuple(tuple(_inner(item, depth + 1)) for item in items))
    return node


def _inner(children: Iterable[Node], depth: int) -> Iterator[Node]:
    """The children; what is nested too deep for a reader stands on the last level allowed."""
    for child in children:
        if depth < _DEEPEST or not isinstance(child, Quote | Listing):
            yield _sendable(child, depth)
            continue
        inner = (child.children,) if isinstance(child, Quote) else child.items
        for nodes in inner:
            yield from _inner(nodes, depth)


def _on_one_line(runs: Runs) -> Runs:
    return tuple(
        run if run.code else replace(run, text=" ".join(run.text.splitlines())) for run in runs
    )


def _bare(node: Node) -> Node:
    """The node with nothing left of what a second reading cannot know."""
    return with_runs(node, lambda runs: merged(tuple(replace(run, cites=None) for run in runs)))


def _codes(node: Node) -> Iterator[str]:
    yield from (part.text for part in within(node) if isinstance(part, Code))
    yield from (run.text for run in runs_of(node) if run.code)
