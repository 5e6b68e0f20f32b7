"""The reading side of the index: a query in, passages out, by meaning and by words.

Query -> candidates of both kinds, ranked together (``ingest.index.search``) -> passages, until a
budget of characters is used up. The next call sees every change that an ingest makes, in this
process or another.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from ingest.config_file import DocsCollection, read_collections, read_config_file
from ingest.documents import (
    DEFAULT_BUDGET,
    CollectionInfo,
    DocumentInfo,
    IndexedDocument,
    Origin,
    Passage,
    Place,
    SearchResult,
)
from ingest.embedding.embedder import Embedder, open_embedder
from ingest.errors import IndexMissing
from ingest.index.calibration import threshold
from ingest.index.completeness import Growth
from ingest.index.confidence import confidence
from ingest.index.filters import Filters, Membership, from_docs_root, spelled_like
from ingest.index.index_status import IndexStatus
from ingest.index.live import LiveIndex
from ingest.index.metadata import LastIngest
from ingest.index.ranking import DEPTH
from ingest.index.same_texts.other_places import places_of
from ingest.index.same_texts.shown_files import ShownFiles
from ingest.index.search import Hit, rank
from ingest.index.snapshot import COLLECTION, OpenFolder, Snapshot
from ingest.letters import composed
from ingest.permalinks import permalink
from ingest.settings import IndexSettings
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import batches

READ_AT_ONCE = 32
"""Number of passages in one read."""


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
        self._shown_files: dict[tuple[Path, int], ShownFiles] = {}

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
            paths, shown = self._live.read(
                lambda live: ([*live.tables.signatures()], self._shown(live))
            )
        except IndexMissing:
            paths, shown = [], ShownFiles((), self._membership)
        sizes = Counter(name for path in paths for name in shown.names(path))
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
        shown = self._shown(live)
        ranking = rank(
            snapshot,
            live.tables,
            query,
            self._live.embed(query, snapshot),
            documents=filters.passing(lambda: snapshot.infos, self._membership, shown.names),
            excluded=live.tables.rows_of(exclude) if exclude else (),
            depth=max(DEPTH, k or 0),
        )
        taken = _taken(live.tables, ranking.hits, k, budget)
        rows = [hit.row for hit, _passage in taken]
        if snapshot.growth:
            self._ask_for(live.tables, snapshot, rows)
        places = places_of(live.tables, rows, lambda path: self._is_in_scope(path, shown))
        passages = tuple(
            replace(
                self._complete(passage, shown, places[hit.row]),
                score=hit.score,
                distance=hit.distance,
            )
            for hit, passage in taken
        )
        probability = confidence(ranking.signals) if passages else 0.0
        is_weak = not passages or probability < threshold(snapshot.meta)
        note = snapshot.growth.words if snapshot.growth else None
        return SearchResult(query, passages, is_weak, probability, note)

    def _ask_for(self, tables: DocumentTables, snapshot: Snapshot, rows: Sequence[int]) -> None:
        """Let a running ingest make the vectors of these rows first."""
        lines = snapshot.matrix.positions(rows)
        missing = [row for row, line in zip(rows, lines, strict=True) if line is None]
        self._live.ask_for(document for document, *_ in tables.origins(missing).values())

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Return the chunks with these ids, in this order. Unknown ids are left out."""
        return self._live.read(lambda live: self._passages(live, ids))

    def _passages(self, live: OpenFolder, ids: Sequence[str]) -> list[Passage]:
        passages = live.tables.passages_by_id(ids)
        shown = self._shown(live)
        return [
            self._complete(passages[id_], shown)
            for id_ in ids
            if id_ in passages and self._is_in_scope(passages[id_].path, shown)
        ]

    def document(self, name: str) -> IndexedDocument | None:
        """Return a whole document by its path, with or without ``.md``, or by a chunk id of it.

        The passages of a file that it includes stand where it shows them.
        """
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
        shown = self._shown(live)
        if stored is None or not self._is_in_scope(stored.info.path, shown):
            return None
        passages = shown.whole(
            stored.info.path,
            lambda path: [self._complete(p, shown) for p in live.tables.passages_of(path)],
            lambda path: self._is_in_scope(path, shown),
        )
        versions = tuple(
            (row.path, row.version)
            for row in live.tables.editions.of_page(stored.info.path)
            if row.path != stored.info.path and self._is_in_scope(row.path, shown)
        )
        return IndexedDocument(self._readable(stored.info, shown), tuple(passages), versions)

    def documents(self, prefix: str = "") -> list[DocumentInfo]:
        """Facts about all documents whose path begins with ``prefix``, by path."""
        stored, shown = self._live.read(lambda live: (live.tables.documents(), self._shown(live)))
        prefix = composed(prefix)
        return [
            self._readable(document.info, shown)
            for path, document in stored.items()
            if composed(path).startswith(prefix) and self._is_in_scope(path, shown)
        ]

    def infos(self, paths: Collection[str]) -> dict[str, DocumentInfo]:
        """Facts about those of the paths that are documents in scope, by path."""

        def read(live: OpenFolder) -> dict[str, DocumentInfo]:
            shown = self._shown(live)
            wanted = [path for path in paths if self._is_in_scope(path, shown)]
            stored = filter(None, map(live.tables.document, wanted))
            return {one.info.path: self._readable(one.info, shown) for one in stored}

        return self._live.read(read)

    def status(self) -> IndexStatus:
        """Size and age of the whole index, whatever the scope. Never raises IndexMissing."""
        try:
            meta, (documents, chunks), differing, embedded = self._live.read(_facts)
        except IndexMissing:
            return IndexStatus()
        last = LastIngest.from_meta(meta)
        return IndexStatus(
            revision=last.origin.revision if last else None,
            ingested_at=last.ingested_at if last else None,
            documents=documents,
            chunks=chunks,
            differing=differing if last else 0,
            collection=meta.get(COLLECTION),
            embedder=last.embedder_name if last else None,
            growth=Growth.of(meta, documents, chunks, embedded),
        )

    def rebuild_by(self, rebuild: Callable[[], object]) -> None:
        """Call ``rebuild``, which asks for an ingest, whenever the index cannot be read."""
        self._live.rebuild_by(rebuild)

    def use(self, embedder: Embedder) -> None:
        """Embed queries with this embedder from now on: it made the live index."""
        self._live.use(embedder)

    def embed_by(self, embedder: Embedder) -> None:
        """Embed queries with this embedder, which makes the vectors that the index has so far."""
        self._live.embed_by(embedder)

    def take_asked(self) -> set[int]:
        """Numbers of documents without vectors that searches have returned since the last call."""
        return self._live.take_asked()

    def warm(self) -> None:
        """Read now what a search needs in memory, so that the next one need not."""
        self._live.read(lambda live: live.snapshot().editions.choice("", None))

    def close(self) -> None:
        self._live.close()

    def _is_in_scope(self, path: str, shown: ShownFiles) -> bool:
        return self._scope is None or bool(self._scope & shown.names(path))

    def _hidden_headings(self, path: str, shown: ShownFiles) -> int | None:
        if self._scope is None:
            return None
        return shown.hidden_headings(path, lambda page: self._is_in_scope(page, shown))

    def _readable(self, info: DocumentInfo, shown: ShownFiles) -> DocumentInfo:
        """Leave out the title of a page out of scope."""
        if self._hidden_headings(info.path, shown) is None:
            return info
        return replace(info, title=PurePosixPath(info.path).name)

    def _shown(self, live: OpenFolder) -> ShownFiles:
        key = (live.folder.path, live.tables.generation())
        shown = self._shown_files.get(key)
        if shown is None:
            shown = ShownFiles(live.tables.includes.shown(), self._membership)
            self._shown_files.clear()
            self._shown_files[key] = shown
        return shown

    def _complete(
        self, passage: Passage, shown: ShownFiles, copies: Sequence[Place] = ()
    ) -> Passage:
        """Add the address of the passage, its copies, and the pages in scope that show it."""
        pages = [p for p in shown.places(passage.path) if self._is_in_scope(p.path, shown)]
        places = tuple(
            replace(place, url=self._link(passage.origin, place.path, place.lines))
            for place in (*copies, *pages)
        )
        url = self._link(passage.origin, passage.path, passage.lines)
        if (hidden := self._hidden_headings(passage.path, shown)) is not None:
            name = PurePosixPath(passage.path).name
            passage = replace(passage, title=name, heading=passage.heading[hidden:])
        return replace(passage, url=url, places=(*passage.places, *places))

    def _link(self, origin: Origin | None, path: str, lines: tuple[int, int]) -> str | None:
        """Address of lines at the commit from which their document was read."""
        if origin is None:
            return None
        return permalink(origin.revision, origin.docs_root, path, lines, self._link_template)


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
    live = LiveIndex(
        settings.data_dir,
        settings.chroma_server,
        lambda: embedder or open_embedder(settings.embedder_source),
        late_interaction=settings.late_interaction,
    )
    return Index(live, collections, link_template=settings.link_template)


def _facts(live: OpenFolder) -> tuple[dict[str, str], tuple[int, int], int, int]:
    tables = live.tables
    return tables.meta(), tables.counts(), tables.differing(), tables.embedded.count()


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
