"""Vectors by chunk id, in one Chroma collection.

Chroma keeps the vectors; it is not asked to search. Every passage needs its exact distance, also
one that only the keyword index found, and a filter must not cost more than the search itself. A
scan over vectors held in memory (``ingest.index.matrix``) gives both within milliseconds at the
size of a docs repo, where Chroma's own filtered query takes a hundred. Reading by id also sees what
another process wrote.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ingest.documents import Chunk
from ingest.settings import IndexSettings
from ingest.store.chroma import (
    ClientAPI,
    Collection,
    check_file,
    close_client,
    lost,
    open_client,
    reading,
    writing,
)

Vectors = npt.NDArray[np.float32]
T = TypeVar("T")

READ_BATCH = 1000


class Store:
    """One collection: writes, deletes and reads by chunk id. Close it after use."""

    def __init__(self, client: ClientAPI, collection: Collection, settings: IndexSettings) -> None:
        self._client = client
        self._settings = settings
        self._collection = collection
        self._write_batch = client.get_max_batch_size()

    @property
    def embedder(self) -> str | None:
        """Fingerprint of the embedder that made the vectors."""
        return (self._collection.metadata or {}).get("embedder")

    def hashes(self) -> dict[str, str]:
        """Content hash by id of all that is stored."""
        with reading(self._settings):
            found = self._collection.get(include=["metadatas"])
        metadatas = found["metadatas"] or []
        return {
            id_: str((metadata or {}).get("hash", ""))
            for id_, metadata in zip(found["ids"], metadatas, strict=True)
        }

    def vectors(self, ids: Sequence[str]) -> dict[str, tuple[str, Vectors]]:
        """Content hash and vector by id; unknown ids are left out."""
        stored: dict[str, tuple[str, Vectors]] = {}
        for batch in batches(ids, READ_BATCH):
            with reading(self._settings):
                found = self._collection.get(ids=batch, include=["embeddings", "metadatas"])
            embeddings = np.asarray(found["embeddings"], dtype=np.float32)
            for id_, metadata, vector in zip(
                found["ids"], found["metadatas"] or [], embeddings, strict=True
            ):
                stored[id_] = (str((metadata or {}).get("hash", "")), vector)
        return stored

    def write(self, chunks: Sequence[Chunk], vectors: Sequence[Vectors]) -> None:
        """Store each chunk's vector under its id, over what was there."""
        for batch in batches(list(zip(chunks, vectors, strict=True)), self._write_batch):
            with writing(self._settings):
                self._collection.upsert(
                    ids=[chunk.id for chunk, _ in batch],
                    embeddings=np.stack([vector for _, vector in batch]),
                    metadatas=[
                        {"source": chunk.path, "chunk": chunk.number, "hash": chunk.hash}
                        for chunk, _ in batch
                    ],
                )

    def delete(self, ids: Sequence[str]) -> None:
        for batch in batches(ids, self._write_batch):
            with writing(self._settings):
                self._collection.delete(ids=batch)

    def drop(self) -> None:
        """Delete the collection; only a server needs it, a folder is deleted with all it holds."""
        with writing(self._settings):
            self._client.delete_collection(self._collection.name)

    def close(self) -> None:
        close_client(self._client, self._settings)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def open_store(
    folder: Path, settings: IndexSettings, name: str, *, embedder: str | None = None
) -> Store:
    """Open the collection; with ``embedder`` (its fingerprint) it is created where missing."""
    with reading(settings):
        if settings.chroma_host is None and embedder is None and not folder.is_dir():
            raise lost()  # Chroma would make an empty one
        client = open_client(folder, settings)
        try:
            if embedder is None:
                collection = client.get_collection(name, embedding_function=None)
            else:
                collection = client.get_or_create_collection(
                    name,
                    embedding_function=None,
                    metadata={"embedder": embedder},
                    configuration={"hnsw": {"space": "cosine"}},
                )
            return Store(client, collection, settings)
        except BaseException:
            close_client(client, settings)
            raise


def open_sound_store(folder: Path, settings: IndexSettings, name: str) -> Store:
    """The same after every vector was read once. Raises IndexDamaged."""
    if settings.chroma_host is None:
        check_file(folder)
    store = open_store(folder, settings, name)
    try:
        for batch in batches(list(store.hashes()), READ_BATCH):
            store.vectors(batch)
    except BaseException:
        store.close()
        raise
    return store


def batches(items: Sequence[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most ``size``."""
    for first in range(0, len(items), size):
        yield list(items[first : first + size])
