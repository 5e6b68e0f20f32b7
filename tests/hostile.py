"""Texts that are hostile to a regular expression, derived from the expression itself.

For each repetition: a text that leads to it, its content many times, and a text that ends it; and
the leading text many times, for a search that starts anew at each place. In addition, for every
expression, runs of punctuation and of common openings without an end.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from re import _compiler, _parser  # type: ignore[attr-defined]
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any

Tree = Sequence[tuple[Any, Any]]
"""A part of an expression, as Python parses it."""

LETTERS = "aA0_-. \n\t\"'`*:/,;<>[](){}|=#@!?$%&~^+\\é漢\u200d"
ENDS = ("", "\x00")
LINE_ENDS = (*ENDS, "\n")
PIECES = (
    *LETTERS,
    *("a b ", "a1 ", "A1", "a.", "a-", "a/", "1,", "1.", "x\n\n", " \n", "αж", "、。", "…"),
    *("[a](", "\\[", "[[", "]]", "![", "<a ", "</", "<!--", "-->", "<a|", "&a;", "``` ", "`a` "),
    *("- ", "> ", "|a", "a@", "://a", "a:", '"a" ', '{"k": 0, ', "please stop in here "),
)
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
BOUND = 50
"""A repetition with at most this many rounds is cheap for any text."""
WAYS = 5
"""Most example texts for one part of an expression."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of any length: its middle is repeated."""

    lead: str
    pump: str
    end: str = ""

    def of(self, times: int) -> str:
        return self.lead + self.pump * times + self.end


def hostile(pattern: re.Pattern[Any]) -> list[Text]:
    """The hostile texts of an expression, and those that every expression gets."""
    source = pattern.pattern
    writer = _Writer(
        source.decode("latin-1") if isinstance(source, bytes) else source, pattern.flags
    )
    ends = LINE_ENDS if {".", "$"} & {*writer.source} else ENDS
    own = dict.fromkeys(pump for pump in writer.pumps(writer.tree) if pump[1])
    return [
        *(Text(lead, pump, end) for lead, pump in own for end in ends),
        *(Text("", piece, "\x00") for piece in PIECES),
    ]


class _Writer:
    """Writes example texts for the parts of one expression."""

    def __init__(self, source: str, flags: int) -> None:
        self.source = source
        parsed = _parser.parse(source, flags)
        self.tree: Tree = list(parsed)
        self._state, self._flags = parsed.state, parsed.state.flags
        self._classes: dict[str, re.Pattern[str]] = {}
        items = list(_walk(self.tree))
        literals = "".join(dict.fromkeys(chain.from_iterable(map(_literals, items))))[:60]
        classes = [
            self._class(item) for item in items if item[0] in (op.IN, op.ANY, op.NOT_LITERAL)
        ]
        # What many parts take is likeliest to be taken in many ways.
        self._letters = sorted(
            dict.fromkeys(literals + LETTERS),
            key=lambda letter: -sum(one.fullmatch(letter) is not None for one in classes),
        )

    def pumps(self, tree: Tree, lead: str = "") -> Iterator[tuple[str, str]]:
        """For each repetition: the text that leads to it and its content; then both together,
        repeated."""
        for at, (kind, value) in enumerate(tree):
            before = lead + next(self._write(tree[:at]))
            if kind in REPEATS and value[1] > BOUND:
                bodies = list(dict.fromkeys(islice(self._write(list(value[2])), WAYS)))
                yield from ((before, body) for body in (*bodies, "".join(bodies[:2])))
                yield from (("", before + body) for body in ("", *bodies[:2]))
            for part in _parts(value):
                yield from self.pumps(part, before)

    def _write(self, tree: Tree) -> Iterator[str]:
        """Some texts that match a part, the likeliest first."""
        ways = [list(islice(self._item(kind, value), WAYS)) or [""] for kind, value in tree]
        first = [way[0] for way in ways]
        yield "".join(first)
        for at, way in enumerate(ways):
            for other in way[1:]:
                yield "".join([*first[:at], other, *first[at + 1 :]])

    def _item(self, kind: Any, value: Any) -> Iterator[str]:
        match kind:
            case op.LITERAL:
                yield chr(value)
            case op.IN | op.ANY | op.NOT_LITERAL:
                allowed = self._class((kind, value))
                yield from (letter for letter in self._letters if allowed.fullmatch(letter))
            case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT:
                low, high, body = value
                yield from (one * max(low, min(high, 1)) for one in self._write(list(body)))
            case op.SUBPATTERN:
                yield from self._write(list(value[3]))
            case op.ATOMIC_GROUP:
                yield from self._write(list(value))
            case op.BRANCH:
                written = [list(islice(self._write(list(way)), WAYS)) for way in value[1]]
                for rank in range(WAYS):
                    yield from (ways[rank] for ways in written if rank < len(ways))

    def _class(self, item: tuple[Any, Any]) -> re.Pattern[str]:
        """One set of characters as an expression of its own."""
        if (key := repr(item)) not in self._classes:
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


def _literals(item: tuple[Any, Any]) -> Iterator[str]:
    kind, value = item
    if kind in (op.LITERAL, op.NOT_LITERAL):
        yield chr(value)
    elif kind == op.IN:
        yield from (chr(each) for sort, each in value if sort == op.LITERAL)
