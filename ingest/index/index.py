"""The reading side of the index: a query in, passages out, found by meaning and by words.

Query -> candidates of both kinds, ranked together (``ingest.index.search``) -> passages, until a
budget of characters is full. What an ingest changes, in this or another process, is seen by the
next call.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ingest.config_file import Collection as Part
from ingest.config_file import read_collections, read_config_file
from ingest.documents import CollectionInfo, DocumentInfo, Page, Passage, Revision, SearchResult
from ingest.embedding.embedder import Embedder
from ingest.errors import IndexMissing
from ingest.index.calibration import threshold
from ingest.index.confidence import confidence
from ingest.index.facts import Facts
from ingest.index.filters import Filters, Membership, from_docs_root
from ingest.index.live import LiveIndex
from ingest.index.ranking import DEPTH
from ingest.index.search import Hit, rank
from ingest.index.snapshot import COLLECTION, OpenFolder
from ingest.permalinks import permalink
from ingest.settings import IndexSettings
from ingest.store.pages import Pages
from ingest.store.vectors import batches

READ_AT_ONCE = 32
DEFAULT_BUDGET = 9_600
"""Characters of passage text that one search gives."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What is indexed, and from when; zeros and None before the first ingest."""

    revision: Revision | None = None
    ingested_at: datetime | None = None
    documents: int = 0
    chunks: int = 0
    collection: str | None = None
    embedder: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "revision": self.revision.name if self.revision else None,
            "ingested_at": self.ingested_at.isoformat() if self.ingested_at else None,
            "documents": self.documents,
            "chunks": self.chunks,
            "collection": self.collection,
            "embedder": self.embedder,
        }


class Index:
    """Answers from the live index folder; safe to use from several threads."""

    def __init__(
        self,
        settings: IndexSettings,
        embedder: Embedder | None = None,
        collections: Mapping[str, Part] | None = None,
    ) -> None:
        self._settings = settings
        self._live = LiveIndex(settings, embedder)
        self._membership = Membership(collections or {})
        self._scope: frozenset[str] | None = None

    def within(self, collections: Iterable[str]) -> "Index":
        """This index as if only the pages of these collections were in it."""
        part = copy(self)
        part._scope = self._membership.checked(collections, self._scope)
        return part

    def collections(self) -> tuple[CollectionInfo, ...]:
        """The named parts of the docs, as configured; none where nothing is configured."""
        if not self._membership.collections:
            return ()
        try:
            paths = self._live.read(lambda live: live.pages.documents())
        except IndexMissing:
            paths = {}
        held = Counter(name for path in paths for name in self._membership.names(path))
        return tuple(
            CollectionInfo(name, part.description, held[name])
            for name, part in self._membership.collections.items()
            if self._scope is None or name in self._scope
        )

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        budget: int = DEFAULT_BUDGET,
        path: str | None = None,
        collection: str | None = None,
        tags: Collection[str] = (),
        updated_after: datetime | None = None,
        exclude: Collection[str] = (),
    ) -> SearchResult:
        """The best passages: ``k`` of them, or as many as begin within ``budget`` characters.

        ``path`` is a prefix; of ``tags`` one has to match; ``exclude`` holds ids already seen.
        """
        query = query.encode("utf-8", "replace").decode()
        filters = Filters(self._scope, path, collection, tags, updated_after)
        return self._live.read(lambda live: self._search(live, query, k, budget, filters, exclude))

    def _search(
        self,
        live: OpenFolder,
        query: str,
        k: int | None,
        budget: int,
        filters: Filters,
        exclude: Collection[str],
    ) -> SearchResult:
        snapshot = live.snapshot()
        ranking = rank(
            snapshot,
            live.pages,
            query,
            self._live.embed(query, snapshot),
            documents=filters.passing(snapshot.infos, self._membership),
            excluded=live.pages.rows_of(exclude) if exclude else (),
            depth=max(DEPTH, k or 0),
        )
        taken = _taken(live.pages, ranking.hits, k, budget)
        link = self._linker(snapshot.meta)
        passages = tuple(
            replace(passage, score=hit.score, distance=hit.distance, url=link(passage))
            for hit, passage in taken
        )
        sure = confidence(ranking.signals) if passages else 0.0
        return SearchResult(query, passages, not passages or sure < threshold(snapshot.meta), sure)

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """The chunks with these ids, in this order; unknown ids are left out."""
        return self._live.read(lambda live: self._passages(live, ids))

    def _passages(self, live: OpenFolder, ids: Sequence[str]) -> list[Passage]:
        link = self._linker(live.pages.meta())
        found = live.pages.passages_by_id(ids)
        return [
            replace(found[id_], url=link(found[id_]))
            for id_ in ids
            if id_ in found and self._is_seen(found[id_].path)
        ]

    def page(self, path: str) -> Page | None:
        """A whole page: by its path, with or without ``.md``, or by one of its chunk ids."""
        return self._live.read(lambda live: self._page(live, path))

    def _page(self, live: OpenFolder, path: str) -> Page | None:
        name = from_docs_root(path)
        stem, _dash, number = name.rpartition("-")
        stored = live.pages.document(name)
        if stored is None and number.isdecimal():
            stored = live.pages.document(stem)
        if stored is None or not self._is_seen(stored.info.path):
            return None
        link = self._linker(live.pages.meta())
        passages = tuple(replace(p, url=link(p)) for p in live.pages.page(stored.info.path))
        return Page(stored.info, passages)

    def documents(self, prefix: str = "") -> list[DocumentInfo]:
        """Pages whose path begins with ``prefix``, by path."""
        stored = self._live.read(lambda live: live.pages.documents())
        return [
            document.info
            for path, document in stored.items()
            if path.startswith(prefix) and self._is_seen(path)
        ]

    def status(self) -> IndexStatus:
        """What is indexed in all; says so, too, when nothing is."""
        try:
            meta, (documents, chunks) = self._live.read(
                lambda live: (live.pages.meta(), live.pages.counts())
            )
        except IndexMissing:
            return IndexStatus()
        facts = Facts.from_meta(meta)
        return IndexStatus(
            revision=facts.revision if facts else None,
            ingested_at=facts.ingested_at if facts else None,
            documents=documents,
            chunks=chunks,
            collection=meta.get(COLLECTION),
            embedder=facts.embedder_name if facts else None,
        )

    def use(self, embedder: Embedder) -> None:
        """Embed queries with this one from now on: the live index was built with it."""
        self._live.use(embedder)

    def warm(self) -> None:
        """Read the vectors now, so that the next search does not have to."""
        self._live.read(OpenFolder.snapshot)

    def close(self) -> None:
        self._live.close()

    def _is_seen(self, path: str) -> bool:
        return self._scope is None or bool(self._scope & self._membership.names(path))

    def _linker(self, meta: Mapping[str, str]) -> "_Linker":
        return _Linker(Facts.from_meta(meta), self._settings.link_template)


@dataclass(frozen=True, slots=True)
class _Linker:
    """Passage -> address of its lines at the indexed commit."""

    facts: Facts | None
    template: str | None

    def __call__(self, passage: Passage) -> str | None:
        if self.facts is None:
            return None
        return permalink(
            self.facts.revision, self.facts.docs_root, passage.path, passage.lines, self.template
        )


def open_index(
    settings: IndexSettings,
    embedder: Embedder | None = None,
    collections: Mapping[str, Part] | None = None,
) -> Index:
    """The index of this data folder; the embedder is opened at the first search if not given.

    The collections are those of ``footnote.toml`` if not given.
    """
    if collections is None:
        collections = read_collections(read_config_file(settings))
    return Index(settings, embedder, collections)


def _taken(
    pages: Pages, hits: Sequence[Hit], k: int | None, budget: int
) -> list[tuple[Hit, Passage]]:
    """The first ``k`` hits, or as many as begin within the budget; read only as far as needed."""
    taken: list[tuple[Hit, Passage]] = []
    used = 0
    for some in batches(hits, k or READ_AT_ONCE):
        found = pages.passages([hit.row for hit in some])
        for hit in some:
            if used >= budget if k is None else len(taken) == k:
                return taken
            if hit.row in found:
                taken.append((hit, found[hit.row]))
                used += len(found[hit.row].text)
    return taken
