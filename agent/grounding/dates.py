"""Dates, times of day and weekdays in several languages -> their meaning."""

import re
from collections.abc import Set as AbstractSet
from datetime import date as Day

Date = tuple[int | None, int, int | None]
"""Year, month, day; None for the parts that the text leaves out."""

_ENGLISH = [
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
]
_OTHERS = """
januar janvier enero janeiro gennaio
februar février febrero fevereiro febbraio
märz mars marzo março
avril abril aprile
mai mayo maio maggio
juni juin junio junho giugno
juli juillet julio julho luglio
août agosto
septembre septiembre setembro settembre
oktober octobre octubre outubro ottobre
novembre noviembre novembro
dezember décembre diciembre dezembro dicembre
"""
_MONTHS = {name[:3].lower(): number for number, name in enumerate(_ENGLISH, 1)}
_FOREIGN = {
    name: number
    for number, names in enumerate(_OTHERS.strip().split("\n"), 1)
    for name in names.split()
}
_SHORT = "|".join(f"{name[:3]}(?:{name[3:]})?" if name[3:] else name for name in _ENGLISH)
_MONTH = rf"(?:(?:{_SHORT}|Sept)\b\.?)"
_ANY_MONTH = rf"(?:{_MONTH}|(?i:{'|'.join(_FOREIGN)})\b)"
_NTH = r"(?:st|nd|rd|th)?"
_MERIDIEM = r"(?i:[ap]\.?m\b)"

ISO = r"(?<![\d.-])\d{4}([-/.])\d{1,2}\2\d{1,2}(?![\d-])"
NUMERIC = r"(?<![\d./])\d{1,2}([./])\d{1,2}\4\d{4}(?!\d)"
EASTERN = r"(?:(?<!\d)\d{4}年)?(?<!\d)\d{1,2}月\d{1,2}日"
DAY_MONTH = (
    rf"(?<![\w.])\d{{1,2}}(?:st|nd|rd|th|er|\.|º)?(?:\s(?:of|de))?\s{_ANY_MONTH}"
    r"(?:,?(?:\sde)?\s\d{4}(?!\d))?"
)
MONTH_DAY = (
    rf"\b{_MONTH}\s(?:\d{{1,2}}{_NTH}(?![\d:.]\d)\b(?:,?\s\d{{4}}(?!\d))?|\d{{4}}\b)"
    rf"|(?<=\b[Ii]n )(?:{'|'.join(_ENGLISH)})\b"
)
CLOCK = (
    rf"(?<![\d:.])\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s?{_MERIDIEM})?(?![\d:])"
    rf"|(?<![\w.])\d{{1,2}}\s?{_MERIDIEM}|(?<![\w.])\d{{1,2}}\sUhr\b"
    r"|(?<!\d)\d{1,2}[時时点](?![間间])(?:\d{1,2}分)?"
)
MONTH_NAMES = re.compile(rf"\b{_ANY_MONTH}")

ZONES = "UTC|GMT|CES?T|BST|IST|JST|[EPM][SD]T|C[SD]T|MSK|AES?T|SGT|HKT"
_SAME_ZONE = {"UTC": "UTC|GMT|Z", "GMT": "UTC|GMT|Z"}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEKDAYS = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_WORKING = re.compile(
    r"week-?days?|(?:business|working) (?:day|hour)s?"
    r"|\bmon(?:day)?s?\s?(?:-|–|to|through|until)\s?fri",
    re.IGNORECASE,
)


def month_of(text: str) -> int:
    """The number of the month that the text names, or 0."""
    match = MONTH_NAMES.search(text)
    name = match.group().rstrip(".").lower() if match else ""
    return _FOREIGN.get(name) or _MONTHS.get(name[:3], 0)


def read_date(text: str) -> frozenset[Date]:
    """Every day that the written date can mean: 03/04/2027 is one of two."""
    parts = [int(part) for part in re.findall(r"\d+", text)]
    if "月" in text:
        return frozenset({(parts[-3] if len(parts) > 2 else None, parts[-2], parts[-1])})
    if month := month_of(text):
        years = [part for part in parts if part > 31]
        days = [part for part in parts if part <= 31]
        return frozenset({(years[0] if years else None, month, days[0] if days else None)})
    if parts[0] > 31:
        dates = {(parts[0], parts[1], parts[2])}
    else:
        dates = {(parts[2], parts[1], parts[0]), (parts[2], parts[0], parts[1])}
    return frozenset((y, m, d) for y, m, d in dates if 1 <= m <= 12 and 1 <= d <= 31)


def read_clock(text: str) -> str:
    """Hour and minute, read from a 12-hour or a 24-hour clock."""
    folded = text.lower().replace(".", "")
    parts = [int(part) for part in re.findall(r"\d+", folded)]
    half = folded.endswith("m")
    hour = parts[0] % 12 + (12 if "p" in folded else 0) if half else parts[0]
    return f"{hour}:{parts[1] if len(parts) > 1 else 0:02d}"


def same_date(date: Date, documented: Date) -> bool:
    """Return True if the documented date has every part of ``date``, which can have fewer."""
    return all(a is None or a == k for a, k in zip(date, documented, strict=True))


def names_zone(zone: str, text: str) -> bool:
    """Return True if the text names the time zone."""
    return bool(re.search(rf"(?<![A-Za-z])(?:{_SAME_ZONE.get(zone, zone)})(?![A-Za-z])", text)) or (
        zone in _SAME_ZONE and bool(re.search(r"\d(?:Z\b|[+]00:?00)", text))
    )


def names_weekday(day: str, fold: str, dates: AbstractSet[Date]) -> bool:
    """Return True if the text names the weekday, or a date on that weekday."""
    short = day[:3].lower()
    if re.search(rf"\b{short}(?:s|nes|rs|ur)?(?:days?)?\b", fold):
        return True
    if short in ("sat", "sun") and "weekend" in fold:
        return True
    if short not in ("sat", "sun") and _WORKING.search(fold):
        return True
    return any(_weekday(documented) == _DAYS.index(short) for documented in dates)


def _weekday(documented: Date) -> int | None:
    year, month, day = documented
    if not year or not day:
        return None
    try:
        return Day(year, month, day).weekday()
    except ValueError:
        return None
