"""What this process has open of the live index: its folder, and the embedder that made it."""

import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from ingest.embedding.embedder import Embedder, open_embedder
from ingest.errors import IndexMissing, IngestError
from ingest.index import folders
from ingest.index.facts import Identity
from ingest.index.folders import IndexFolder
from ingest.index.search import QueryVector, query_vector
from ingest.index.snapshot import OpenFolder, Snapshot
from ingest.settings import IndexSettings
from ingest.store.pages import SCHEMA_VERSION

log = logging.getLogger(__name__)

T = TypeVar("T")


class LiveIndex:
    """Follows the pointer to the live folder; safe to use from several threads."""

    def __init__(self, settings: IndexSettings, embedder: Embedder | None = None) -> None:
        self._settings = settings
        self._embedder = embedder
        self._open: OpenFolder | None = None
        self._lock = threading.Lock()

    def read(self, work: Callable[[OpenFolder], T]) -> T:
        """What ``work`` finds in the live folder; begun again where that one is replaced meanwhile.

        An ingest, in whatever process, deletes the folder that it replaced without asking who is
        still reading.
        """
        while True:
            folder = folders.live(self._settings.data_dir)
            if folder is None:
                raise IndexMissing("Nothing is indexed yet: run `footnote ingest`.")
            try:
                return work(self._opened(folder))
            except IngestError:  # damage, or a disk that seems to fail under a file just deleted
                if folders.live(self._settings.data_dir) == folder:
                    raise

    def embed(self, query: str, snapshot: Snapshot) -> QueryVector | None:
        """The query's vector, or None when this model is not the one that the index has."""
        embedder = self._embedder_of_queries()
        identity = Identity.from_meta(snapshot.meta)
        if identity is None or identity.embedder != embedder.fingerprint:
            log.warning("The index was built with another embedder: found by words only.")
            return None
        # While an index of an older version is rebuilt it answers without tokens: it has none.
        with_tokens = self._settings.late_interaction and identity.schema == SCHEMA_VERSION
        return query_vector(query, embedder, with_tokens=with_tokens)

    def use(self, embedder: Embedder) -> None:
        """Embed queries with this one from now on: the live index was built with it."""
        folder = folders.live(self._settings.data_dir)
        with self._lock:
            self._embedder = embedder
            if self._open is not None and (folder is None or not self._open.still_is(folder)):
                self._open.close()
                self._open = None

    def _opened(self, folder: IndexFolder) -> OpenFolder:
        with self._lock:
            if self._open is None or not self._open.still_is(folder):
                if self._open is not None:
                    self._open.close()
                self._open = OpenFolder(folder, self._settings)
            return self._open

    def _embedder_of_queries(self) -> Embedder:
        with self._lock:
            if self._embedder is None:
                self._embedder = open_embedder(self._settings)
            return self._embedder

    def close(self) -> None:
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None
