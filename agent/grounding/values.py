"""All values of one chunk, to look up the values of an answer in."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent.grounding.dates import MONTH_NAMES, Date, month_of, same_date
from agent.grounding.quantities import Value, ValueKind, as_number, ordinals, read_values
from agent.grounding.units import NAMED_UNIT, Measure, Number, measures, names_time, names_unit

_LIST_MARKER = re.compile(r"(?:(?:^[ \t>]*|(?<=[.;!?] ))\d{1,3}|(?<=: )1)[.)](?=\s)", re.MULTILINE)
_GLUED_VERSION = re.compile(r"(?<=[A-Za-z])\d+(?:\.\d+)+")
_PORT = re.compile(r":(\d{2,5})(?![\d:])")
_LABEL = re.compile(
    r"(?:(?<=[A-Za-z][_-])|(?<=[(\[])(?:in )?|(?<=[(\[|] )|\bin )(?P<part>[A-Za-z]+|%)(?![A-Za-z])"
    r"|(?<=[a-z])(?P<camel>[A-Z][a-z]+)"
    r"|(?<![\w.])(?<!\d[ -])(?P<word>[A-Za-z][a-z]+|[A-Z]{2,}|%)(?=[)\]]?\s?[:=|])"
    r"|(?:\b[Pp]er |/ ?)(?P<time>[A-Za-z]+)(?=[\w ]{0,20}[)\]]?\s?[:=|])"
)
"""A unit apart from its number: ``timeout_seconds``, ``Limit (MB)``, "in seconds"."""
_PLAIN = r"\d[\d,]*(?:\.\d+)?(?![\w%]|[.,]\d)"
_BEHIND_LABEL = re.compile(rf"(?<=[A-Za-z%])[)\]\"'`*]*\s?[:=|]?\s*[\"'`]?({_PLAIN})")
_RANGE = re.compile(r"\s?(?:[-–—/,]|to|and|or|bis|à|y|et)\s?")
_BARE = re.compile(rf"(?<![\w.,-]){_PLAIN}")
_RULE = re.compile(r"[\s|:]*-[\s|:-]*")
_ONE = re.compile(rf"\b(?:an?|each|every) (?P<unit>(?:{NAMED_UNIT}))\b")
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_TIMES_WORD = re.compile(r"\b(?:once|twice|thrice)\b", re.IGNORECASE)
_CALL = re.compile(r"`(?P<tool>[\w./-]++ )?[^`\n]*+`?")
"""Code marks on one line; their text is a command if it has several words."""
_NOUN = re.compile(r"[ -](?:[a-z]+[ -])?([a-z]{3,})")


@dataclass(slots=True)
class ValueSet:
    """The values by their meaning."""

    measures: set[Measure] = field(default_factory=set)
    numbers: set[Number] = field(default_factory=set)
    """Every number, without its unit."""
    places: set[Number] = field(default_factory=set)
    keys: set[tuple[ValueKind, str]] = field(default_factory=set)
    dates: set[Date] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    """Nouns after a number: "three *replicas*"."""

    @classmethod
    def of(cls, text: str) -> "ValueSet":
        result = cls()
        # The number of a step in the docs is not a value.
        text = _LIST_MARKER.sub(lambda marker: " " * len(marker.group()), text)
        values = read_values(text)
        calls = [(m.end("tool"), m.end()) for m in _CALL.finditer(text) if m["tool"]]
        for value in values:
            result._add(value)
            if value.kind == "quantity" and not value.unit:
                result.counted |= set(nouns(text, value.end))
            if value.number < 0 and _is_argument(text, value.start, calls):
                # "kill -9" sends signal 9.
                result._add_number(-value.number, value.unit)
        for number, unit, per in (*_labelled(text), *_ranges(text, values)):
            result.measures |= measures(number, unit, per)
        for match in _TIMES_WORD.finditer(text):
            result._add_number(_TIMES[match.group().lower()], "")
        for match in _GLUED_VERSION.finditer(text):
            result.keys.add(("version", match.group()))
        for match in _PORT.finditer(text):
            result._add_number(int(match.group(1)), "")
        for match in _ONE.finditer(text):
            result.measures |= measures(1, match["unit"])
        result.dates |= {(None, month_of(m.group()), None) for m in MONTH_NAMES.finditer(text)}
        result.places = {*ordinals(text), *result.numbers}
        return result

    def _add(self, value: Value) -> None:
        for part in value.parts:
            self._add(part)
        if value.kind == "quantity":
            self.numbers.add(value.number)
            self.measures |= value.measures | value.amount
            text = value.text.strip()
            if "." in text:
                self.keys.add(("version", text))
            if re.fullmatch(r"\d+(?:[ \u00a0,]\d+)+", text):
                # "80, 443" and "80 443" can be two numbers as well as one.
                for digits in re.split(r"\D", text):
                    self._add_number(as_number(digits), "")
        elif value.kind == "date":
            self.dates |= value.dates
            self.numbers |= {year for year, _, _ in value.dates if year}
        else:
            self.keys.add((value.kind, value.key))

    def _add_number(self, number: Number, unit: str) -> None:
        self.numbers.add(number)
        self.measures |= measures(number, unit)

    def holds(self, value: Value, *, counts_things: bool = False) -> bool:
        """Return True if the chunk has the value; ``counts_things``: a noun follows ("10 pods")."""
        if self._holds_whole(value, counts_things):
            return True
        return bool(value.parts) and all(self.holds(part) for part in value.parts)

    def _holds_whole(self, value: Value, counts_things: bool) -> bool:
        if value.kind == "date":
            return any(
                same_date(date, documented) for date in value.dates for documented in self.dates
            )
        if value.kind != "quantity":
            return (value.kind, value.key) in self.keys
        if value.unit:
            return bool(value.measures & self.measures)
        if "." in value.text and "," not in value.text:
            same = ("version", value.text.strip()) in self.keys
            if same or (not value.text.endswith("0") and value.number in self.numbers):
                return True
            return len(value.measures) > 1 and bool(value.measures & self.measures)
        if ("", value.number) in self.measures:
            return True
        return not counts_things and value.number in self.numbers


def _ranges(text: str, values: Sequence[Value]) -> Iterator[tuple[Number, str, str]]:
    """Numbers that share the unit of the last one: "2 to 5 minutes", "200/400 ms"."""
    unit, begin = "", 0
    for value in reversed(values):
        joined = unit and value.kind == "quantity" and not value.unit
        if joined and _RANGE.fullmatch(text, value.end, begin):
            yield value.number, unit, ""
        else:
            unit = value.unit.partition("/")[0]
        begin = value.start


def _labelled(text: str) -> Iterator[tuple[Number, str, str]]:
    """Numbers whose unit is in the name of a setting, in the next cell, or in the column's head."""
    columns: dict[int, tuple[str, str]] = {}
    lines = text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if "|" not in line:
            columns = {}
        elif _RULE.fullmatch(following):
            heads = ((at, list(_labels(f"{cell} |"))) for at, cell in enumerate(line.split("|")))
            columns = {at: labels[0][2:] for at, labels in heads if labels}
            continue
        for at, cell in enumerate(line.split("|")) if columns else ():
            for number in _BARE.findall(cell) if at in columns else ():
                yield (as_number(number), *columns[at])
        bare = list(_BARE.finditer(line))
        ends = [number.end() for number in bare]
        for start, end, unit, per in _labels(line) if bare else ():
            behind = _BEHIND_LABEL.match(line, end)
            # The last number before the label has the unit, else the first one after it.
            nearest = bare[max(0, bisect_right(ends, start) - 1)]
            yield as_number(behind[1] if behind else nearest[0]), unit, per


def _labels(line: str) -> Iterator[tuple[int, int, str, str]]:
    for match in _LABEL.finditer(line):
        unit = match["part"] or match["camel"] or match["word"] or ""
        per = match["time"] or ""
        if names_unit(unit) or names_time(per):
            yield match.start(), match.end(), unit, per


def _is_argument(text: str, at: int, calls: Sequence[tuple[int, int]]) -> bool:
    """Return True if an argument of a command in code marks begins at ``at``."""
    place = bisect_right(calls, (at, len(text))) - 1
    return place >= 0 and at < calls[place][1] and text[at - 1] == " "


def nouns(text: str, at: int) -> Iterator[str]:
    """The next word or two, in the singular."""
    match = _NOUN.match(text, at)
    if match:
        words = re.findall(r"[a-z]{3,}", match.group())
        yield from (word.rstrip("s") for word in words)
