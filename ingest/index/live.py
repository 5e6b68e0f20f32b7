"""The live index as this process has it open: its folder, its damage, the embedder for queries."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from ingest.embedding.embedder import Embedder
from ingest.errors import IndexDamaged, IndexMissing, IngestError
from ingest.index import folders
from ingest.index.folders import IndexFolder
from ingest.index.metadata import IndexIdentity
from ingest.index.search import QueryVector, query_vector
from ingest.index.snapshot import OpenFolder, Snapshot
from ingest.sources import ChromaServer
from ingest.store.document_tables import SCHEMA_VERSION

log = logging.getLogger(__name__)

T = TypeVar("T")

REBUILD_SECONDS = 60.0
"""Seconds until a rebuild is asked for again, while the index stays damaged."""


class LiveIndex:
    """Follows the pointer to the live folder. Safe to use from several threads."""

    def __init__(
        self,
        data_dir: Path,
        server: ChromaServer | None,
        open_embedder: Callable[[], Embedder],
        *,
        late_interaction: bool = True,
    ) -> None:
        """``open_embedder`` is called at the first search, unless ``use`` was called before."""
        self._data_dir = data_dir
        self._server = server
        self._open_embedder = open_embedder
        self._late_interaction = late_interaction
        self._embedder: Embedder | None = None
        self._open: OpenFolder | None = None
        self._rebuild: Callable[[], object] | None = None
        self._next_rebuild = 0.0
        self._has_asked = False
        self._asked_for: set[int] = set()
        self._lock = threading.Lock()

    def rebuild_by(self, rebuild: Callable[[], object]) -> None:
        """Call ``rebuild``, which asks for an ingest, whenever the index cannot be read."""
        self._rebuild = rebuild

    def read(self, work: Callable[[OpenFolder], T]) -> T:
        """Run ``work`` on the live folder; run it again if the folder is replaced meanwhile.

        Raises IndexDamaged, after a rebuild was asked for, and IndexMissing.
        """
        try:
            return self._read(work)
        except IndexDamaged as error:
            if not self._is_rebuilt(error):
                raise
            raise IndexDamaged(error.cause, is_rebuilt=True) from error

    def _is_rebuilt(self, damage: IndexDamaged) -> bool:
        """Ask for a rebuild, once a minute; return False if nobody carries it out."""
        if self._rebuild is None:
            return False
        with self._lock:
            if time.monotonic() >= self._next_rebuild:
                self._next_rebuild = time.monotonic() + REBUILD_SECONDS
                self._has_asked = self._asked(self._rebuild, damage)
            return self._has_asked

    @staticmethod
    def _asked(rebuild: Callable[[], object], damage: IndexDamaged) -> bool:
        try:
            rebuild()
        except IngestError as error:
            log.warning("%s. The rebuild cannot be asked for: %s", damage.cause, error)
            return False
        log.warning("%s: it is being rebuilt.", damage.cause)
        return True

    def _read(self, work: Callable[[OpenFolder], T]) -> T:
        while True:
            folder = folders.live(self._data_dir)
            if folder is None and self._open is not None:
                raise IndexDamaged(f"The index is no longer in {self._data_dir}")
            if folder is None:
                raise IndexMissing("Nothing is indexed yet: run `footnote ingest`.")
            try:
                opened = self._opened(folder)
                result = work(opened)
                if opened.lost:
                    self._is_rebuilt(opened.lost)
                return result
            except IngestError as error:
                # An ingest, in any process, deletes the folder that it has replaced without asking
                # who still reads from it. That looks like damage, or like a failing disk.
                if folders.live(self._data_dir) == folder:
                    if isinstance(error, IndexDamaged):
                        folders.note_damage(folder, error.cause)
                    raise

    def embed(self, query: str, snapshot: Snapshot) -> QueryVector | None:
        """Vector of the query, or None when another embedder made the vectors of the index."""
        embedder = self._query_embedder()
        identity = IndexIdentity.from_meta(snapshot.meta)
        if identity is None or identity.embedder != embedder.fingerprint:
            log.warning("Another embedder made this index: it is searched by words only.")
            return None
        # An index of an older schema, which is searched until it is replaced, has no tokens.
        with_tokens = self._late_interaction and identity.schema == SCHEMA_VERSION
        return query_vector(query, embedder, with_tokens=with_tokens)

    def embed_by(self, embedder: Embedder) -> None:
        """Embed queries with this embedder, which makes the vectors that the index has so far."""
        with self._lock:
            self._embedder = embedder

    def use(self, embedder: Embedder) -> None:
        """Embed queries with this embedder from now on: it made the live index."""
        folder = folders.live(self._data_dir)
        with self._lock:
            self._embedder = embedder
            self._next_rebuild = 0.0
            if self._open is not None and (folder is None or not self._open.still_is(folder)):
                self._open.close()
                self._open = None

    def ask_for(self, documents: Iterable[int]) -> None:
        """Remember documents, by number, that lack vectors and that a search has returned."""
        with self._lock:
            self._asked_for.update(documents)

    def take_asked(self) -> set[int]:
        """Return the documents of ``ask_for`` since the last call."""
        with self._lock:
            asked, self._asked_for = self._asked_for, set()
            return asked

    def _opened(self, folder: IndexFolder) -> OpenFolder:
        with self._lock:
            if self._open is None or not self._open.still_is(folder):
                if self._open is not None:
                    self._open.close()
                self._open = OpenFolder(folder, self._server)
            return self._open

    def _query_embedder(self) -> Embedder:
        with self._lock:
            if self._embedder is None:
                self._embedder = self._open_embedder()
            return self._embedder

    def close(self) -> None:
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None
