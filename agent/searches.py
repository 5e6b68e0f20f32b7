"""Queries -> passages, within one answer: what was searched, what the model has seen, what is left.

One search counts once, however often it repeats. A passage is given to the model once: what it has
seen is only named again, so that a thread's context holds every passage a single time.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.answer import Search
from agent.errors import ToolError
from ingest.documents import Passage, SearchResult
from ingest.errors import UnknownCollection
from ingest.index import Index

_KEPT_SECONDS = 600.0
_KEPT_SEARCHES = 256


class SearchCache:
    """Results of the last ten minutes, of all answers; a new revision is another key."""

    def __init__(self) -> None:
        self._results: OrderedDict[Any, tuple[float, SearchResult]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> SearchResult | None:
        with self._lock:
            at, result = self._results.get(key, (0.0, None))
        return result if time.monotonic() - at < _KEPT_SECONDS else None

    def put(self, key: Any, result: SearchResult) -> None:
        with self._lock:
            self._results[key] = (time.monotonic(), result)
            if len(self._results) > _KEPT_SEARCHES:
                self._results.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Found:
    """What one search brought."""

    search: Search
    passages: tuple[Passage, ...]
    """Best first; some of them the model may have seen."""
    repeat: bool
    key: Any
    """What makes another search the same one."""


class Retrieval:
    """The searches of one answer, and every passage that may be cited in it.

    Searching changes nothing here: what it brought counts once ``take`` has it. So a search that
    was given up and ends later leaves no trace.
    """

    def __init__(self, index: Index, cache: SearchCache, version: str, max_searches: int) -> None:
        self.index = index
        self.max_searches = max_searches
        self.searches: list[Search] = []
        self.sources: dict[str, Passage] = {}
        self.failed = False
        """Whether the model asked for a search that could not be made."""
        self._cache = cache
        self._version = version
        self._made: set[Any] = set()
        self._spent = 0
        self._lock = threading.Lock()

    @property
    def searches_left(self) -> int:
        return max(0, self.max_searches - self._spent)

    @property
    def only_weak(self) -> bool:
        """Searched, and nothing that was found is likely to answer."""
        return bool(self.searches) and all(s.weak or not s.ids for s in self.searches)

    def search(self, query: str, filters: Mapping[str, Any] | None = None) -> Found:
        """One search of the model; raises ToolError when none is left."""
        with self._lock:
            if not self.searches_left:
                raise ToolError(
                    f"No searches are left (all {self.max_searches} are used). "
                    "Answer from the passages you have, and say what they leave open."
                )
            self._spent += 1
        try:
            return self._search(query, dict(filters or {}))
        except UnknownCollection:
            with self._lock:
                self._spent -= 1  # nothing was searched
            raise

    def _search(self, query: str, filters: dict[str, Any]) -> Found:
        key = (self._version, " ".join(query.lower().split()), str(sorted(filters.items())))
        result = self._cache.get(key)
        if result is None:
            result = self.index.search(query, **filters)
            self._cache.put(key, result)
        seen = [p for p in result.passages if p.id in self.sources]
        extra: tuple[Passage, ...] = ()
        if seen and key not in self._made and "k" not in filters:
            more = self.index.search(query, **filters, exclude=tuple(self.sources))
            extra = more.passages
        found = tuple({p.id: p for p in (*result.passages, *extra)}.values())
        ids, distances = tuple(p.id for p in found), tuple(p.distance for p in found)
        search = Search(query, ids, distances, result.weak)
        return Found(search, found, key in self._made, key)

    def take(self, found: Found) -> tuple[Passage, ...]:
        """Note a search and what it found; passages that the model has not seen are returned."""
        self._made.add(found.key)
        self.searches.append(found.search)
        return self.supply(found.passages)

    def supply(self, passages: Iterable[Passage]) -> tuple[Passage, ...]:
        """Note passages that reach the model; those it has not seen before are returned."""
        fresh = tuple(p for p in passages if p.id not in self.sources)
        self.sources.update((p.id, p) for p in fresh)
        return fresh

    def best(self) -> tuple[Passage, ...]:
        """The passages of the first search that found something likely."""
        for search in self.searches:
            if search.ids and not search.weak:
                return tuple(self.sources[i] for i in search.ids if i in self.sources)
        return ()
