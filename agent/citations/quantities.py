"""Text -> comparable values: numbers with units, versions, dates, times of day, phone numbers.

Formatting is no change of a value: ``10,000`` is ``10000``, ``5 min`` is ``5m``, ``4 Jan 2027`` is
``2027-01-04``. A value is compared whole and with its unit; ``512 MB`` is not ``512 MiB``.
"""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Literal

Number = int | Fraction
Measure = tuple[str, Number]
"""Dimension and value in its base unit; the dimension is empty for a bare number."""
Date = tuple[int | None, int, int | None]
"""Year, month, day; None where the text does not say."""

_K, _KI = 1_000, 1_024
_WORDS: dict[str, list[Measure]] = {}


def _unit(dimension: str, factor: Number, spellings: str) -> None:
    for spelling in spellings.split():
        word = spelling.replace("_", " ")
        _WORDS.setdefault(word, []).append((dimension, factor))


_unit("s", Fraction(1, 10**9), "ns nanosecond nanoseconds")
_unit("s", Fraction(1, 10**6), "us µs microsecond microseconds")
_unit("s", Fraction(1, 1000), "ms msec msecs millis millisecond milliseconds")
_unit("s", 1, "s sec secs second seconds")
_unit("s", 60, "m min mins minute minutes")
_unit("s", 3_600, "h hr hrs hour hours")
_unit("s", 86_400, "d day days")
_unit("s", 604_800, "w week weeks")
_unit("month", 1, "month months")
_unit("month", 12, "year years yr yrs")
_unit("%", 1, "% percent pct")
_unit("core", Fraction(1, 1000), "m millicore millicores millicpu")
_unit("core", 1, "core cores vcpu vcpus cpu cpus")
_unit("B", 1, "b byte bytes")
for _power, _letter, _word in (
    (1, "k", "kilo"),
    (2, "m", "mega"),
    (3, "g", "giga"),
    (4, "t", "tera"),
):
    _unit("B", _K**_power, f"{_letter}b {_word}byte {_word}bytes")
    _unit("B", _KI**_power, f"{_letter}ib {_letter}i {_word[:2]}bibyte {_word[:2]}bibytes")
    _unit("bit/s", _K**_power, f"{_letter}bps {_letter}bit/s {_letter}b/s")
    _unit("Hz", _K**_power, f"{_letter}hz")
_unit("Hz", 1, "hz")
_unit("", 1, "x times")
_unit("", 1_000, "k thousand")
_unit("", 1_000_000, "million")
_unit("", 1_000_000_000, "billion")
_PER = {"second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "m": 60, "hour": 3_600, "h": 3_600}
_unit("/s", 1, "rps qps tps")
_unit("/s", Fraction(1, 60), "rpm qpm")
for _time, _seconds in _PER.items():
    for _thing in ("request", "requests", "req", "reqs", "query", "queries"):
        _unit("/s", Fraction(1, _seconds), f"{_thing}_per_{_time} {_thing}/{_time}")
    _unit("/s", Fraction(1, _seconds), f"/{_time}")
_unit("$", 1, "$ usd dollar dollars")
_unit("€", 1, "€ eur euro euros")
_unit("£", 1, "£ gbp pounds")
_unit("°C", 1, "°c celsius")

# One letter means what its case says: 5m are minutes (or thousandths of a core), 5M are not.
_LETTERS: dict[str, list[Measure]] = {
    "M": [("", 10**6), ("B", _K**2), ("B", _KI**2)],
    "G": [("B", _K**3), ("B", _KI**3)],
    "T": [("B", _K**4), ("B", _KI**4)],
    "K": [("", 10**3), ("B", _K), ("B", _KI)],
    "B": [("B", 1), ("", 10**9)],
    "g": [("B", _KI**3)],
}
_SPACED_LETTERS = "smh"

_NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six"),
            *("seven", "eight", "nine", "ten", "eleven", "twelve"),
        )
    )
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_MONTHS = {name: number for number, name in enumerate(calendar.month_abbr)}
_MONTH = (
    r"(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_NTH = r"(?:st|nd|rd|th)?"
_ORDINAL = r"(?:st|nd|rd|th)(?![A-Za-z])"

_NUMBER = r"\d{1,3}(?:[,\u00a0\u202f\u2009'’_ ]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_UNIT = "|".join(
    re.escape(word) for word in sorted((w for w in _WORDS if len(w) > 1), key=len, reverse=True)
)
_LONG_UNIT = rf"[ \u00a0\u202f-]?(?:(?i:{_UNIT})(?![A-Za-z])|[%€])"
# "1h30m" goes on with a digit; "5xx" is no number at all.
_SHORT_UNIT = (
    rf"[dhm](?=\d+[hms])|[smhdwkbxKMGTBg](?![\w/])|[ \u00a0][{_SPACED_LETTERS}](?![\w/'’])"
)
_QUANTITY = (
    rf"(?P<money>[$€£])?(?P<number>{_NUMBER})"
    rf"(?:(?P<unit>{_LONG_UNIT}|{_SHORT_UNIT})|(?!(?!{_ORDINAL})[A-Za-z_]))"
)

VALUES = re.compile(
    # What no value begins with is passed over quickly.
    r"(?=[\d+(v$€£.JFMASOND])(?:"
    r"(?P<iso>(?<![\d.-])\d{4}([-/.])\d{1,2}\2\d{1,2}(?![\d-]))"
    r"|(?P<numeric_date>(?<![\d./])\d{1,2}([./])\d{1,2}\4\d{4}(?!\d))"
    rf"|(?P<day_month>(?<![\w.])\d{{1,2}}{_NTH}(?:\sof)?\s{_MONTH}(?:,?\s\d{{4}}(?!\d))?)"
    rf"|(?P<month_day>\b{_MONTH}\s(?:\d{{1,2}}{_NTH}(?![\d:.]\d)\b(?:,?\s\d{{4}}(?!\d))?|\d{{4}}\b))"
    r"|(?P<phone>(?<![\w+])\+\d[\d\s().-]{5,}\d"
    r"|(?<![\w-])(?:\(\d{3}\)\s?|\d{3}[-.\s])?\d{3}-\d{4}(?![\w-]))"
    r"|(?P<clock>(?<![\d:.])\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b)?(?![\d:])"
    r"|(?<![\w.])\d{1,2}\s?[ap]m\b)"
    r"|(?P<version>(?<![\w.])v\d+(?:\.\d+)*(?:[-+][0-9A-Za-z.]*\w)?(?![\w])"
    r"|(?<![\d.])\d+(?:\.\d+){2,}(?:[-+][0-9A-Za-z.]*\w)?)"
    rf"|(?P<quantity>(?:(?<![\w.])(?<![A-Za-z]-)|(?<=\d[dhm])){_QUANTITY}))"
)
_LIST_MARKER = re.compile(r"(?:^[ \t>]*|(?<=[.;:!?] ))\d{1,3}[.)](?=\s)", re.MULTILINE)
_WORD_QUANTITY = re.compile(rf"\b(?P<word>(?i:{'|'.join(_NUMBER_WORDS)}))\b(?P<unit>{_LONG_UNIT})?")
_GLUED_VERSION = re.compile(r"(?<=[A-Za-z])\d+(?:\.\d+)+")
_PORT = re.compile(r":(\d{2,5})(?![\d:])")

Kind = Literal["date", "phone", "clock", "version", "quantity"]


@dataclass(frozen=True, slots=True)
class Value:
    """One value as it stands in a text."""

    start: int
    end: int
    kind: Kind
    text: str
    dates: frozenset[Date] = frozenset()
    key: str = ""
    """Digits of a phone number, minutes of a time of day, a version without its ``v``."""
    number: Number = 0
    measures: frozenset[Measure] = frozenset()
    unit: str = ""
    """The unit as written; empty for a bare number."""


def read_values(text: str) -> Iterator[Value]:
    """The values in ``text``, in order."""
    for match in VALUES.finditer(text):
        kind = match.lastgroup
        if match.group("quantity"):
            yield _quantity(match)
        elif kind and (value := _READERS[_outer(match)](match)):
            yield value


def _outer(match: re.Match[str]) -> str:
    names = ("iso", "numeric_date", "day_month", "month_day", "phone", "clock", "version")
    return next(name for name in names if match.group(name))


def _quantity(match: re.Match[str]) -> Value:
    written = match.group("unit") or match.group("money") or ""
    number = as_number(match.group("number"))
    return Value(
        start=match.start(),
        end=match.end(),
        kind="quantity",
        text=match.group(),
        number=number,
        measures=_measures(number, written),
        unit=written.strip(" \u00a0\u202f-"),
    )


def _measures(number: Number, written: str) -> frozenset[Measure]:
    unit = written.strip(" \u00a0\u202f-")
    if not unit:
        return frozenset({("", number)})
    meanings = _LETTERS.get(unit) or _WORDS[unit.lower()]
    return frozenset((dimension, number * factor) for dimension, factor in meanings)


def as_number(text: str) -> Number:
    """The value of a written number, whatever separates its thousands."""
    if text.isdigit():
        return int(text)
    plain = re.sub(r"[^\d.]", "", text)
    return Fraction(plain) if "." in plain else int(plain)


def _date(match: re.Match[str]) -> Value | None:
    text = match.group()
    parts = [int(part) for part in re.findall(r"\d+", text)]
    if match.group("iso"):
        found = {(parts[0], parts[1], parts[2])}
    elif match.group("numeric_date"):
        found = {(parts[2], parts[1], parts[0]), (parts[2], parts[0], parts[1])}
    else:
        name = re.search(_MONTH, text)
        month = _MONTHS[name.group(1)[:3]] if name else 0
        years = [part for part in parts if part > 31]
        days = [part for part in parts if part <= 31]
        return _as_date(match, {(years[0] if years else None, month, days[0] if days else None)})
    return _as_date(match, {(y, m, d) for y, m, d in found if 1 <= m <= 12 and 1 <= d <= 31})


def _as_date(match: re.Match[str], dates: set[Date]) -> Value:
    return Value(match.start(), match.end(), "date", match.group(), dates=frozenset(dates))


def _phone(match: re.Match[str]) -> Value:
    return _keyed(match, "phone", re.sub(r"\D", "", match.group()))


def _clock(match: re.Match[str]) -> Value:
    text = match.group().lower().replace(".", "")
    parts = [int(part) for part in re.findall(r"\d+", text)]
    hour = parts[0] % 12 + (12 if "p" in text else 0) if text.endswith("m") else parts[0]
    return _keyed(match, "clock", f"{hour}:{parts[1] if len(parts) > 1 else 0:02d}")


def _version(match: re.Match[str]) -> Value:
    return _keyed(match, "version", match.group().lower().removeprefix("v"))


def _keyed(match: re.Match[str], kind: Kind, key: str) -> Value:
    return Value(match.start(), match.end(), kind, match.group(), key=key)


_READERS = {
    "iso": _date,
    "numeric_date": _date,
    "day_month": _date,
    "month_day": _date,
    "phone": _phone,
    "clock": _clock,
    "version": _version,
}


@dataclass(slots=True)
class ValueSet:
    """All values of a source, ready to be asked."""

    measures: set[Measure] = field(default_factory=set)
    numbers: set[Number] = field(default_factory=set)
    """Every number, whatever its unit."""
    bare: set[Number] = field(default_factory=set)
    keys: set[tuple[Kind, str]] = field(default_factory=set)
    dates: set[Date] = field(default_factory=set)
    fold: str = ""

    @classmethod
    def of(cls, text: str) -> "ValueSet":
        found = cls(fold=text.casefold())
        # The marker of a documented step is no figure that the step states.
        text = _LIST_MARKER.sub(lambda marker: " " * len(marker.group()), text)
        for value in read_values(text):
            found._add(value)
        for match in _WORD_QUANTITY.finditer(text):
            number = _NUMBER_WORDS[match.group("word").lower()]
            found._add_number(number, match.group("unit") or "")
        for match in _GLUED_VERSION.finditer(text):
            found.keys.add(("version", match.group()))
        for match in _PORT.finditer(text):
            found._add_number(int(match.group(1)), "")
        return found

    def _add(self, value: Value) -> None:
        if value.kind == "quantity":
            self._add_number(value.number, value.unit)
            self.measures |= value.measures
            text = value.text.strip()
            if "." in text:
                self.keys.add(("version", text))
            for part in re.split(r"[ \u00a0,]", text) if not text.isdigit() else ():
                if part.isdigit():
                    # "80, 443" and "80 443" may be two numbers as well as one.
                    self._add_number(int(part), "")
        elif value.kind == "date":
            self.dates |= value.dates
            self.numbers |= {year for year, _, _ in value.dates if year}
        else:
            self.keys.add((value.kind, value.key))

    def _add_number(self, number: Number, unit: str) -> None:
        self.numbers.add(number)
        self.measures |= _measures(number, unit)
        if not unit:
            self.bare.add(number)

    def holds(self, value: Value, *, counts_things: bool = False) -> bool:
        """Whether the value stands here; ``counts_things``: a noun follows it ("10 revisions")."""
        if value.kind == "date":
            return any(_same_date(asked, known) for asked in value.dates for known in self.dates)
        if value.kind != "quantity":
            return (value.kind, value.key) in self.keys
        if value.unit:
            return self._holds_measure(value)
        if "." in value.text:
            same = ("version", value.text) in self.keys
            return same or (not value.text.endswith("0") and value.number in self.numbers)
        if value.number in self.bare or ("", value.number) in self.measures:
            return True
        return not counts_things and value.number in self.numbers

    def _holds_measure(self, value: Value) -> bool:
        if value.measures & self.measures:
            return True
        # A table has its unit in the heading, a setting has it in its name.
        return value.number in self.bare and bool(_spellings(value.unit).search(self.fold))


@cache
def _spellings(unit: str) -> re.Pattern[str]:
    """Every way to write the unit, standing alone or as a part of ``timeout_seconds``."""
    meanings = set(_WORDS.get(unit.lower(), []))
    words = [w for w, others in _WORDS.items() if len(w) > 1 and meanings & set(others)]
    return re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, words)) or '(?!)'})(?![a-z])")


def _same_date(asked: Date, known: Date) -> bool:
    """What the answer says of the date must be known; it may say less."""
    return all(a is None or a == k for a, k in zip(asked, known, strict=True))
