"""One index folder opened for reading, and the part of it that a search needs in memory.

The first search reads all vectors; later ones read only what an ingest has changed since. A running
search keeps the snapshot it started with. While the Chroma server is unreachable, another program
holds Chroma's file, or the vectors are gone, text whose vectors were not read yet is searched by
words only.
"""

import json
import logging
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ingest.documents import DocumentInfo
from ingest.errors import IndexDamaged, IndexLocked, StoreAway, VectorsLost
from ingest.index.completeness import NOTABLE, Growth
from ingest.index.folders import IndexFolder
from ingest.index.matrix import Matrix, brought_up_to_date
from ingest.index.same_texts.stand_ins import Editions
from ingest.sources import ChromaServer
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import open_store

log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0
"""Seconds until the next attempt to read vectors that cannot be read now."""
COLLECTION = "collection"
"""Metadata key of the Chroma collection's name."""
EDITIONS = "editions"
"""Metadata key of what the editions were made from; its ``original`` is the originals' language."""


@dataclass(frozen=True)
class Snapshot:
    """The state of the index at one generation."""

    generation: int
    matrix: Matrix
    tables: DocumentTables
    chunks: int
    """Number of chunks, with a vector or without."""
    growth: Growth | None
    """None if nothing notable is missing."""
    meta: Mapping[str, str]
    frequencies: dict[str, int] = field(default_factory=dict)
    """Number of chunks that contain a phrase; filled as phrases are looked up."""
    until: float = math.inf
    """Monotonic time at which missing vectors are looked up again."""

    @cached_property
    def infos(self) -> Mapping[int, DocumentInfo]:
        """Documents by their number; read when the first search with filters needs them."""
        return {stored.number: stored.info for stored in self.tables.documents().values()}

    @cached_property
    def editions(self) -> Editions:
        """Which documents are editions of one page, and which of their chunks are kin."""
        note = json.loads(self.meta.get(EDITIONS, "{}"))
        rows, kin = self.tables.editions.related(), self.tables.editions.kin()
        return Editions.of(rows, kin, note.get("original"), self.tables.editions.largest())

    @property
    def has_vectors(self) -> bool:
        """True if nearly all chunks can be compared by meaning."""
        return self.chunks - len(self.matrix.rows) <= NOTABLE * self.chunks

    def is_of(self, generation: int) -> bool:
        """Return True for the state of that generation, until missing vectors are due again."""
        return self.generation == generation and time.monotonic() < self.until


def snapshot_of(
    tables: DocumentTables,
    generation: int,
    matrix: Matrix,
    meta: Mapping[str, str],
    until: float = math.inf,
) -> Snapshot:
    """Return the state of the tables, with these vectors."""
    documents, chunks = tables.counts()
    growth = Growth.of(meta, documents, chunks, tables.embedded.count())
    return Snapshot(generation, matrix, tables, chunks, growth, meta, until=until)


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
        return snapshot_of(self.tables, generation, matrix, meta, until)


def _inode(folder: IndexFolder) -> int:
    try:
        return folder.database.stat().st_ino
    except OSError as error:
        raise IndexDamaged(f"The keyword index is missing ({folder.database})") from error
