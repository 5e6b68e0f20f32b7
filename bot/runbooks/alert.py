"""The text of a message -> the name, service and links of the alert in it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

from bot.reading.addresses import ADDRESS, trimmed
from bot.reading.message import RUNBOOK

_LABEL = r"[\s\"'`*_]*+[:=][\s\"'`*_]*+"
_NAME = re.compile(
    rf"\b(?:alert|alarm|rule|monitor|check)[ _-]?name{_LABEL}"
    r"([^\n,;|(]{1,120}?)(?=\s{1,9}[\w.]{1,99}=|[\n,;|(]|\Z)",
    re.IGNORECASE,
)
_SERVICE = re.compile(
    rf"\b(?:service|app|application|job|component|namespace){_LABEL}([\w.:/-]+)", re.IGNORECASE
)
_STATUS = re.compile(r"\[(?:FIRING|RESOLVED|ALERTING|OK|NO ?DATA)\b", re.IGNORECASE)
_BREAK = re.compile(r"\[[^\[\]]*\]|[(|)]|:\s|\s[-–—]\s")
_PREPOSITION = re.compile(r"\s(?:for|on|in|at|of|is|has)\s")
_MARKUP = re.compile(r"(?<!\S)[*_]*:[\w+-]+:|[*`~]")
_COMPOUND = re.compile(
    r"(?<![\w./-])(?>[A-Za-z][A-Za-z0-9]*?(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z]))\w*+(?![\w/-])"
)
_CODE = re.compile(r"\b[A-Z]{2,}-\d{2,}\b")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_FIRST_LINES = 3
_TITLES = 12
_AROUND = " \t.,:;!#\"'`*_~/-{}[]()<>"


@dataclass(frozen=True, slots=True)
class Alert:
    """The facts by which the runbook of an alert can be found."""

    names: tuple[str, ...] = ()
    """Values of labels such as ``alertname``."""
    titles: tuple[str, ...] = ()
    """Parts of the alert's first lines and titles, any of which may be its name."""
    identifiers: tuple[str, ...] = ()
    """Error codes and compound words, anywhere in the text."""
    services: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    """Links to a runbook: those with that word in the address or on the same line."""
    links: tuple[str, ...] = ()
    """All other links."""


def read_alert(text: str) -> Alert:
    """The text of a message -> the alert in it; a field is empty if the text has nothing for it."""
    addresses, links = _addresses(text)
    words = ADDRESS.sub(" ", text)
    return Alert(
        _distinct(_NAME.findall(words)),
        _distinct(islice(_titles(words), _TITLES)),
        _distinct([*_CODE.findall(words), *_COMPOUND.findall(words)]),
        _distinct(_SERVICE.findall(words)),
        addresses,
        links,
    )


def is_code(name: str) -> bool:
    """Return True if ``name`` is an error code such as ``PAY-4031``."""
    return _CODE.fullmatch(name) is not None


def is_compound(name: str) -> bool:
    """Return True if ``name`` is several words in one, such as ``KubePodCrashLooping``."""
    return _COMPOUND.fullmatch(name) is not None


def words_in(name: str) -> list[str]:
    """The words of a name in lower case: ``QueueDepth`` and ``queue-depth`` have the same two."""
    return [word.lower() for word in _WORD.findall(name)]


def _addresses(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The links to runbooks, first those with that word in the address; and the other links."""
    runbooks: list[str] = []
    links: list[str] = []
    for line in text.split("\n"):
        addresses = list(filter(_can_be_read, map(trimmed, ADDRESS.findall(line))))
        (runbooks if RUNBOOK.search(line) else links).extend(addresses)
    runbooks.sort(key=lambda address: not RUNBOOK.search(address))
    return tuple(dict.fromkeys(runbooks)), tuple(dict.fromkeys(links))


def _can_be_read(address: str) -> bool:
    try:
        return bool(urlsplit(address).netloc)
    except ValueError:  # brackets that do not hold an IPv6 address
        return False


def _titles(words: str) -> Iterator[str]:
    lines = [line for line in words.split("\n") if line.strip()]
    for number, line in enumerate(lines):
        if number < _FIRST_LINES or _STATUS.search(line):
            for part in _BREAK.split(_MARKUP.sub(" ", line[:300])):
                yield part
                if _PREPOSITION.search(part):
                    yield _PREPOSITION.split(part)[0]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    stripped = (name.strip(_AROUND) for name in names)
    return tuple(dict.fromkeys(name for name in stripped if len(name) > 1))
