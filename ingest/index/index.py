"""The reading side of the index: a query in, passages out, by meaning and by words.

Query -> candidates of both kinds, ranked together (``ingest.index.search``) -> passages, until a
budget of characters is used up. The next call sees every change that an ingest makes, in this
process or another.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ingest.config_file import DocsCollection, read_collections, read_config_file
from ingest.documents import (
    DEFAULT_BUDGET,
    CollectionInfo,
    DocumentInfo,
    IndexedDocument,
    Passage,
    Revision,
    SearchResult,
)
from ingest.embedding.embedder import Embedder, open_embedder
from ingest.errors import IndexMissing
from ingest.index.calibration import threshold
from ingest.index.confidence import confidence
from ingest.index.filters import Filters, Membership, from_docs_root, spelled_like
from ingest.index.live import LiveIndex
from ingest.index.metadata import LastIngest
from ingest.index.ranking import DEPTH
from ingest.index.search import Hit, rank
from ingest.index.snapshot import COLLECTION, OpenFolder
from ingest.letters import composed
from ingest.permalinks import permalink
from ingest.settings import IndexSettings
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import batches

READ_AT_ONCE = 32
"""Number of passages in one read."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Size and age of the index; zeros and None before the first ingest."""

    revision: Revision | None = None
    ingested_at: datetime | None = None
    documents: int = 0
    chunks: int = 0
    differing: int = 0
    """Documents of another revision: a run is writing them, or one did not end well."""
    collection: str | None = None
    embedder: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "revision": self.revision.name if self.revision else None,
            "ingested_at": self.ingested_at.isoformat() if self.ingested_at else None,
            "documents": self.documents,
            "chunks": self.chunks,
            "documents_of_another_revision": self.differing,
            "collection": self.collection,
            "embedder": self.embedder,
        }


class Index:
    """Searches the live index. Safe to use from several threads."""

    def __init__(
        self,
        live: LiveIndex,
        collections: Mapping[str, DocsCollection] | None = None,
        *,
        link_template: str | None = None,
    ) -> None:
        """``link_template``: see ``ingest.permalinks.permalink``."""
        self._live = live
        self._membership = Membership(collections or {})
        self._link_template = link_template
        self._scope: frozenset[str] | None = None

    def within(self, collections: Iterable[str]) -> "Index":
        """Return an index limited to the documents of these collections."""
        part = copy(self)
        part._scope = self._membership.checked(collections, self._scope)
        return part

    def collections(self) -> tuple[CollectionInfo, ...]:
        """The configured collections within the scope, with their sizes."""
        if not self._membership.collections:
            return ()
        try:
            paths = self._live.read(lambda live: live.tables.documents())
        except IndexMissing:
            paths = {}
        sizes = Counter(name for path in paths for name in self._membership.names(path))
        return tuple(
            CollectionInfo(name, collection.description, sizes[name])
            for name, collection in self._membership.collections.items()
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
        """Return the best passages: ``k``, or as many as begin within ``budget`` characters.

        ``path`` is a prefix. One of ``tags`` has to match. ``exclude`` holds chunk ids that the
        caller has seen already. Raises UnknownCollection, IndexMissing and IndexDamaged.
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
            live.tables,
            query,
            self._live.embed(query, snapshot),
            documents=filters.passing(snapshot.infos, self._membership),
            excluded=live.tables.rows_of(exclude) if exclude else (),
            depth=max(DEPTH, k or 0),
        )
        taken = _taken(live.tables, ranking.hits, k, budget)
        passages = tuple(
            replace(passage, score=hit.score, distance=hit.distance, url=self._link(passage))
            for hit, passage in taken
        )
        probability = confidence(ranking.signals) if passages else 0.0
        is_weak = not passages or probability < threshold(snapshot.meta)
        return SearchResult(query, passages, is_weak, probability)

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Return the chunks with these ids, in this order. Unknown ids are left out."""
        return self._live.read(lambda live: self._passages(live, ids))

    def _passages(self, live: OpenFolder, ids: Sequence[str]) -> list[Passage]:
        passages = live.tables.passages_by_id(ids)
        return [
            replace(passages[id_], url=self._link(passages[id_]))
            for id_ in ids
            if id_ in passages and self._is_in_scope(passages[id_].path)
        ]

    def document(self, name: str) -> IndexedDocument | None:
        """Return a whole document by its path, with or without ``.md``, or by a chunk id of it."""
        return self._live.read(lambda live: self._document(live, name))

    def _document(self, live: OpenFolder, path: str) -> IndexedDocument | None:
        name = from_docs_root(path)
        stem, _dash, number = name.rpartition("-")
        stored = live.tables.document(name)
        if stored is None and number.isdecimal():
            stored = live.tables.document(stem)
        if stored is None and not name.isascii():
            paths = live.tables.documents()
            like = spelled_like(name, paths) or spelled_like(stem, paths)
            stored = paths[like] if like else None
        if stored is None or not self._is_in_scope(stored.info.path):
            return None
        passages = live.tables.passages_of(stored.info.path)
        return IndexedDocument(stored.info, tuple(replace(p, url=self._link(p)) for p in passages))

    def documents(self, prefix: str = "") -> list[DocumentInfo]:
        """Facts about all documents whose path begins with ``prefix``, by path."""
        stored = self._live.read(lambda live: live.tables.documents())
        return [
            document.info
            for path, document in stored.items()
            if composed(path).startswith(composed(prefix)) and self._is_in_scope(path)
        ]

    def status(self) -> IndexStatus:
        """Size and age of the whole index, whatever the scope. Never raises IndexMissing."""
        try:
            meta, (documents, chunks), differing = self._live.read(
                lambda live: (live.tables.meta(), live.tables.counts(), live.tables.differing())
            )
        except IndexMissing:
            return IndexStatus()
        last = LastIngest.from_meta(meta)
        return IndexStatus(
            revision=last.origin.revision if last else None,
            ingested_at=last.ingested_at if last else None,
            documents=documents,
            chunks=chunks,
            differing=differing,
            collection=meta.get(COLLECTION),
            embedder=last.embedder_name if last else None,
        )

    def rebuild_by(self, rebuild: Callable[[], object]) -> None:
        """Call ``rebuild``, which asks for an ingest, whenever the index cannot be read."""
        self._live.rebuild_by(rebuild)

    def use(self, embedder: Embedder) -> None:
        """Embed queries with this embedder from now on: it made the live index."""
        self._live.use(embedder)

    def warm(self) -> None:
        """Read the vectors now, so that the next search need not."""
        self._live.read(OpenFolder.snapshot)

    def close(self) -> None:
        self._live.close()

    def _is_in_scope(self, path: str) -> bool:
        return self._scope is None or bool(self._scope & self._membership.names(path))

    def _link(self, passage: Passage) -> str | None:
        """Address of a passage's lines at the commit from which its document was read."""
        if (origin := passage.origin) is None:
            return None
        return permalink(
            origin.revision, origin.docs_root, passage.path, passage.lines, self._link_template
        )


def open_index(
    settings: IndexSettings,
    embedder: Embedder | None = None,
    collections: Mapping[str, DocsCollection] | None = None,
) -> Index:
    """Open the index of the settings' data folder.

    Without ``embedder`` the first search opens it. Without ``collections`` those of
    ``footnote.toml`` are used.
    """
    if collections is None:
        collections = read_collections(read_config_file(settings.config))

    def embedder_of_queries() -> Embedder:
        return embedder or open_embedder(settings.embedder_source)

    live = LiveIndex(
        settings.data_dir,
        settings.chroma_server,
        embedder_of_queries,
        late_interaction=settings.late_interaction,
    )
    return Index(live, collections, link_template=settings.link_template)


def _taken(
    tables: DocumentTables, hits: Sequence[Hit], k: int | None, budget: int
) -> list[tuple[Hit, Passage]]:
    """Read the passages of the first ``k`` hits, or of as many as begin within the budget."""
    taken: list[tuple[Hit, Passage]] = []
    used = 0
    for batch in batches(hits, k or READ_AT_ONCE):
        passages = tables.passages([hit.row for hit in batch])
        for hit in batch:
            if used >= budget if k is None else len(taken) == k:
                return taken
            if hit.row in passages:
                taken.append((hit, passages[hit.row]))
                used += len(passages[hit.row].text)
    return taken
