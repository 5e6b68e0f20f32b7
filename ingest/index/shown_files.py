"""Pairs of documents of which one shows the other -> places of a passage, collections, whole pages.

An included file is in the collections of its own path. It is also in those of each page that shows
all that is indexed of it: whoever may read that page may read the file. A page that shows a part
gives nothing on, since other pages may show the rest.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ingest.documents import Passage, Place
from ingest.index.filters import Membership
from ingest.store.include_tables import Shown

MOST_PLACES = 20
"""Maximum number of pages that are named beside a passage."""
_ROUNDS = 12
"""Depth to which collections are handed on; includes are not followed deeper."""


class ShownFiles:
    """What shows what, at one generation of the index."""

    def __init__(self, pairs: Sequence[Shown], membership: Membership) -> None:
        self._membership = membership
        self._pages: dict[str, list[Shown]] = defaultdict(list)
        self._files: dict[str, list[Shown]] = defaultdict(list)
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

    def files(self, page: str) -> list[tuple[int, str]]:
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


def placed(own: Sequence[Passage], shown: Sequence[tuple[int, Sequence[Passage]]]) -> list[Passage]:
    """Passages of a page, with those of the files that it shows behind the directive's passage."""
    placed: list[Passage] = []
    waiting = list(shown)[::-1]
    for passage in own:
        while waiting and waiting[-1][0] < passage.lines[0]:
            placed += waiting.pop()[1]
        placed.append(passage)
    while waiting:
        placed += waiting.pop()[1]
    return placed
