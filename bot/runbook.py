"""An alert -> the part of the docs that says what to do about it, before any model runs.

The runbook address, the alert's name and its service are read out of the message's text and matched
against the index. What is shown is matched by name or address, never guessed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import unquote, urlsplit

from bot.blocks.addresses import ADDRESS, trimmed
from ingest.documents import Page, Passage
from ingest.index import Index

_LABEL = r"[\s\"'`*_]*[:=][\s\"'`*_]*"
_WHOLE_VALUE = r"([\w.:/-]+)(?=[\"'`*_]*\s*(?:$|[,;|(]))"
_NAME = re.compile(
    rf"\b(?:alert ?name|alarm ?name|alert|monitor){_LABEL}{_WHOLE_VALUE}",
    re.IGNORECASE | re.MULTILINE,
)
_TITLE_NAME = re.compile(r"\[(?:FIRING|RESOLVED|ALERTING|OK)[^\]]*\]\W*([\w.:/-]+)", re.IGNORECASE)
_IDENTIFIER = re.compile(r"\b(?:[A-Z][a-z0-9]+){2,}\b|\b[A-Z]{2,}-\d{2,}\b")
_SERVICE = re.compile(rf"\b(?:service|app|job|component){_LABEL}([\w.:/-]+)", re.IGNORECASE)
_RUNBOOK = re.compile(r"run ?book|playbook", re.IGNORECASE)
_TO_DO = re.compile(
    r"mitigat|remed|what to do|resol|fix|recover|steps|procedure|action", re.IGNORECASE
)
_WHOLE_PAGE = 3_000
"""Characters up to which a page is shown whole."""
_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Alert:
    """What an alert says of itself."""

    names: tuple[str, ...]
    services: tuple[str, ...]
    addresses: tuple[str, ...]
    """Those that are called a runbook, or are called like one."""


@dataclass(frozen=True, slots=True)
class Runbook:
    """The passages for an alert, in the order of their page, and what they were found by."""

    passages: tuple[Passage, ...]
    found_by: str


def read_alert(text: str) -> Alert | None:
    """The text of a message -> the alert in it, if it holds one."""
    addresses: list[str] = []
    for line in text.split("\n"):
        if _RUNBOOK.search(line):
            addresses += filter(_can_be_read, map(trimmed, ADDRESS.findall(line)))
    addresses.sort(key=lambda address: not _RUNBOOK.search(address))
    words = ADDRESS.sub(" ", text)
    names = [*_NAME.findall(words), *_TITLE_NAME.findall(words), *_IDENTIFIER.findall(words)]
    alert = Alert(
        _distinct(names), _distinct(_SERVICE.findall(words)), tuple(dict.fromkeys(addresses))
    )
    return alert if alert.names or alert.addresses else None


def find_runbook(alert: Alert, index: Index) -> Runbook | None:
    """What the docs say about the alert: by its runbook address, else by its name."""
    paths = [info.path for info in index.documents()]
    for address in alert.addresses:
        if (path := _page_of(address, paths)) and (page := index.page(path)):
            fragment = urlsplit(address).fragment
            return Runbook(_section(page, fragment, alert, index), "its runbook link")
    for name in alert.names:
        named = [path for path in paths if _folded(_stem(path)) == _folded(name)]
        if len(named) == 1 and (page := index.page(named[0])):
            return Runbook(_section(page, "", alert, index), f"the alert name {name}")
        if passage := _mentioning(name, alert, index):
            return Runbook((passage,), f"the alert name {name}")
    return None


def _can_be_read(address: str) -> bool:
    try:
        return bool(urlsplit(address).netloc)
    except ValueError:  # brackets around something that is no IPv6 address
        return False


def _page_of(address: str, paths: Sequence[str]) -> str | None:
    """The page whose path the address ends in; None where several fit as well."""
    wanted = _parts(unquote(urlsplit(address).path))
    fits: dict[str, int] = {}
    for path in paths:
        parts = _parts(path)
        if not wanted or not parts:
            continue
        pairs = zip(reversed(wanted), reversed(parts), strict=False)
        fits[path] = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    best = max(fits.values(), default=0)
    pages = [path for path, fit in fits.items() if fit == best]
    return pages[0] if best and len(pages) == 1 else None


def _section(page: Page, fragment: str, alert: Alert, index: Index) -> tuple[Passage, ...]:
    """The section that was linked; a short page whole; else the section that says what to do."""
    passages = page.passages
    linked = [p for p in passages if fragment and _folded(fragment) in map(_folded, p.heading)]
    if linked:
        return tuple(linked[:2])
    if sum(len(passage.text) for passage in passages) <= _WHOLE_PAGE:
        return passages
    for passage in passages:
        if any(_TO_DO.search(heading) for heading in passage.heading):
            return (passage,)
    query = " ".join((*alert.names, *alert.services)) or page.info.title
    return index.search(query, k=1, path=page.info.path).passages or passages[:1]


def _mentioning(name: str, alert: Alert, index: Index) -> Passage | None:
    """The passage that names the alert: in a heading rather than in passing."""
    found = index.search(" ".join((name, *alert.services)), k=_CANDIDATES).passages
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    named = [p for p in found if any(word.search(part) for part in (p.title, *p.heading))]
    said = [p for p in found if word.search(p.text)]
    return next(iter([*named, *said]), None)


def _parts(path: str) -> list[str]:
    parts = [_folded(part) for part in _without_suffix(path).split("/")]
    while parts and parts[-1] in ("readme", "index", ""):
        parts.pop()
    return parts


def _stem(path: str) -> str:
    return _without_suffix(path).rpartition("/")[2]


def _without_suffix(path: str) -> str:
    return re.sub(r"\.(?:mdx?|txt|rst|html?|adoc)$", "", path, flags=re.IGNORECASE)


def _folded(text: str) -> str:
    """Letters and digits alone: ``queue-depth``, ``Queue depth`` and ``QueueDepth`` are one."""
    return re.sub(r"[\W_]+", "", text).lower()


def _distinct(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip(".:/-") for word in words if len(word) > 1))
