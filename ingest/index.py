"""The reading side of the index: a query in, passages out, found by meaning and by words.

Query -> candidates of both kinds, ranked together (``ingest.retrieval``) -> passages, until a
budget of characters is full. What an ingest changes, in this or another process, is seen by the
next call.
"""

import logging
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pathspec import PathSpec

from ingest import index_folders as folders
from ingest.confidence import DEFAULT_THRESHOLD, confidence
from ingest.documents import DocumentInfo, Page, Passage, Revision, SearchResult
from ingest.embedder import Embedder, open_embedder
from ingest.errors import IndexMissing, IngestError
from ingest.facts import Facts, Identity
from ingest.permalinks import permalink
from ingest.ranking import DEPTH
from ingest.retrieval import Hit, rank
from ingest.settings import IndexSettings
from ingest.snapshot import COLLECTION, OpenFolder, Snapshot
from ingest.store import Vectors

log = logging.getLogger(__name__)

DEFAULT_BUDGET = 9_600
"""Characters of passage text that one search gives."""
THRESHOLD = "weak_below"
"""Key of the meta row that holds the calibrated threshold."""


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
        collections: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """``collections``: name -> path globs, relative to the docs root."""
        self._settings = settings
        self._embedder = embedder
        self._collections = {
            name: PathSpec.from_lines("gitignore", globs)
            for name, globs in (collections or {}).items()
        }
        self._open: OpenFolder | None = None
        self._lock = threading.Lock()

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
        live = self._live()
        snapshot = live.snapshot()
        ranking = rank(
            snapshot,
            live.pages,
            query,
            self._embed(query, snapshot),
            documents=self._documents(snapshot, path, collection, tags, updated_after),
            excluded=live.pages.rows_of(exclude) if exclude else (),
            depth=max(DEPTH, k or 0),
        )
        found = live.pages.passages([hit.row for hit in ranking.hits])
        hits = [(hit, found[hit.row]) for hit in ranking.hits if hit.row in found]
        taken = hits[:k] if k is not None else _within(hits, budget)
        link = self._linker(snapshot.meta)
        passages = tuple(
            replace(passage, score=hit.score, distance=hit.distance, url=link(passage))
            for hit, passage in taken
        )
        threshold = float(snapshot.meta.get(THRESHOLD, DEFAULT_THRESHOLD))
        weak = not passages or confidence(ranking.signals) < threshold
        return SearchResult(query, passages, weak)

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """The chunks with these ids, in this order; unknown ids are left out."""
        live = self._live()
        link = self._linker(live.pages.meta())
        found = live.pages.passages_by_id(ids)
        return [replace(found[id_], url=link(found[id_])) for id_ in ids if id_ in found]

    def page(self, path: str) -> Page | None:
        """A whole page: by its path, with or without ``.md``, or by one of its chunk ids."""
        live = self._live()
        stored = live.pages.documents()
        wanted = path.strip().removeprefix("./").lstrip("/")
        stem, _dash, number = wanted.rpartition("-")
        prefixes = {document.prefix: name for name, document in stored.items()}
        name = wanted if wanted in stored else prefixes.get(wanted)
        if name is None and number.isdecimal():
            name = prefixes.get(stem)
        if name is None:
            return None
        link = self._linker(live.pages.meta())
        passages = tuple(replace(p, url=link(p)) for p in live.pages.page(name))
        return Page(stored[name].info, passages)

    def documents(self, prefix: str = "") -> list[DocumentInfo]:
        """Pages whose path begins with ``prefix``, by path."""
        stored = self._live().pages.documents()
        return [document.info for path, document in stored.items() if path.startswith(prefix)]

    def status(self) -> IndexStatus:
        """What is indexed; says so, too, when nothing is."""
        try:
            live = self._live()
        except IndexMissing:
            return IndexStatus()
        meta = live.pages.meta()
        facts = Facts.from_meta(meta)
        documents, chunks = live.pages.counts()
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
        folder = folders.live(self._settings.data_dir)
        with self._lock:
            self._embedder = embedder
            if self._open is not None and (folder is None or not self._open.still_is(folder)):
                self._open.close()
                self._open = None

    def warm(self) -> None:
        """Read the vectors now, so that the next search does not have to."""
        self._live().snapshot()

    def close(self) -> None:
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _live(self) -> OpenFolder:
        folder = folders.live(self._settings.data_dir)
        if folder is None:
            raise IndexMissing("Nothing is indexed yet: run `footnote ingest`.")
        with self._lock:
            if self._open is None or not self._open.still_is(folder):
                if self._open is not None:
                    self._open.close()
                self._open = OpenFolder(folder, self._settings)
            return self._open

    def _embed(self, query: str, snapshot: Snapshot) -> Vectors | None:
        """The query's vector, or None when this model is not the one that the index has."""
        with self._lock:
            if self._embedder is None:
                self._embedder = open_embedder(self._settings)
            embedder = self._embedder
        identity = Identity.from_meta(snapshot.meta)
        if identity is None or identity.embedder != embedder.fingerprint:
            log.warning("The index was built with another embedder: found by words only.")
            return None
        vector: Vectors = embedder.embed([query])[0]
        return vector

    def _documents(
        self,
        snapshot: Snapshot,
        path: str | None,
        collection: str | None,
        tags: Collection[str],
        updated_after: datetime | None,
    ) -> set[int] | None:
        """Numbers of the documents that pass every filter; None without a filter."""
        if not (path or collection or tags or updated_after):
            return None
        infos: Iterable[tuple[int, DocumentInfo]] = snapshot.infos.items()
        if path:
            prefix = path.removeprefix("./").lstrip("/")
            infos = [item for item in infos if item[1].path.startswith(prefix)]
        if collection:
            if collection not in self._collections:
                known = ", ".join(self._collections) or "none"
                raise IngestError(f"There is no collection {collection!r}; configured: {known}.")
            spec = self._collections[collection]
            infos = [item for item in infos if spec.match_file(item[1].path)]
        if tags:
            wanted = {tag.casefold() for tag in tags}
            infos = [item for item in infos if wanted & {tag.casefold() for tag in item[1].tags}]
        if updated_after:
            since = updated_after if updated_after.tzinfo else updated_after.replace(tzinfo=UTC)
            infos = [item for item in infos if item[1].updated_at and item[1].updated_at >= since]
        return {number for number, _info in infos}

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
    collections: Mapping[str, Sequence[str]] | None = None,
) -> Index:
    """The index of this data folder; the embedder is opened at the first search if not given."""
    return Index(settings, embedder, collections)


def _within(hits: Sequence[tuple[Hit, Passage]], budget: int) -> list[tuple[Hit, Passage]]:
    taken: list[tuple[Hit, Passage]] = []
    used = 0
    for hit, passage in hits:
        if used >= budget:
            break
        taken.append((hit, passage))
        used += len(passage.text)
    return taken
