"""An answer as a tree: what Markdown was read into, and what blocks are written from."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, groupby

HARD_BREAK = "\u2028"
"""A line break that was asked for; ``\\n`` in a run is one that the source merely had."""


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one style."""

    text: str
    marks: tuple[str, ...] = ()
    """Markdown's own delimiters around it, outermost first: ``**``, ``_``, ``~~``."""
    code: bool = False
    url: str | None = None
    cites: str | None = None
    """The chunk id, where the run is a citation."""


Runs = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    runs: Runs


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    runs: Runs


@dataclass(frozen=True, slots=True)
class Code:
    text: str
    """Without the line end before the closing fence."""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    children: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Listing:
    """A list; ``start`` is the first number of an ordered one."""

    items: "tuple[tuple[Node, ...], ...]"
    start: int | None = None
    marker: str = field(default="-", compare=False)
    """``-``, ``*`` or ``+``, or the ``.`` or ``)`` after a number."""
    tight: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Table:
    header: tuple[Runs, ...]
    rows: tuple[tuple[Runs, ...], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    pass


Node = Paragraph | Heading | Code | Quote | Listing | Table | Rule


def merged(runs: Runs) -> Runs:
    """The same runs with neighbours of one style joined and empty ones left out."""
    out: list[Run] = []
    for style, group in groupby(runs, lambda run: (run.marks, run.code, run.url, run.cites)):
        if style[3]:
            out.extend(group)
        elif text := "".join(run.text for run in group):
            out.append(Run(text, *style))
    return tuple(out)


def stripped(runs: Runs) -> Runs:
    """The same runs without blanks at the outer ends; code keeps its own."""
    out = list(merged(runs))
    while out and not out[0].code and not out[0].text.lstrip():
        del out[0]
    while out and not out[-1].code and not out[-1].text.rstrip():
        del out[-1]
    if out and not out[0].code:
        out[0] = replace(out[0], text=out[0].text.lstrip())
    if out and not out[-1].code:
        out[-1] = replace(out[-1], text=out[-1].text.rstrip())
    return tuple(out)


def plain(node: Node) -> str:
    """The words of a node, without markup; code included."""
    match node:
        case Paragraph(runs) | Heading(_, runs):
            return "".join(run.text for run in runs).replace(HARD_BREAK, "\n")
        case Code(text):
            return text
        case Quote(children):
            return "\n".join(map(plain, children))
        case Listing(items):
            return "\n".join(plain(child) for item in items for child in item)
        case Table(header, rows):
            return "\n".join(
                " | ".join("".join(run.text for run in cell) for cell in row)
                for row in (header, *rows)
            )
        case Rule():
            return ""


def cited(nodes: "tuple[Node, ...]") -> tuple[str, ...]:
    """The chunk ids cited in the nodes, each once, in order."""
    return tuple(dict.fromkeys(run.cites for node in nodes for run in runs_of(node) if run.cites))


def runs_of(node: Node) -> Iterator[Run]:
    """Every run of a node and of all within it, in order."""
    for part in within(node):
        match part:
            case Paragraph(runs) | Heading(_, runs):
                yield from runs
            case Table(header, rows):
                for row in (header, *rows):
                    yield from chain.from_iterable(row)


def within(node: Node) -> Iterator[Node]:
    """The node and every node in it, in order."""
    yield node
    inner: Iterable[Node] = ()
    if isinstance(node, Quote):
        inner = node.children
    elif isinstance(node, Listing):
        inner = chain.from_iterable(node.items)
    for child in inner:
        yield from within(child)


def with_runs(node: Node, change: Callable[[Runs], Runs]) -> Node:
    """The same node with its words changed."""
    match node:
        case Paragraph(runs):
            return Paragraph(change(runs))
        case Heading(level, runs):
            return Heading(level, change(runs))
        case Quote(children):
            return Quote(tuple(with_runs(child, change) for child in children))
        case Listing(items):
            changed = (tuple(with_runs(child, change) for child in item) for item in items)
            return replace(node, items=tuple(changed))
        case Table(header, rows):
            return Table(tuple(map(change, header)), tuple(tuple(map(change, r)) for r in rows))
    return node
