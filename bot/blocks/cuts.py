"""One node too long for a message -> a part that fits and the rest, cut where it hurts least."""

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from bot.blocks.nodes import (
    Code,
    Heading,
    Listing,
    Node,
    Paragraph,
    Quote,
    Run,
    Runs,
    Table,
    stripped,
)

Fits = Callable[[Node], bool]
Nodes = tuple[Node, ...]

_LINE_END = re.compile(r"[\n\u2028](?!\[)")
_SENTENCE_END = re.compile(r"(?:[.!?](?=\s)|[。！？])(?:\s?\[[^\[\]\n]+\])*")
"""Citations after a sentence stay with it."""
_BLANK = re.compile(r"\s(?![\s\[])")
_LONG_CODE, _LONG_WORD = 300, 100
_LONG_LINE = 7_500
"""Characters as sent; a shorter line of code fits whole into the next message."""
_GOES_ON = Paragraph((Run("…"),))
"""Stands where an item began that goes on with what is nested in it."""


def halves(node: Node, fits: Fits, room: int) -> tuple[list[Node], list[Node]]:
    """The longest part of the node that fits, and what is left; no part where nothing fits."""
    match node:
        case Paragraph(runs):
            head, rest = _cut_runs(runs, lambda part: fits(Paragraph(part)), room)
            return ([Paragraph(head)] if head else []), [Paragraph(rest)] if rest else []
        case Heading(level, runs):
            head, rest = _cut_runs(runs, lambda part: fits(Heading(level, part)), room)
            return ([Heading(level, head)] if head else []), [Paragraph(rest)] if rest else []
        case Code():
            return _cut_code(node, fits, room)
        case Table(header, rows):
            count = _most(min(len(rows) - 1, room), lambda n: fits(Table(header, rows[:n])))
            return _pair(count, Table(header, rows[:count]), Table(header, rows[count:]))
        case Quote(children):
            part, left = _cut_children(children, lambda c: fits(Quote(c)), room)
            return ([Quote(part)] if part else []), [Quote(left)] if left else []
        case Listing():
            return _cut_listing(node, fits, room)
    return [], [node]


def unwrapped(node: Node) -> list[Node]:
    """The same words with one level of structure less; nothing where there is no structure."""
    match node:
        case Quote(children):
            return list(children)
        case Table():
            return [as_lines(node)]
        case Listing(items) if items:
            rest = [_tail(node, 1)] if len(items) > 1 else []
            return [*items[0], *rest]
    return []


def as_lines(table: Table) -> Listing:
    """A table too wide for a table block: a row a line, the header first."""
    header = tuple(
        tuple(replace(run, marks=("**", *run.marks)) for run in cell) for cell in table.header
    )
    rows = tuple((Paragraph(_row(row)),) for row in (header, *table.rows))
    # A marker of its own, since the lines may follow a list.
    return Listing(rows, marker="+")


def _row(cells: tuple[Runs, ...]) -> Runs:
    out: list[Run] = []
    for number, cell in enumerate(cells):
        out.extend([Run(" | "), *cell] if number else cell)
    return stripped(tuple(out))


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to ``limit`` for which it holds: doubled till it fails, then halved."""
    low, high = 0, 1
    while high < limit and holds(high):
        low, high = high, high * 2
    high = min(high, max(limit, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _pair(count: int, head: Node, rest: Node) -> tuple[list[Node], list[Node]]:
    return ([head], [rest]) if count else ([], [rest])


def _cut_children(children: Nodes, fits: Callable[[Nodes], bool], room: int) -> tuple[Nodes, Nodes]:
    count = _most(min(len(children), room), lambda n: fits(children[:n]))
    part, left = children[:count], children[count:]
    if left and (not part or isinstance(left[0], Quote | Listing)):
        first, rest = halves(left[0], lambda node: fits((*part, node)), room)
        part, left = (*part, *first), (*rest, *left[1:])
    return part, left


def _cut_listing(listing: Listing, fits: Fits, room: int) -> tuple[list[Node], list[Node]]:
    items = listing.items
    count = _most(min(len(items) - 1, room), lambda n: fits(replace(listing, items=items[:n])))
    if count:
        return [replace(listing, items=items[:count])], [_tail(listing, count)]
    part, left = _cut_children(items[0], lambda item: fits(replace(listing, items=(item,))), room)
    if not part or part == (_GOES_ON,):
        return [], [listing]
    return [replace(listing, items=(part,))], _left(listing, left)


def _left(listing: Listing, left: Nodes) -> list[Node]:
    """The rest of a list, after a part of its first item: what is nested there stays nested."""
    rest = [_tail(listing, 1)] if len(listing.items) > 1 else []
    if not any(isinstance(node, Listing) for node in left):
        return [*left, *rest]
    item = left if isinstance(left[0], Paragraph) else (_GOES_ON, *left)
    if listing.start is None:
        return [replace(listing, items=(item, *listing.items[1:]))]
    return [Listing((item,), tight=listing.tight), *rest]


def _tail(listing: Listing, count: int) -> Listing:
    start = None if listing.start is None else listing.start + count
    return replace(listing, items=listing.items[count:], start=start)


def _cut_code(code: Code, fits: Fits, room: int) -> tuple[list[Node], list[Node]]:
    lines = code.text.split("\n")
    count = _most(
        min(len(lines) - 1, room), lambda n: fits(replace(code, text="\n".join(lines[:n])))
    )
    if count:
        head, rest = "\n".join(lines[:count]), "\n".join(lines[count:])
    elif len(json.dumps(lines[0], ensure_ascii=False)) < _LONG_LINE:
        return [], [code]
    else:
        at = _most(min(len(lines[0]) - 1, room), lambda n: fits(replace(code, text=lines[0][:n])))
        at = _whole_character(code.text, at)
        head, rest = code.text[:at], code.text[at:]
    return _pair(len(head), replace(code, text=head), replace(code, text=rest))


def _cut_runs(runs: Runs, fits: Callable[[Runs], bool], room: int) -> tuple[Runs, Runs]:
    text = "".join(run.text for run in runs)
    at = _most(min(len(text) - 1, room), lambda n: fits(stripped(_slice(runs, 0, n))))
    at = _good_place(runs, text, at)
    return stripped(_slice(runs, 0, at)), stripped(_slice(runs, at, len(text)))


def _slice(runs: Runs, first: int, last: int) -> Runs:
    out: list[Run] = []
    position = 0
    for run in runs:
        if position >= last:
            break
        part = run.text[max(first - position, 0) : max(last - position, 0)]
        if part:
            out.append(replace(run, text=part))
        position += len(run.text)
    return tuple(out)


def _good_place(runs: Runs, text: str, at: int) -> int:
    """The last line end, sentence end or blank before ``at`` that is not too far back."""
    whole = _whole_spans(runs)
    for border in (_LINE_END, _SENTENCE_END, _BLANK):
        # Whether a place is good depends on what follows it, beyond the part that fits.
        found = takewhile(lambda match: match.end() <= at, border.finditer(text, at // 2))
        places = [match.end() for match in found]
        for place in reversed(places):
            if not any(start < place < end for start, end in whole):
                return place
    for start, end in whole:
        if start < at < end and start:
            return start
    return _whole_character(text, at) if at > _LONG_WORD else 0


def _whole_spans(runs: Runs) -> list[tuple[int, int]]:
    """Where links, citations and short code stand."""
    spans: list[tuple[int, int]] = []
    position = 0
    for run in runs:
        end = position + len(run.text)
        if run.url or run.cites or (run.code and len(run.text) <= _LONG_CODE):
            spans.append((position, end))
        position = end
    return spans


def _whole_character(text: str, at: int) -> int:
    """The nearest place before ``at`` that is not within what is seen as one character."""
    place = at
    while 1 < place < len(text) and _joined(text[place - 1], text[place]):
        place -= 1
    return place if place > 1 else at


def _joined(before: str, after: str) -> bool:
    return (
        "\u200d" in (before, after)
        or after in "\ufe0e\ufe0f"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or unicodedata.combining(after) != 0
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")
    )
