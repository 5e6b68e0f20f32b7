"""Queries -> passages, within one answer: the searches, the model's passages, the searches left.

The model gets each passage once. A passage that it was given before is only named again, so that
the context holds each passage a single time.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cachetools import TTLCache

from agent.answer import Search
from agent.errors import ToolError
from ingest.documents import Passage, SearchResult
from ingest.errors import UnknownCollection
from ingest.index import Index

_SECONDS = 600.0
_MOST_RESULTS = 256

SearchKey = tuple[str, str, str]
"""Version of the index, query and filters: two searches with the same key are the same search."""


class SearchCache:
    """Results of the last ten minutes, over all answers; a new revision makes new keys."""

    def __init__(self) -> None:
        self._results: TTLCache[SearchKey, SearchResult] = TTLCache(_MOST_RESULTS, _SECONDS)
        self._lock = threading.Lock()

    def get(self, key: SearchKey) -> SearchResult | None:
        with self._lock:
            return self._results.get(key)

    def put(self, key: SearchKey, result: SearchResult) -> None:
        with self._lock:
            self._results[key] = result


@dataclass(frozen=True, slots=True)
class FinishedSearch:
    """A search that was made, and its passages."""

    search: Search
    passages: tuple[Passage, ...]
    """Best first, with those that the model was given before."""
    repeat: bool
    """True if the model made the same search before."""
    key: SearchKey
    note: str | None = None
    """A sentence while the index lacks documents or vectors."""


class Retrieval:
    """The searches of one answer, and every passage that it can cite.

    A search counts only when ``take`` is called with it. So a search that was abandoned and ends
    later leaves no trace.
    """

    def __init__(self, index: Index, cache: SearchCache, version: str, max_searches: int) -> None:
        self.index = index
        self.max_searches = max_searches
        self.searches: list[Search] = []
        self.passages: dict[str, Passage] = {}
        self.has_failed = False
        """True if the model asked for a search that could not be made."""
        self._cache = cache
        self._version = version
        self._made: set[SearchKey] = set()
        self._spent = 0
        self._lock = threading.Lock()

    @property
    def searches_left(self) -> int:
        return max(0, self.max_searches - self._spent)

    def search_failed(self) -> None:
        """Record that the model asked for a search that could not be made."""
        self.has_failed = True

    @property
    def only_weak(self) -> bool:
        """True if there were searches, and all of them were weak or found nothing."""
        return bool(self.searches) and all(s.weak or not s.ids for s in self.searches)

    def search(self, query: str, filters: Mapping[str, Any] | None = None) -> FinishedSearch:
        """Make one search of the model. Raises ToolError if no search is left."""
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

    def _search(self, query: str, filters: dict[str, Any]) -> FinishedSearch:
        key = (self._version, " ".join(query.lower().split()), str(sorted(filters.items())))
        result = self._cache.get(key)
        if result is None:
            result = self.index.search(query, **filters)
            self._cache.put(key, result)
        seen = [p for p in result.passages if p.id in self.passages]
        extra: tuple[Passage, ...] = ()
        if seen and key not in self._made and "k" not in filters:
            more = self.index.search(query, **filters, exclude=tuple(self.passages))
            extra = more.passages
        passages = tuple({p.id: p for p in (*result.passages, *extra)}.values())
        ids, distances = tuple(p.id for p in passages), tuple(p.distance for p in passages)
        search = Search(query, ids, distances, result.weak)
        return FinishedSearch(search, passages, key in self._made, key, result.note)

    def take(self, search: FinishedSearch) -> tuple[Passage, ...]:
        """Count a search; return its passages that the model was not given before."""
        self._made.add(search.key)
        self.searches.append(search.search)
        return self.supply(search.passages)

    def supply(self, passages: Iterable[Passage]) -> tuple[Passage, ...]:
        """Give passages to the model; return those that it was not given before."""
        fresh = tuple(p for p in passages if p.id not in self.passages)
        self.passages.update((p.id, p) for p in fresh)
        return fresh

    def best(self) -> tuple[Passage, ...]:
        """The passages of the first search that found any and was not weak; empty if none did."""
        for search in self.searches:
            if search.ids and not search.weak:
                return tuple(self.passages[i] for i in search.ids if i in self.passages)
        return ()
