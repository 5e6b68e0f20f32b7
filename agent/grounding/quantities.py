"""Text -> comparable values: numbers with units, versions, dates, times of day, phone numbers.

Formatting does not change a value: ``10,000`` is ``10000``, ``5 min`` is ``5m``, ``4 Jan 2027`` is
``2027-01-04``, ``ten minutes`` are ``10 minutes``. A value is compared as a whole, with its sign
and its unit.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from agent.grounding import dates
from agent.grounding.dates import Date
from agent.grounding.units import (
    LONG_UNIT,
    NO_WORD_BEFORE,
    RATE,
    SHORT_UNIT,
    Measure,
    Number,
    bare_unit,
    is_duration,
    measures,
)

_SMALL = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS: dict[str, Number] = {word: number for number, word in enumerate(_SMALL)}
_WORDS |= {word: 10 * number for number, word in enumerate(_TENS, 2)}
_LARGE: dict[str, Number] = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

ORDINAL = r"(?:st|nd|rd|th)(?![A-Za-z])"
_THOUSANDS = r"\d{1,3}(?:[,\u00a0\u202f\u2009'’_ ]\d{3})+(?!\d)"
_NUMBER = (
    rf"\d{{1,3}}(?:\.\d{{3}})+,\d{{1,2}}(?!\d)|{_THOUSANDS}(?:\.\d+|,\d{{1,2}}(?![\d,]))?"
    r"|\d+(?:\.\d+|,\d{1,2}(?![\d,.]\d|\d))?|\.\d+"
)
_QUANTITY = (
    rf"(?P<sign>(?:(?<=[\s=(\[{{`'\"|<>])|(?<![^\n]))[-−](?!\d{{1,2}}:\d))?"
    rf"(?P<money>[$€£])?(?P<number>{_NUMBER})"
    rf"(?:(?P<unit>{LONG_UNIT}|{SHORT_UNIT})|(?!(?!{ORDINAL})[A-Za-z_]))(?:{RATE})?"
)
_WORD = (
    rf"\b(?i:(?P<word>(?:{'|'.join(_TENS)})-(?:{'|'.join(_SMALL[1:10])})|{'|'.join(reversed(_SMALL))}"
    rf"|{'|'.join(_TENS)})(?:[ -](?P<large>{'|'.join(_LARGE)}))?)\b(?P<word_unit>{LONG_UNIT})?"
    r"|\b(?i:(?P<part>half|quarter of|quarter) an? (?P<part_unit>hour|minute|day))\b"
    r"|\b(?i:(?:after|within|for|about|takes?|lasts?|than) (?P<one>an?)"
    r" (?P<one_unit>hour|day|week|month))\b"
)
_VALUES = re.compile(
    # Skip characters that cannot begin a value.
    r"(?=[\d+(v$€£.JFMASOND\-−])(?:"
    rf"(?P<iso>{dates.ISO})|(?P<numeric>{dates.NUMERIC})|(?P<eastern>{dates.EASTERN})"
    rf"|(?P<day_month>{dates.DAY_MONTH})|(?P<month_day>{dates.MONTH_DAY})"
    r"|(?P<phone>(?<![\w+])\+\d[\d\s().-]{5,}\d"
    r"|(?<![\w-])(?:\(\d{3}\)\s?|\d{3}[-.\s])?\d{3}-\d{4}(?![\w-]))"
    rf"|(?P<clock>{dates.CLOCK})"
    r"|(?P<version>(?<![\w.])v\d+(?:\.\d+)*(?:[-+][0-9A-Za-z.]*\w)?(?![\w])"
    r"|(?<![\d.])\d+(?:\.\d+){2,}(?!\d|,\d)(?:[-+][0-9A-Za-z.]*\w)?)"
    rf"|(?P<quantity>(?:{NO_WORD_BEFORE}(?<!\.)(?<![A-Za-z]-)|(?<=\d[dhm])){_QUANTITY}))"
)
_SPELT = re.compile(rf"\b(?=[zotfsenhqawlZOTFSENHQAWL])(?:{_WORD})")
_JOINT = re.compile(r"(?:,? and |, | )?")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3}){2,}")
_LONG = 40

ValueKind = Literal["date", "phone", "clock", "version", "quantity"]
_DATES = ("iso", "numeric", "eastern", "day_month", "month_day")


@dataclass(frozen=True, slots=True)
class Value:
    """One value in a text."""

    start: int
    end: int
    kind: ValueKind
    text: str
    dates: frozenset[Date] = frozenset()
    key: str = ""
    """Digits of a phone number, minutes of a time of day, a version without its ``v``."""
    number: Number = 0
    measures: frozenset[Measure] = frozenset()
    unit: str = ""
    """The unit as written, "/s" for a rate of bare numbers; empty for a bare number."""
    amount: frozenset[Measure] = frozenset()
    """A rate without its time: 1,200 requests in "1,200 requests per second"."""
    spelt: bool = False
    """True if the number is written in words: "three"."""
    parts: tuple["Value", ...] = ()
    """The values that this value is put together from: "1 h 30 min", "2,5"."""


def read_values(text: str) -> list[Value]:
    """Read the values in ``text``, in order."""
    values = [_value(match) for match in _VALUES.finditer(text)]
    if spelt := [_spelt(match) for match in _SPELT.finditer(text)]:
        values = sorted([*values, *spelt], key=lambda value: value.start)
    return list(_joined(text, values))


def _value(match: re.Match[str]) -> Value:
    kind = next(name for name in (*_DATES, "phone", "clock", "version", "quantity") if match[name])
    start, end, text = match.start(), match.end(), match.group()
    if kind in _DATES:
        return Value(start, end, "date", text, dates=dates.read_date(text))
    if kind == "phone":
        return Value(start, end, "phone", text, key=re.sub(r"\D", "", text))
    if kind == "clock":
        return Value(start, end, "clock", text, key=dates.read_clock(text))
    if kind == "version" and not _GROUPED.fullmatch(text):
        return Value(start, end, "version", text, key=text.lower().removeprefix("v"))
    if kind == "version":  # 1.284.311
        number = as_number(text.replace(".", ""))
        return Value(start, end, "quantity", text, number=number, measures=measures(number, ""))
    return _quantity(match)


def _quantity(match: re.Match[str]) -> Value:
    written, per = match["unit"] or match["money"] or "", match["time"] or ""
    digits = match["number"]
    sign = -1 if match["sign"] else 1
    readings = [sign * number for number in _readings(digits)]
    value = Value(
        start=match.start(),
        end=match.end(),
        kind="quantity",
        text=match.group(),
        number=readings[0],
        measures=frozenset().union(*(measures(number, written, per) for number in readings)),
        unit=bare_unit(written) + (f"/{per}" if per else ""),
        amount=measures(readings[0], written) if per else frozenset(),
    )
    pieces = digits.split(",")
    if len(pieces) == 2 and len(pieces[1]) < 3 and "." not in digits and not per:
        # "2,5" can be two numbers as well as one.
        first, last = (as_number(piece) for piece in pieces)
        value = replace(
            value,
            parts=(
                replace(value, text=pieces[0], number=first, measures=measures(first, ""), unit=""),
                replace(value, text=pieces[1], number=last, measures=measures(last, written)),
            ),
        )
    return value


def _readings(digits: str) -> list[Number]:
    """Every number that the writing can mean, in the notations of different countries."""
    if "," in digits and len(digits) - digits.rindex(",") < 4:
        return [as_number(re.sub(r"[^\d,]", "", digits).replace(",", "."))]
    if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", digits):
        return [as_number(digits), as_number(digits.replace(".", ""))]
    return [as_number(digits)]


def as_number(text: str) -> Number:
    """The value of a written number, with any separator of thousands."""
    plain = re.sub(r"[^\d.]", "", text)
    if len(plain) > _LONG:
        # Only equality matters, and the decimal form of a long number takes quadratic time.
        return int(plain.replace(".", ""), 16)
    return Fraction(plain) if "." in plain else int(plain)


def _spelt(match: re.Match[str]) -> Value:
    if match["part"]:
        number: Number = Fraction(1, 2 if match["part"].lower() == "half" else 4)
        unit = match["part_unit"]
    elif match["one"]:
        number, unit = 1, match["one_unit"]
    else:
        number = sum(_WORDS[word] for word in match["word"].lower().split("-"))
        number *= _LARGE[match["large"].lower()] if match["large"] else 1
        unit = bare_unit(match["word_unit"] or "")
    start = match.start("one") if match["one"] else match.start()
    return Value(
        start,
        match.end(),
        "quantity",
        match.string[start : match.end()],
        number=number,
        measures=measures(number, unit),
        unit=unit,
        spelt=True,
    )


def _joined(text: str, values: list[Value]) -> Iterator[Value]:
    """1h30m and "1 hour 30 minutes" are one duration."""
    index = 0
    while index < len(values):
        run = [values[index]]
        while index + 1 < len(values) and _goes_on(text, run[-1], values[index + 1]):
            index += 1
            run.append(values[index])
        index += 1
        if len(run) == 1:
            yield run[0]
            continue
        seconds = sum(next(n for d, n in part.measures if d == "s") for part in run)
        yield replace(
            run[0],
            end=run[-1].end,
            text=text[run[0].start : run[-1].end],
            measures=frozenset({("s", seconds)}),
            parts=tuple(run),
        )


def _goes_on(text: str, first: Value, second: Value) -> bool:
    if not (first.unit and second.unit and is_duration(first.unit) and is_duration(second.unit)):
        return False
    one, two = (next(n for d, n in measures(1, v.unit) if d == "s") for v in (first, second))
    return one > two and bool(_JOINT.fullmatch(text, first.end, second.start))


def ordinals(text: str) -> Iterator[Number]:
    """The numbers of places: "third", "p99", "5th"."""
    for match in re.finditer(rf"(?i:\b(?:{'|'.join(_ORDINALS)})\b)|(?<=[A-Za-z])\d{{1,3}}\b", text):
        word = match.group().lower()
        yield int(word) if word.isdigit() else _ORDINALS.index(word) + 3
