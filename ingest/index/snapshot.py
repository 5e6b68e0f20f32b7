"""One index folder opened for reading, and the part of it that a search needs in memory.

The first search reads all vectors; later ones read only what an ingest has changed since. A running
search keeps the snapshot it started with. While the Chroma server is unreachable, another program
holds Chroma's file, or the vectors are gone, text whose vectors were not read yet is searched by
words only.
"""

import logging
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.documents import DocumentInfo
from ingest.errors import IndexDamaged, IndexLocked, StoreAway, VectorsLost
from ingest.index.folders import IndexFolder
from ingest.index.matrix import Matrix, brought_up_to_date
from ingest.sources import ChromaServer
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import open_store

log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0
"""Seconds until the next attempt to read vectors that cannot be read now."""
COLLECTION = "collection"
"""Metadata key of the Chroma collection's name."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the index at one generation."""

    generation: int
    matrix: Matrix
    infos: Mapping[int, DocumentInfo]
    """Documents by their number."""
    meta: Mapping[str, str]
    frequencies: dict[str, int] = field(default_factory=dict)
    """Number of chunks that contain a phrase; filled as phrases are looked up."""
    until: float = math.inf
    """Monotonic time at which missing vectors are looked up again."""

    def is_of(self, generation: int) -> bool:
        """Return True for the state of that generation, until missing vectors are due again."""
        return self.generation == generation and time.monotonic() < self.until


class OpenFolder:
    """An index folder that this process has open for reading."""

    def __init__(self, folder: IndexFolder, server: ChromaServer | None) -> None:
        self.folder = folder
        self.tables = DocumentTables(folder.database)
        self._server = server
        self._inode = _inode(folder)
        self.lost: VectorsLost | None = None
        """Set while the vectors are gone, and words alone are searched."""
        self._snapshot: Snapshot | None = None
        self._lock = threading.Lock()

    def still_is(self, folder: IndexFolder) -> bool:
        """Return True unless the folder was deleted and created again under the same name."""
        return folder == self.folder and _inode(folder) == self._inode

    def snapshot(self) -> Snapshot:
        """Return the present state, from memory if nothing has changed."""
        current = self._snapshot
        if current is not None and current.is_of(self.tables.generation()):
            return current
        with self._lock:
            generation = self.tables.generation()
            current = self._snapshot
            if current is None or not current.is_of(generation):
                current = self._snapshot = self._take(generation, current)
            return current

    def close(self) -> None:
        self.tables.close()

    def _take(self, generation: int, previous: Snapshot | None) -> Snapshot:
        meta = self.tables.meta()
        matrix = previous.matrix if previous else Matrix.empty()
        until = math.inf
        self.lost = None
        try:
            with open_store(self.folder.chroma, self._server, meta[COLLECTION]) as store:
                matrix = brought_up_to_date(matrix, self.tables, store)
        except (StoreAway, IndexLocked, VectorsLost) as error:
            self.lost = error if isinstance(error, VectorsLost) else None
            log.warning("%s Until then new text is searched by words only.", error)
            matrix = brought_up_to_date(matrix, self.tables, None)
            until = time.monotonic() + RETRY_SECONDS
        infos = {stored.number: stored.info for stored in self.tables.documents().values()}
        return Snapshot(generation, matrix, infos, meta, until=until)


def _inode(folder: IndexFolder) -> int:
    try:
        return folder.database.stat().st_ino
    except OSError as error:
        raise IndexDamaged(f"The keyword index is missing ({folder.database})") from error
