"""A directive as data, and the part of a file that it shows -> the lines of that file."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Slice = tuple[int, int | None]

MOST_RANGES = 200
"""Maximum number of ranges of lines that one directive may name."""
EDGE = re.compile(
    r"ANCHOR(?P<close>_END)?:\s*+(?P<anchor>[\w.-]++)"
    r"|(?<![\w\\])(?P<kind>tag|end)::(?P<tag>[\w.-]++)\[\]"
    r"|-8<-+\s*+\[(?P<edge>start|end):\s*+(?P<section>[\w.-]++)\s*+\]"
)
"""A line that begins or ends a named region: of mdBook, AsciiDoc and MkDocs."""
RANGE = re.compile(r"\s*+(\d{1,9})?\s*+(-|:|\.\.)?\s*+(-?\d{1,9})?\s*+")
EVERYTHING = ("*", "**")


class PartMissing(Exception):
    """A part that the file does not have; the reason is its text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A selection of lines; without any condition it is the whole file."""

    names: tuple[str, ...] = ()
    """Named regions; one with ``!`` before it is left out."""
    start_at: str = ""
    """Words of the first line."""
    start_after: str = ""
    """Words of the line before the first one."""
    end_at: str = ""
    end_before: str = ""
    ranges: tuple[Slice, ...] = ()
    """Slices of what the other conditions leave."""
    unsupported: str = ""
    """Name of an option that needs a parser of the included language."""

    @property
    def is_whole(self) -> bool:
        return self == WHOLE

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "Part":
        ranges = tuple((first, last) for first, last in stored.pop("ranges", ()))
        return Part(names=tuple(stored.pop("names", ())), ranges=ranges, **stored)


WHOLE = Part()


@dataclass(frozen=True, slots=True)
class Include:
    """One directive of a page."""

    line: int
    """Number of its line in the file that holds it."""
    target: str
    """The included file, as written."""
    part: Part = WHOLE
    heading: tuple[str, ...] = ()
    """Headings under which it stands."""
    is_literal: bool = False
    """True if the file is shown as code."""
    searches: bool = False
    """True if the file may lie in a folder for includes, above the page or by name."""
    is_certain: bool = True
    """False if the same words can mean something else: a missing file is no fault then."""


def to_text(includes: Iterable[Include]) -> str:
    """Return JSON that ``from_text`` reads."""
    rows = [
        (i.line, i.target, i.part.to_json(), i.heading, i.is_literal, i.searches, i.is_certain)
        for i in includes
    ]
    return json.dumps(rows) if rows else ""


def from_text(text: str) -> tuple[Include, ...]:
    rows: list[list[Any]] = json.loads(text or "[]")
    return tuple(
        Include(line, target, Part.from_json(part), tuple(heading), *flags)
        for line, target, part, heading, *flags in rows
    )


def numbered(text: str, separators: str = ",") -> tuple[Slice, ...]:
    """Read ranges of lines that count from 1, such as ``2-10, 15-`` or ``2:10``."""
    ranges: dict[Slice, None] = {}
    for word in re.split(f"[{separators}]", text):
        match = RANGE.fullmatch(word)
        if not match or not word.strip():
            continue
        first = int(match[1] or 1)
        last = match[3] if match[2] else match[1]
        end = None if last is None or int(last) == -1 else int(last)
        ranges[(max(first - 1, 0), end)] = None
    return tuple(ranges)[:MOST_RANGES]


def lines_of(part: Part, lines: Sequence[str]) -> Iterable[int]:
    """Return the indices of the lines that a part holds. Raises PartMissing."""
    if part.unsupported:
        raise PartMissing(f"the option {part.unsupported} is not supported")
    # The text behind the last line feed is no line.
    kept: Sequence[int] = range(len(lines) - (len(lines) > 1 and not lines[-1]))
    if part.names:
        kept = list(_regions(part.names, lines))
    kept = kept[_first(part, kept, lines) :]
    kept = kept[: _end(part, kept, lines)]
    if not part.ranges:
        return kept
    return {index for first, last in part.ranges for index in kept[first:last]}


def _first(part: Part, kept: Sequence[int], lines: Sequence[str]) -> int:
    if words := part.start_at or part.start_after:
        return _at(words, kept, lines, 0) + (not part.start_at)
    return 0


def _end(part: Part, kept: Sequence[int], lines: Sequence[str]) -> int:
    if words := part.end_at or part.end_before:
        # The first line may have the words of both edges.
        return _at(words, kept, lines, 1 if part.start_at else 0) + bool(part.end_at)
    return len(kept)


def _at(words: str, kept: Sequence[int], lines: Sequence[str], after: int) -> int:
    position = next((n for n in range(after, len(kept)) if words in lines[kept[n]]), None)
    if position is None:
        raise PartMissing(f"no line has {words!r}")
    return position


def _regions(names: Sequence[str], lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines of named regions, without the lines that mark their edges."""
    included = {name for name in names if not name.startswith("!")}
    excluded = {name[1:] for name in names if name.startswith("!")}
    everything = not included or bool(included.intersection(EVERYTHING))
    missing = set() if everything else set(included)
    open_: set[str] = set()
    for index, line in enumerate(lines):
        edges = list(EDGE.finditer(line))
        for edge in edges:
            name = edge["anchor"] or edge["tag"] or edge["section"]
            if edge["close"] or "end" in (edge["kind"], edge["edge"]):
                open_.discard(name)
            elif name in included or name in excluded:
                open_.add(name)
                missing.discard(name)
        is_inside = everything or not included.isdisjoint(open_)
        if not edges and is_inside and excluded.isdisjoint(open_):
            yield index
    if missing:
        raise PartMissing(f"it has no region {', '.join(sorted(missing))}")
