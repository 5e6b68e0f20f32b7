"""Directives of pages -> the files that pages show: each one a document of its own.

Each file is visited once a round, however many pages include it, and there are few rounds: cycles
and files that multiply cost no more than the files themselves.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.chunks.chunker import chunk_prefix
from ingest.invisible import visible_line
from ingest.pipeline.include_paths import IncludePaths
from ingest.pipeline.plan import INCLUDED, Plan, PlannedFile, is_included
from ingest.readers.includes.shown_part import WHOLE, Include, Part, from_text
from ingest.readers.kinds.recognition import suffix_of
from ingest.readers.loader import (
    CODE,
    EMPTY,
    READERS,
    Document,
    Showing,
    UnreadableDocument,
    load,
)
from ingest.repo import Checkout, File
from ingest.repo.checkout import Entry
from ingest.repo.repo_paths import NotInRepo, follow, from_docs_root, from_top
from ingest.store.include_tables import NOTHING, Shown, StoredIncludes

MOST_ROUNDS = 10
"""Maximum depth of files that include files."""
MOST_PARTS = 500
"""Maximum number of different parts that are read of one file."""
PLAIN = ("", ".txt", ".text")
"""Suffixes that say nothing about the syntax of a file that a page includes."""
MOST_NAMED = 10
"""Maximum number of warnings about files that are not read, before their number alone."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A document that includes."""

    title: str
    includes: tuple[Include, ...]
    suffix: str
    heading: tuple[str, ...] = ()
    """Headings above it, on the page that shows it."""


@dataclass(slots=True)
class IncludedFile:
    """A file that is indexed because pages show it."""

    file: File
    page: _Page
    """The first page that shows it."""
    include: Include
    suffix: str
    parts: dict[Part, None] = field(default_factory=dict)

    def planned(self, prefix: str = "") -> PlannedFile:
        return PlannedFile(self.file, prefix, self.signature, self.showing)

    @property
    def showing(self) -> Showing:
        parts = (WHOLE,) if WHOLE in self.parts else tuple(self.parts)
        heading = (*self.page.heading, *self.include.heading)
        return Showing(self.suffix, parts, self.page.title, heading)

    @property
    def signature(self) -> str:
        """A text that changes whenever the stored rows have to."""
        showing = self.showing
        parts = sorted(json.dumps(part.to_json(), sort_keys=True) for part in showing.parts)
        how = json.dumps((showing.suffix, parts, showing.title, showing.heading))
        digest = hashlib.sha256(how.encode()).hexdigest()[:16]
        return f"{self.file.fingerprint}{INCLUDED}{digest} {self.file.updated_at} {self.file.owner}"


class Includes:
    """Collects the directives of pages; then finds the files, and reads what these include."""

    def __init__(
        self,
        checkout: Checkout,
        stored: Mapping[str, tuple[str, str]],
        directives: Mapping[str, StoredIncludes],
    ) -> None:
        """``stored``: prefix and signature of each stored document, by path."""
        self.files: dict[str, IncludedFile] = {}
        """Files to index, by path from the docs root."""
        self.shown: list[Shown] = []
        self._checkout = checkout
        self._pages = {file.path: file for file in checkout.files}
        self._followed: set[str] = set()
        self._stored = stored
        self._directives = directives
        self._read: dict[str, _Page | None] = {}
        self._uses: dict[tuple[str, str], dict[Part, int]] = {}
        self._problems: dict[str, None] = {}
        self._refused: dict[str, str] = {}

    def note(self, path: str, document: Document | None) -> None:
        """Keep the directives of a page that was read; None for one that cannot be read."""
        self._read[path] = (
            _Page(document.title, document.includes, suffix_of(path))
            if document and document.includes
            else None
        )

    def plan(self, pages: Plan, without_vectors: Collection[str]) -> Plan:
        """Find what pages show when all of them are read; return the plan of these files.

        Files and links that are found leave the skipped and the missing ones of the pages' plan.
        """
        self._find()
        known = self.files.keys() | self._followed
        pages.skipped = [file for file in pages.skipped if file.path not in known]
        pages.missing = [path for path in pages.missing if path not in self.files]
        plan = Plan(pages.files)
        used = {*self._pages, *map(chunk_prefix, self._pages)}
        for path, included in sorted(self.files.items()):
            prefix = path if chunk_prefix(path) in used else chunk_prefix(path)
            while prefix in used:
                prefix += "_"
            used |= {path, prefix}
            before = self._stored.get(path)
            has_vectors = path not in without_vectors
            plan.add(included.planned(prefix), before, has_vectors=has_vectors)
            if before == (prefix, included.signature) and path in self._directives:
                self.note_missing(path, self._directives[path].missing)
        return plan

    def _find(self) -> None:
        """Find the files that pages show, and those that these files show."""
        waiting = {path: page for path in sorted(self._pages) if (page := self._page(path))}
        links = [s.path for s in self._checkout.skipped if self._checkout.selection.is_page_link(s)]
        if not waiting and not links:
            return
        self._paths = IncludePaths(self._checkout)
        self._follow(links)
        for _round in range(MOST_ROUNDS):
            if not (grown := self._include(waiting)):
                break
            waiting = {
                path: page for path in grown if (page := self._included_page(self.files[path]))
            }
        self.shown = sorted(self._pairs())

    def warnings(self) -> Iterator[str]:
        """Name what pages show and the index lacks."""
        problems = list(self._problems)
        yield from problems[:MOST_NAMED]
        if (more := len(problems) - MOST_NAMED) > 0:
            yield f"{more} more included files are not read."

    def note_missing(self, path: str, reasons: Sequence[str]) -> None:
        """Warn about a file that pages include, or about parts of it."""
        source = min((page for target, page in self._uses if target == path), default="")
        for reason in reasons:
            if reason == EMPTY:  # such as links and substitutions for other pages
                continue
            self._warn(source, self.files[path].include, path, reason)

    def _page(self, path: str) -> _Page | None:
        if path in self._read:
            return self._read[path]
        directives, stored = self._directives.get(path), self._stored.get(path)
        if directives is None or stored is None or is_included(stored[1]):
            return None
        return _Page(directives.title, from_text(directives.directives), suffix_of(path))

    def _follow(self, links: Sequence[str]) -> None:
        """Find the files that symbolic links lead to."""
        found: list[tuple[str, Include, _Page, Entry]] = []
        for link in links:
            try:
                entry = follow(self._checkout, from_top(self._checkout, link))
            except NotInRepo:
                continue  # it stays among the files that are left out
            found.append((link, Include(1, link), _Page("", (), suffix_of(link)), entry))
        self._add(found)
        self._followed = {page for _path, page in self._uses}

    def _include(self, pages: Mapping[str, _Page]) -> list[str]:
        """Add what these pages include; return the files of which more is shown now."""
        found: list[tuple[str, Include, _Page, Entry]] = []
        for path, page in pages.items():
            for include in page.includes:
                try:
                    found.append((path, include, page, self._paths.entry(include, path)))
                except NotInRepo as error:
                    if include.is_certain:
                        self._warn(path, include, include.target, str(error))
        return self._add(found)

    def _add(self, found: Sequence[tuple[str, Include, _Page, Entry]]) -> list[str]:
        grown: dict[str, None] = {}
        files = self._opened([entry for *_, entry in found])
        for source, include, page, entry in found:
            path = from_docs_root(self._checkout, entry.path)
            file = files.get(path)
            if isinstance(file, str) and include.is_certain:
                self._warn(source, include, path, file)
            if file is None or isinstance(file, str) or path == source:
                continue
            self._uses.setdefault((path, source), {}).setdefault(include.part, include.line)
            if path in self._pages:
                continue
            included = self.files.get(path)
            if included is None:
                included = self.files[path] = IncludedFile(file, page, include, CODE)
            suffix = CODE if include.is_literal else _suffix(path, page.suffix)
            if include.part in included.parts and suffix in (CODE, included.suffix):
                continue
            if len(included.parts) < MOST_PARTS:
                included.parts[include.part] = None
                if included.suffix == CODE:
                    included.suffix = suffix
                grown[path] = None
            else:
                self._warn(source, include, path, f"more than {MOST_PARTS} parts of it are shown")
        return sorted(grown)

    def _opened(self, entries: Sequence[Entry]) -> dict[str, File | str]:
        """Files by path from the docs root; a reason stands for one that is not to be read."""
        opened: dict[str, File | str] = {}
        fresh: dict[str, Entry] = {}
        for entry in entries:
            path = from_docs_root(self._checkout, entry.path)
            if path in self._pages:
                opened[path] = self._pages[path]
            elif path in self.files:
                opened[path] = self.files[path].file
            elif path in self._refused:
                opened[path] = self._refused[path]
            elif self._checkout.selection.may_show(path):
                fresh[path] = entry
        files = self._checkout.files_at(list(fresh.values()))
        for path, entry in fresh.items():
            file = files[entry.path]
            if isinstance(file, str):
                opened[path] = self._refused[path] = file
            else:
                opened[path] = File(path, file.size, file.fingerprint, file.updated_at, file.owner)
        return opened

    def _included_page(self, included: IncludedFile) -> _Page | None:
        """The directives of an included file; they may lie in the index already."""
        path, showing = included.file.path, included.showing
        if showing.suffix == CODE:
            return None
        stored = self._stored.get(path)
        if stored and stored[1] == included.signature:
            directives = self._directives.get(path, NOTHING)
            title, found = directives.title, from_text(directives.directives)
        else:
            try:
                document = load(path, self._checkout.read(included.file), showing)
            except UnreadableDocument:
                return None
            title, found = document.title, document.includes
        return _Page(title, found, showing.suffix, showing.heading) if found else None

    def _pairs(self) -> Iterator[Shown]:
        named: set[str] = set()
        for (path, page), parts in self._uses.items():
            headings = -1
            if path in self.files and path not in named:  # the first page gives its title
                named.add(path)
                headings = len(self.files[path].showing.heading)
            entirely = path in self.files and (
                WHOLE in parts or parts.keys() == self.files[path].parts.keys()
            )
            for line in sorted({*parts.values()}):
                yield Shown(path, page, line, entirely, headings)

    def _warn(self, page: str, include: Include, target: str, reason: str) -> None:
        names = visible_line(page), visible_line(target[:200])
        self._problems[
            f"{names[0]} (line {include.line}) includes {names[1]}, which is not read: {reason}."
        ] = None


def _suffix(path: str, of_page: str) -> str:
    """The suffix by which an included text is read: its own, or that of the page."""
    own = suffix_of(path)
    return own if own in READERS and own not in PLAIN else of_page
