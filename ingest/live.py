"""What this process has open of the live index: its folder, and the embedder that made it."""

import logging
import threading

from ingest import index_folders as folders
from ingest.embedder import Embedder, open_embedder
from ingest.errors import IndexMissing
from ingest.facts import Identity
from ingest.settings import IndexSettings
from ingest.snapshot import OpenFolder, Snapshot
from ingest.store import Vectors

log = logging.getLogger(__name__)


class LiveIndex:
    """Follows the pointer to the live folder; safe to use from several threads."""

    def __init__(self, settings: IndexSettings, embedder: Embedder | None = None) -> None:
        self._settings = settings
        self._embedder = embedder
        self._open: OpenFolder | None = None
        self._lock = threading.Lock()

    def folder(self) -> OpenFolder:
        folder = folders.live(self._settings.data_dir)
        if folder is None:
            raise IndexMissing("Nothing is indexed yet: run `footnote ingest`.")
        with self._lock:
            if self._open is None or not self._open.still_is(folder):
                if self._open is not None:
                    self._open.close()
                self._open = OpenFolder(folder, self._settings)
            return self._open

    def embed(self, query: str, snapshot: Snapshot) -> Vectors | None:
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

    def use(self, embedder: Embedder) -> None:
        """Embed queries with this one from now on: the live index was built with it."""
        folder = folders.live(self._settings.data_dir)
        with self._lock:
            self._embedder = embedder
            if self._open is not None and (folder is None or not self._open.still_is(folder)):
                self._open.close()
                self._open = None

    def close(self) -> None:
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None
