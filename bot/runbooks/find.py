"""An alert -> its runbook in the docs, before any model runs.

The alert's runbook link or its name leads to the runbook. A word that is perhaps the name leads
only to documents that read like a runbook. If several documents fit equally well, none is shown.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import unquote, urlsplit

from bot.reading.message import RUNBOOK
from bot.runbooks.alert import Alert, is_code, is_compound, words_in
from ingest.documents import DocumentInfo, IndexedDocument, Passage
from ingest.index import Index

_TO_DO = re.compile(
    r"\b(?:mitigat|remed|what to do|resol|fix|recover|steps|procedure|action)", re.IGNORECASE
)
_ABOUT_ALERTS = re.compile(
    r"\b(?:alerts?|run ?books?|play ?books?|on ?call|incidents?|troubleshoot(?:ing)?|diagnos\w+"
    r"|mitigat\w+|remediat\w+|symptoms?|what to do)\b"
)
"""Words in the path and the headings of a document about alerts."""
_SUFFIX = re.compile(r"\.(?:mdx?|txt|rst|html?|adoc)$", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[\W_]+")
_WHOLE = 3_000
"""Maximum number of characters of a document or a section that is shown whole."""
_CANDIDATES = 8
_SEARCHES = 6


@dataclass(frozen=True, slots=True)
class Runbook:
    """The passages for an alert, in the order of their document, and how they were found."""

    passages: tuple[Passage, ...]
    found_by: str


def find_runbook(alert: Alert, index: Index) -> Runbook | None:
    """The runbook of the alert, by its link, else by its name; None without a runbook."""
    return _Search(alert, index).run()


class _Search:
    """One search for the runbook of an alert."""

    def __init__(self, alert: Alert, index: Index) -> None:
        self._alert, self._index = alert, index
        self._named: dict[str, set[str]] = defaultdict(set)
        for info in index.documents():
            for name in _names_of(info):
                self._named[name].add(info.path)
        self._searches_left = _SEARCHES

    def run(self) -> Runbook | None:
        alert = self._alert
        for address in (*alert.addresses, *alert.links):
            page = self._page_at(address)
            if page and (passages := self._linked(page, address)):
                return Runbook(passages, "its runbook link")
        for name in alert.names:
            if passages := self._called(name) or self._about(name):
                return Runbook(passages, f"the name {name}")
        for look, names in (
            (self._called, (*alert.titles, *alert.identifiers)),
            (self._about, (*alert.identifiers, *alert.titles)),
        ):
            for name in names:
                if passages := look(name):
                    return Runbook(passages, f"the name {name}")
        return None

    def _page_at(self, address: str) -> IndexedDocument | None:
        """The document that an address opens; None if several documents are possible."""
        wanted = _parts(unquote(urlsplit(address).path))
        is_runbook = address in self._alert.addresses
        fits: dict[int, list[str]] = defaultdict(list)
        for path in sorted(self._named.get(_folded(wanted[-1]), ())) if wanted else ():
            parts = _parts(path)
            fit = _common_end(wanted, parts)
            if (is_runbook and _is_the_same(wanted, parts, fit)) or (
                fit and fit == len(parts) and self._is_in_docs_repo(address, path)
            ):
                fits[fit].append(path)
        return self._one_of(fits[max(fits)]) if fits else None

    def _is_in_docs_repo(self, address: str, path: str) -> bool:
        """Return True if an address leads to the docs repo, at any revision."""
        page = self._index.document(path)
        url = page.own[0].url if page and page.own else None
        return url is not None and _place(url) == _place(address)

    def _one_of(self, paths: Sequence[str]) -> IndexedDocument | None:
        """The only document of these, or the one that shares most words with service or title."""
        for texts in (self._alert.services, self._alert.titles):
            if len(paths) < 2:
                break
            words = {word for text in texts for word in words_in(text)}
            shared = [len(words.intersection(words_in(path))) for path in paths]
            if shared.count(max(shared)) == 1:
                paths = [paths[shared.index(max(shared))]]
        return self._index.document(paths[0]) if len(paths) == 1 else None

    def _called(self, name: str) -> tuple[Passage, ...]:
        """The document with the name of the alert."""
        page = self._one_of(sorted(self._named.get(_folded(name), ())))
        return self._best(page.passages) if page and self._may_lead_to(name, page.info.path) else ()

    def _about(self, name: str) -> tuple[Passage, ...]:
        """The section with this name in its heading, or else a passage that has the name."""
        if len(words_in(name)) < 2 or not self._searches_left:
            return ()
        self._searches_left -= 1
        query = " ".join((name, *self._alert.services))
        passages = self._index.search(query, k=_CANDIDATES).passages
        is_sure = name in self._alert.names or is_code(name) or self._is_title(name)
        word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)

        def names(heading: str) -> bool:
            return _folded(heading) == _folded(name) or bool(is_sure and word.search(heading))

        headed = dict.fromkeys(p.path for p in passages if any(map(names, (p.title, *p.heading))))
        if paths := [p for p in headed if is_code(name) or self._may_lead_to(name, p)]:
            page = self._one_of(paths)
            section = tuple(p for p in page.passages if any(map(names, p.heading))) if page else ()
            return self._best(section or page.passages) if page else ()
        naming = (p for p in passages if is_sure and word.search(p.text))
        return next(((p,) for p in naming if self._may_lead_to(name, p.path)), ())

    def _is_title(self, name: str) -> bool:
        """Return True if a compound word can only be a title: ``TypeError`` may also be a class."""
        return name in self._alert.titles and is_compound(name) and len(words_in(name)) > 2

    def _may_lead_to(self, name: str, path: str) -> bool:
        """Return True if this name may lead to that document.

        A name that is not surely the alert's leads only to a document that reads like a runbook.
        """
        if name in self._alert.names:
            return True
        page = self._index.document(path)
        headings = {h for p in page.passages for h in (p.title, *p.heading)} if page else ()
        return any(_ABOUT_ALERTS.search(" ".join(words_in(text))) for text in (path, *headings))

    def _linked(self, page: IndexedDocument, address: str) -> tuple[Passage, ...]:
        """The section that the address names, else the best part of the document."""
        fragment = _folded(unquote(urlsplit(address).fragment))
        section = tuple(p for p in page.passages if fragment in map(_folded, p.heading))
        return self._best(section if fragment and section else page.passages)

    def _best(self, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        """All passages if they are short; else the passage with the instructions."""
        if sum(len(passage.text) for passage in passages) <= _WHOLE:
            return passages
        for passage in passages:
            if any(_TO_DO.search(heading) for heading in passage.heading[1:]):
                return (passage,)
        alert = self._alert
        query = " ".join((*alert.names, *alert.services)) or passages[0].title
        ids = {passage.id for passage in passages}
        ranked = self._index.search(query, k=_CANDIDATES, path=passages[0].path).passages
        return next(((p,) for p in ranked if p.id in ids), passages[:1])


def _names_of(info: DocumentInfo) -> Iterator[str]:
    """The names of a document: its file or folder and its title, with and without "runbook"."""
    for name in (*_parts(info.path)[-1:], info.title):
        yield _folded(name)
        shorter = RUNBOOK.sub("", name)
        if len(words_in(shorter)) > 1:
            yield _folded(shorter)


def _common_end(wanted: Sequence[str], parts: Sequence[str]) -> int:
    pairs = zip(map(_folded, reversed(wanted)), map(_folded, reversed(parts)), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_the_same(wanted: Sequence[str], parts: Sequence[str], fit: int) -> bool:
    """Return True if an address and a path name the same document.

    The two have ``fit`` common parts at the end. The shorter one has to be the end of
    the longer one: the same file name in another folder is another document. A single word, such as
    ``overview``, is not enough.
    """
    if not fit or fit < min(len(wanted), len(parts)):
        return False
    return fit > 1 or len(wanted) == len(parts) or len(words_in(parts[-1])) > 1


def _place(address: str) -> tuple[str, list[str]]:
    """Host and repo of an address; GitHub's host for raw files counts as GitHub."""
    parts = urlsplit(address)
    host = (parts.hostname or "").replace("raw.githubusercontent.com", "github.com")
    return host, _parts(unquote(parts.path))[:2]


def _parts(path: str) -> list[str]:
    """Folders and file of a path, without suffix and without a last ``README`` or ``index``."""
    path = _SUFFIX.sub("", path)
    parts = [part for part in path.split("/") if _folded(part)]
    while parts and _folded(parts[-1]) in ("readme", "index"):
        parts.pop()
    return parts


def _folded(text: str) -> str:
    """Keep only letters and digits, so that ``queue-depth`` and ``QueueDepth`` are the same."""
    return _PUNCTUATION.sub("", text).lower()
