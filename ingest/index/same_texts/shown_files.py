"""Pairs of documents of which one shows the other -> places of a passage, collections, whole pages.

An included file is in the collections of its own path. It is also in those of each page that shows
all that is indexed of it: whoever may read that page may read the file. A page that shows a part
gives nothing on, since other pages may show the rest. An included file has title and headings of
the first page that shows it: they are left out for whoever may not read that page.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from ingest.documents import Passage, Place
from ingest.index.filters import Membership
from ingest.store.include_tables import Shown

MOST_PLACES = 20
"""Maximum number of pages that are named beside a passage."""
MOST_NESTED = 10
"""Maximum depth of documents that show documents, in a whole page."""
MOST_SHOWN = 200
"""Maximum number of documents that a whole page shows."""
_ROUNDS = 12
"""Depth to which collections are handed on; includes are not followed deeper."""


class ShownFiles:
    """What shows what, at one generation of the index."""

    def __init__(self, pairs: Sequence[Shown], membership: Membership) -> None:
        self._membership = membership
        self._pages: dict[str, list[Shown]] = defaultdict(list)
        self._files: dict[str, list[Shown]] = defaultdict(list)
        self._given = {pair.path: pair for pair in pairs if pair.headings >= 0}
        for pair in pairs:
            self._pages[pair.path].append(pair)
            self._files[pair.page].append(pair)
        self._names = self._handed_on([pair for pair in pairs if pair.entirely])

    def names(self, path: str) -> frozenset[str]:
        """Names of the collections that the document with this path is in."""
        names = self._names.get(path)
        return self._membership.names(path) if names is None else names

    def places(self, path: str) -> Iterator[Place]:
        """Yield the pages that show a document, nearest first, each with its first directive."""
        seen, waiting = {path}, [path]
        for file in waiting:
            for pair in self._pages.get(file, ()):
                if pair.page not in seen and len(seen) <= MOST_PLACES:
                    seen.add(pair.page)
                    yield Place(pair.page, (pair.line, pair.line))
                    if pair.entirely:
                        waiting.append(pair.page)

    def hidden_headings(self, path: str, may_read: Callable[[str], bool]) -> int | None:
        """Number of leading headings of a document that come from a page that may not be read.

        Its title may be that page's, too. None if all that it has may be read.
        """
        own, file, seen = self._given.get(path), path, set[str]()
        while (given := self._given.get(file)) and file not in seen:
            if not may_read(given.page):
                return own.headings if own else None
            seen.add(file)
            file = given.page
        return None

    def whole(
        self,
        page: str,
        read: Callable[[str], list[Passage]],
        may_read: Callable[[str], bool],
    ) -> list[Passage]:
        """Passages of a page, with those of each document that it shows where it first does."""
        seen = {page}

        def whole(path: str, nested: int) -> list[Passage]:
            shown = []
            for line, file in self._shown_by(path) if nested else ():
                if file not in seen and len(seen) <= MOST_SHOWN and may_read(file):
                    seen.add(file)
                    shown.append((line, whole(file, nested - 1)))
            return _placed(read(path), shown)

        return whole(page, MOST_NESTED)

    def _shown_by(self, page: str) -> list[tuple[int, str]]:
        """Line of each directive of a document, and the path of the document that it shows."""
        return sorted((pair.line, pair.path) for pair in self._files.get(page, ()))

    def _handed_on(self, pairs: Sequence[Shown]) -> dict[str, frozenset[str]]:
        if not self._membership.collections:
            return {}
        names: dict[str, frozenset[str]] = {}
        for _round in range(_ROUNDS):
            before = dict(names)
            for pair in pairs:
                of_page = names.get(pair.page) or self._membership.names(pair.page)
                own = names.get(pair.path) or self._membership.names(pair.path)
                names[pair.path] = own | of_page
            if names == before:
                break
        return names


def _placed(own: Sequence[Passage], shown: Sequence[tuple[int, list[Passage]]]) -> list[Passage]:
    """Put the passages of shown documents behind the passage with the line of their directive."""
    placed: list[Passage] = []
    waiting = list(shown)[::-1]
    for passage in own:
        while waiting and waiting[-1][0] < passage.lines[0]:
            placed += waiting.pop()[1]
        placed.append(passage)
    while waiting:
        placed += waiting.pop()[1]
    return placed
