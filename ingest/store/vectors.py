"""Vectors by chunk id, in one Chroma collection.

Chroma stores the vectors but does not search them. Every passage needs its exact distance, even one
that only the keyword index returned, and a filter must not cost more than the search itself. A scan
over all vectors (``ingest.index.matrix``) gives both within milliseconds at the size of a
docs repo, where Chroma's own filtered query takes a hundred. Reading by id also returns what
another process wrote.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ingest.documents import Chunk
from ingest.errors import VectorsLost
from ingest.sources import ChromaServer
from ingest.store.chroma import (
    ChromaCollection,
    ClientAPI,
    CreateHNSWConfiguration,
    check_file,
    close_client,
    open_client,
    reading_errors,
    writing_errors,
)

Vectors = npt.NDArray[np.float32]
T = TypeVar("T")

_GRAPH: CreateHNSWConfiguration = {"space": "cosine", "max_neighbors": 2, "ef_construction": 2}
"""The smallest graph that Chroma builds: nobody searches it, and a larger one takes more of the
time of an ingest the larger the index is."""
READ_BATCH = 1000
"""Maximum number of ids in one request."""


class Store:
    """The vectors of one index: written, deleted and read by chunk id. Close it after use."""

    def __init__(
        self,
        client: ClientAPI,
        collection: ChromaCollection,
        folder: Path,
        server: ChromaServer | None,
    ) -> None:
        self._client = client
        self._folder = folder
        self._server = server
        self._collection = collection
        self._write_batch = client.get_max_batch_size()

    @property
    def embedder(self) -> str | None:
        """Fingerprint of the embedder that made the vectors."""
        return (self._collection.metadata or {}).get("embedder")

    def count(self) -> int:
        """Number of stored vectors."""
        with reading_errors(self._folder, self._server):
            return self._collection.count()

    def hashes(self) -> dict[str, str]:
        """Content hash by id, of all stored vectors."""
        stored: dict[str, str] = {}
        # In parts: Chroma cannot return more than 32,766 rows at once.
        while True:
            with reading_errors(self._folder, self._server):
                rows = self._collection.get(
                    include=["metadatas"], limit=READ_BATCH, offset=len(stored)
                )
            for id_, metadata in zip(rows["ids"], rows["metadatas"] or [], strict=True):
                stored[id_] = str((metadata or {}).get("hash", ""))
            if len(rows["ids"]) < READ_BATCH:
                return stored

    def vectors(self, ids: Sequence[str]) -> dict[str, tuple[str, Vectors]]:
        """Content hash and vector by id; unknown ids are left out."""
        stored: dict[str, tuple[str, Vectors]] = {}
        for batch in batches(ids, READ_BATCH):
            with reading_errors(self._folder, self._server):
                rows = self._collection.get(ids=batch, include=["embeddings", "metadatas"])
            embeddings = np.asarray(rows["embeddings"], dtype=np.float32)
            for id_, metadata, vector in zip(
                rows["ids"], rows["metadatas"] or [], embeddings, strict=True
            ):
                stored[id_] = (str((metadata or {}).get("hash", "")), vector)
        return stored

    def write(self, chunks: Sequence[Chunk], vectors: Sequence[Vectors]) -> None:
        """Store each chunk's vector under its id, replacing an older one."""
        for batch in batches(list(zip(chunks, vectors, strict=True)), self._write_batch):
            with writing_errors(self._folder):
                self._collection.upsert(
                    ids=[chunk.id for chunk, _ in batch],
                    embeddings=np.stack([vector for _, vector in batch]),
                    metadatas=[
                        {"source": chunk.path, "chunk": chunk.number, "hash": chunk.hash}
                        for chunk, _ in batch
                    ],
                )

    def copy_to(self, other: "Store") -> None:
        """Write all vectors of this store, with their metadata, into the other one."""
        for ids in batches(list(self.hashes()), min(READ_BATCH, other._write_batch)):
            with reading_errors(self._folder, self._server):
                rows = self._collection.get(ids=ids, include=["embeddings", "metadatas"])
            with writing_errors(other._folder):
                other._collection.upsert(rows["ids"], rows["embeddings"], rows["metadatas"])

    def delete(self, ids: Sequence[str]) -> None:
        for batch in batches(ids, self._write_batch):
            with writing_errors(self._folder):
                self._collection.delete(ids=batch)

    def drop(self) -> None:
        """Delete the collection on a server. A local folder is deleted as a whole instead."""
        with writing_errors(self._folder):
            self._client.delete_collection(self._collection.name)

    def close(self) -> None:
        close_client(self._client, self._server)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def open_store(
    folder: Path, server: ChromaServer | None, name: str, *, embedder: str | None = None
) -> Store:
    """Open the collection ``name``, on the server if there is one, else in the folder.

    If the fingerprint of an ``embedder`` is given, a missing collection is created. Raises
    IndexDamaged and StoreAway.
    """
    with reading_errors(folder, server):
        if server is None and embedder is None and not folder.is_dir():
            raise VectorsLost  # Chroma would create an empty folder
        client = open_client(folder, server)
        try:
            if embedder is None:
                collection = client.get_collection(name, embedding_function=None)
            else:
                collection = client.get_or_create_collection(
                    name,
                    embedding_function=None,
                    metadata={"embedder": embedder},
                    configuration={"hnsw": _GRAPH},
                )
            return Store(client, collection, folder, server)
        except BaseException:
            close_client(client, server)
            raise


def open_sound_store(folder: Path, server: ChromaServer | None, name: str) -> Store:
    """Open the collection and read every vector once. Raises IndexDamaged."""
    if server is None:
        check_file(folder)
    store = open_store(folder, server, name)
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
