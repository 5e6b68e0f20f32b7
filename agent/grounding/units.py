"""Units as people write them, in several languages -> a dimension and a factor.

``5 min``, ``5 Minuten`` and ``5分`` are the same measure; ``512 MB`` and ``512 MiB`` are not.
"""

import re
import unicodedata
from fractions import Fraction

Number = int | Fraction
Measure = tuple[str, Number]
"""Dimension and value in its base unit; the dimension is empty for a bare number."""

_K, _KI = 1_000, 1_024
_WORDS: dict[str, list[Measure]] = {}


def _key(unit: str) -> str:
    """One spelling for units that look the same: both micro signs, a long s, any letter case."""
    return unicodedata.normalize("NFKC", unit).casefold()


def _unit(dimension: str, factor: Number, spellings: str) -> None:
    for spelling in spellings.split():
        word = _key(spelling.replace("_", " "))
        _WORDS.setdefault(word, []).append((dimension, factor))


_unit("s", Fraction(1, 10**9), "ns nanosecond nanoseconds")
_unit("s", Fraction(1, 10**6), "us µs microsecond microseconds")
_unit("s", Fraction(1, 1000), "ms msec msecs millis millisecond milliseconds millisekunden")
_unit("s", Fraction(1, 1000), "millisecondes milisegundos millisecondi 毫秒 ミリ秒 миллисекунд")
_unit("s", 1, "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos")
_unit("s", 1, "secondo secondi seconden 秒 秒間 초 секунда секунды секунд секунду")
_unit("s", 60, "m min mins minute minutes minuten minuto minutos minuti minuut")
_unit("s", 60, "分 分間 分钟 分鐘 분 минута минуты минут минуту")
_unit("s", 3_600, "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur uren")
_unit("s", 3_600, "時間 小时 小時 시간 час часа часов")
_unit("s", 86_400, "d day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen")
_unit("s", 86_400, "日間 天 день дня дней")
_unit("s", 604_800, "w week weeks woche wochen semaine semaines semana semanas settimana settimane")
_unit("s", 604_800, "weken 週間 周 неделя недели недель")
_unit("month", 1, "month months monat monate monaten mois mes meses mês mese mesi maand maanden")
_unit("month", 1, "ヶ月 か月 个月 месяц месяца месяцев")
_unit("month", 12, "year years yr yrs jahr jahre jahren jaar")
_unit("month", 12, "ans année années año años ano anos anni")
_unit("%", 1, "% percent pct prozent pour_cent por_ciento por_cento procent")
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
    _unit("bit", _K**_power, f"{_letter}bit {_letter}bits {_word}bit {_word}bits")
    _unit("bit/s", _K**_power, f"{_letter}bps")
    _unit("Hz", _K**_power, f"{_letter}hz")
_unit("Hz", 1, "hz")
_unit("", 1, "x times")
_unit("", 1_000, "k thousand")
_unit("", 1_000_000, "million")
_unit("", 1_000_000_000, "billion")
_unit("/s", 1, "rps qps tps")
_unit("/s", Fraction(1, 60), "rpm qpm")
_unit("$", 1, "$ usd dollar dollars")
_unit("€", 1, "€ eur euro euros")
_unit("£", 1, "£ gbp pounds")
_unit("°C", 1, "°c celsius")
_unit("°F", 1, "°f fahrenheit")

# The case of a single letter counts: 5m are minutes (or thousandths of a core), 5M are not.
_LETTERS: dict[str, list[Measure]] = {
    "M": [("", 10**6), ("B", _K**2), ("B", _KI**2)],
    "G": [("B", _K**3), ("B", _KI**3)],
    "T": [("B", _K**4), ("B", _KI**4)],
    "K": [("", 10**3), ("B", _K), ("B", _KI)],
    "B": [("B", 1), ("", 10**9)],
    "g": [("B", _KI**3)],
}
_SPACED_LETTERS = "smhd"
_BLANKS = " \u00a0\u202f-"

CJK = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
"""Scripts that write a number and the words around it without blanks."""
NO_WORD_BEFORE = rf"(?<![^\W{CJK}])"


def _alternatives(words: list[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_LONG = [word for word in (*_WORDS, "µs") if len(word) > 1 and not re.match(f"[{CJK}]", word)]
_UNSPACED = [word for word in _WORDS if re.match(f"[{CJK}]", word)]
LONG_UNIT = (
    rf"[ \u00a0\u202f-]?(?:(?i:{_alternatives(_LONG)})(?![^\W\d_{CJK}])"
    rf"|{_alternatives(_UNSPACED)}|[%€$](?![\w{{]))"
)
# A digit can follow a unit, as in "1h30m"; "5xx" is not a number.
SHORT_UNIT = rf"[dhm](?=\d+[hms])|[smhdwkbxKMGTBg](?![\w/])|[ \u00a0][{_SPACED_LETTERS}](?![\w/'’])"
NAMED_UNIT = _alternatives([word for word in _LONG if re.fullmatch("[a-z]+", word)])
_TIMES = {
    word: next(measure for measure in meanings if measure[0] in ("s", "month"))
    for word, meanings in _WORDS.items()
    if any(dimension in ("s", "month") for dimension, _ in meanings) and word not in _UNSPACED
}
RATE = (
    r"(?:(?:\s[^\W\d_][\w-]{0,30}){0,2}?(?:/|\s(?:/|per|pro|par|por|je)\s)"
    r"|(?:\s[^\W\d_][\w-]{0,30})??\s(?:an?|every|each)\s)"
    rf"(?P<time>(?i:{_alternatives(list(_TIMES))})(?![^\W\d_]))"
)
"""The end of a rate: ``/s``, ``requests per second``."""
_BITS = re.compile("[kKMGT]b")
_BYTES_PER_SECOND = re.compile("[kKMGT]Bps")


def bare_unit(written: str) -> str:
    return written.strip(_BLANKS)


def measures(number: Number, written: str, per: str = "") -> frozenset[Measure]:
    """Every measure that the number can mean with this unit, or per this time."""
    unit = bare_unit(written)
    if _BYTES_PER_SECOND.fullmatch(unit):
        unit, per = unit[:-2], "s"
    elif per and _BITS.fullmatch(unit):
        unit += "it"  # 200 Mb/s are not 200 MB/s
    meanings = [("", Fraction(1))] if not unit else _LETTERS.get(unit) or _WORDS.get(_key(unit))
    time, length = _TIMES[_key(per)] if per else ("", 1)
    if per:
        number = Fraction(number) / length
    return frozenset(
        (f"{dimension}/{time}" if per else dimension, number * factor)
        for dimension, factor in meanings or [(_key(unit), 1)]
    )


def names_unit(word: str) -> bool:
    return any(dimension for dimension, _ in _WORDS.get(_key(word), ()))


def names_time(word: str) -> bool:
    return _key(word) in _TIMES


def is_duration(written: str) -> bool:
    return any(dimension == "s" for dimension, _ in measures(1, written))
