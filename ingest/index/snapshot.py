"""One index folder, opened for reading, and what a search needs of it in memory.

The vectors are read at the first search, and again only as far as an ingest has changed them. A
search under way keeps the snapshot it began with. While a server with the vectors is away, what was
not read yet is found by its words.
"""

import logging
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.documents import DocumentInfo
from ingest.errors import IndexDamaged, StoreAway
from ingest.index.folders import IndexFolder
from ingest.index.matrix import Matrix, brought_up_to_date
from ingest.settings import IndexSettings
from ingest.store.pages import Pages
from ingest.store.vectors import open_store

log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0
"""How long after a server was away it is asked again."""
COLLECTION = "collection"
"""Key of the meta row that names the Chroma collection."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the index at one generation."""

    generation: int
    matrix: Matrix
    infos: Mapping[int, DocumentInfo]
    """Pages by document number."""
    meta: Mapping[str, str]
    frequencies: dict[str, int] = field(default_factory=dict)
    """In how many chunks a phrase occurs, as far as it was asked for."""
    until: float = math.inf
    """Monotonic time at which vectors that are missing are looked for again."""

    def is_of(self, generation: int) -> bool:
        return self.generation == generation and time.monotonic() < self.until


class OpenFolder:
    """The live index folder as this process reads it."""

    def __init__(self, folder: IndexFolder, settings: IndexSettings) -> None:
        self.folder = folder
        self.pages = Pages(folder.pages)
        self._settings = settings
        self._inode = _inode(folder)
        self._snapshot: Snapshot | None = None
        self._lock = threading.Lock()

    def still_is(self, folder: IndexFolder) -> bool:
        """Whether this is that very folder, not another that was made in its place."""
        return folder == self.folder and _inode(folder) == self._inode

    def snapshot(self) -> Snapshot:
        """What is stored now."""
        held = self._snapshot
        if held is not None and held.is_of(self.pages.generation()):
            return held
        with self._lock:
            generation = self.pages.generation()
            held = self._snapshot
            if held is None or not held.is_of(generation):
                held = self._snapshot = self._take(generation, held)
            return held

    def close(self) -> None:
        self.pages.close()

    def _take(self, generation: int, previous: Snapshot | None) -> Snapshot:
        meta = self.pages.meta()
        matrix = previous.matrix if previous else Matrix.empty()
        until = math.inf
        try:
            with open_store(self.folder.chroma, self._settings, meta[COLLECTION]) as store:
                matrix = brought_up_to_date(matrix, self.pages, store)
        except StoreAway as error:
            log.warning("%s Until then new text is found by words only.", error)
            matrix = brought_up_to_date(matrix, self.pages, None)
            until = time.monotonic() + RETRY_SECONDS
        infos = {stored.number: stored.info for stored in self.pages.documents().values()}
        return Snapshot(generation, matrix, infos, meta, until=until)


def _inode(folder: IndexFolder) -> int:
    try:
        return folder.pages.stat().st_ino
    except OSError as error:
        raise IndexDamaged(f"The keyword index is missing ({folder.pages})") from error
