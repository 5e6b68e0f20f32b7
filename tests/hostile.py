"""Texts that are hostile to a regular expression, made of the expression itself.

For each repetition: what leads to it, what it repeats, many times, and what it stops at; and what
the expression begins with, many times, for searches that begin anew everywhere.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from re import _compiler, _constants as op, _parser  # type: ignore[attr-defined]
from typing import Any

LETTERS = "aA0_-. \n\t\"'`*:/,;<>[](){}|=#@!?$%&~^+\\é漢\u200d"
ENDS = ("", "\x00", "\n")
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
BOUND = 50
"""A repetition of fewer is bounded anyway."""
WAYS = 5
"""So many ways to write what a part of an expression stands for."""

Tree = Sequence[tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Text:
    """A text of any length: the middle is repeated."""

    lead: str
    pump: str
    end: str

    def of(self, times: int) -> str:
        return self.lead + self.pump * times + self.end


def hostile(pattern: re.Pattern[Any]) -> list[Text]:
    """All that its repetitions and beginnings give."""
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    parsed = _parser.parse(text, pattern.flags & ~(re.DEBUG))
    writer = Writer(parsed)
    pumps = dict.fromkeys((lead, pump) for lead, pump in writer.pumps(list(parsed)) if pump)
    return [Text(lead, pump, end) for lead, pump in pumps for end in writer.ends]


class Writer:
    """Writes what parts of one expression stand for."""

    def __init__(self, parsed: Any) -> None:
        self._state = parsed.state
        self._flags = parsed.state.flags
        self._classes: dict[str, re.Pattern[str]] = {}
        literals = "".join(sorted({chr(c) for c in _literals(list(parsed))}))
        self._letters = "".join(dict.fromkeys(literals[:60] + LETTERS))
        classes = [self._class(item) for item in _classes(list(parsed))]
        liked = {c: sum(bool(one.fullmatch(c)) for one in classes) for c in self._letters}
        self._letters = "".join(sorted(self._letters, key=lambda c: -liked[c]))
        self.ends = ENDS

    def pumps(self, tree: Tree, lead: str = "") -> Iterator[tuple[str, str]]:
        """What leads to each repetition, and what it repeats; and both of them as the pump."""
        for at, (kind, value) in enumerate(tree):
            before = lead + next(self.write(tree[:at]))
            if kind in REPEATS and value[1] > BOUND:
                bodies = list(dict.fromkeys(islice(self.write(list(value[2])), WAYS)))
                yield from ((before, body) for body in bodies)
                yield before, "".join(bodies[:2])
                yield from (("", before + body) for body in ("", *bodies[:2]))
            for part in _parts(value):
                yield from self.pumps(part, before)

    def write(self, tree: Tree) -> Iterator[str]:
        """Some texts that a part stands for, the likeliest first."""
        ways = [list(islice(self._item(kind, value), WAYS)) or [""] for kind, value in tree]
        first = [way[0] for way in ways]
        yield "".join(first)
        for at, way in enumerate(ways):
            for other in way[1:]:
                yield "".join([*first[:at], other, *first[at + 1 :]])

    def _item(self, kind: Any, value: Any) -> Iterator[str]:
        if kind == op.LITERAL:
            yield chr(value)
        elif kind in (op.IN, op.ANY, op.NOT_LITERAL):
            allowed = self._class((kind, value))
            yield from (letter for letter in self._letters if allowed.fullmatch(letter))
        elif kind in REPEATS:
            low, high, body = value
            for one in self.write(list(body)):
                yield one * max(low, min(high, 1))
            if low == 0:
                yield ""
        elif kind == op.SUBPATTERN:
            yield from self.write(list(value[3]))
        elif kind == op.ATOMIC_GROUP:
            yield from self.write(list(value))
        elif kind == op.BRANCH:
            heads = [list(islice(self.write(list(way)), WAYS)) for way in value[1]]
            for rank in range(WAYS):
                yield from (head[rank] for head in heads if rank < len(head))
        elif kind == op.GROUPREF_EXISTS:
            yield from self.write(list(value[1]))
        elif kind == op.AT and value == op.AT_BEGINNING:
            yield from ("", "\n")
        elif kind == op.AT and value == op.AT_END:
            yield from ("", "\n")

    def _class(self, item: tuple[Any, Any]) -> re.Pattern[str]:
        key = repr(item)
        if key not in self._classes:
            alone = _parser.SubPattern(self._state, [item])
            self._classes[key] = _compiler.compile(alone, self._flags)
        return self._classes[key]


def _parts(value: Any) -> Iterator[Tree]:
    if isinstance(value, _parser.SubPattern):
        yield list(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _parts(each)


def _walk(tree: Tree) -> Iterator[tuple[Any, Any]]:
    for kind, value in tree:
        yield kind, value
        for part in _parts(value):
            yield from _walk(part)


def _literals(tree: Tree) -> Iterator[int]:
    for kind, value in _walk(tree):
        if kind in (op.LITERAL, op.NOT_LITERAL):
            yield value
        elif kind == op.IN:
            yield from (each for sort, each in value if sort == op.LITERAL)


def _classes(tree: Tree) -> Iterator[tuple[Any, Any]]:
    return (item for item in _walk(tree) if item[0] in (op.IN, op.ANY, op.NOT_LITERAL))
