"""Texts -> the vectors that are stored already: in this index, or in the one that it replaces."""

from collections.abc import Collection
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ingest.errors import IndexDamaged
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import Store, Vectors

MOST_SAVED = 20_000
"""Maximum number of vectors in memory whose place was taken: more are made again when needed."""


@dataclass(slots=True)
class Older:
    """The index that will be replaced; the same embedder made its vectors."""

    store: Store
    database: Path
    ids: dict[str, str]
    """Id of a chunk by content hash, for each of its vectors."""

    def close(self) -> None:
        self.store.close()


@dataclass(slots=True)
class StoredVectors:
    """Vectors by content hash, whatever chunk id they have."""

    tables: DocumentTables
    store: Store
    older: Older | None
    with_tokens: bool
    """True if a text needs token vectors, too: a vector without them is not reused."""
    _saved: dict[str, Vectors] = field(default_factory=dict)

    def of(self, hashes: Collection[str]) -> dict[str, Vectors]:
        """Return the stored vectors of these texts."""
        vectors = {hash_: self._saved[hash_] for hash_ in hashes if hash_ in self._saved}
        vectors |= _read(self.store, self.tables.embedded.ids(set(hashes) - vectors.keys()))
        missing = set(hashes) - vectors.keys()
        if self.older and missing:
            ids = {hash_: self.older.ids[hash_] for hash_ in missing & self.older.ids.keys()}
            vectors |= _read(self.older.store, ids)
            if self.with_tokens:
                self._copy_tokens(self.older, ids)
        if self.with_tokens and vectors:
            complete = self.tables.tokens.stored(vectors)
            vectors = {hash_: vector for hash_, vector in vectors.items() if hash_ in complete}
        return vectors

    def save(self, ids: Collection[str]) -> None:
        """Keep the vectors of these ids, whose rows are about to be replaced."""
        for hash_, vector in self.store.vectors(list(ids)).values():
            if len(self._saved) < MOST_SAVED:
                self._saved[hash_] = vector

    def _copy_tokens(self, older: Older, hashes: Collection[str]) -> None:
        with suppress(IndexDamaged), closing(DocumentTables(older.database)) as tables:
            self.tables.tokens.write(tables.tokens.read(hashes))


def _read(store: Store, ids: dict[str, str]) -> dict[str, Vectors]:
    """Vectors of these ids (hash -> id), by hash, as far as they belong to these texts."""
    if not ids:
        return {}
    stored = store.vectors(list(ids.values()))
    return {hash_: vector for hash_, vector in stored.values() if hash_ in ids}
