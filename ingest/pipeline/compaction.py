"""A live folder that has grown by deleted rows and vectors -> a compact copy in its place.

Chroma gives back no space of deleted vectors, so the vectors are copied into a folder of their own;
nothing is embedded. Searches read the old folder until the copy replaces it. A copy that is cut off
is a folder beside the live one, which the next ingest deletes.
"""

import logging
from contextlib import closing, suppress
from pathlib import Path

from ingest.errors import IngestError
from ingest.index import folders
from ingest.pipeline.target import LOCAL_COLLECTION, Target
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import open_store

log = logging.getLogger(__name__)

GROWTH = 1.25
"""Factor by which the bytes of a chunk may grow until the folder is copied.

A copy gives back at least a fifth of the folder. So copies are as rare as changes, and cost less
than the embedding of the texts that have changed.
"""
CHUNK_BYTES = "chunk_bytes"
"""Metadata key of the bytes on disk of a chunk, when the folder had no deleted ones."""


def compact(target: Target) -> None:
    """Copy the folder that an ingest has completed, if deleted rows and vectors fill it.

    A failure leaves the folder as it is: the next ingest tries again. A server's vectors stay.
    """
    if target.server is not None:
        return
    try:
        target.tables.empty_log()
        now = _chunk_bytes(target.folder.path, target)
        compact_one = float(target.tables.meta().get(CHUNK_BYTES, "inf"))
        if now > GROWTH * compact_one:
            _replace(target)
        elif now < compact_one:
            target.tables.set_meta({CHUNK_BYTES: repr(now)})
    except IngestError as error:
        log.warning("The index was not compacted: %s", error)


def _replace(target: Target) -> None:
    copy = folders.start(target.data_dir)
    try:
        target.tables.copy_to(copy.database)
        embedder = target.store.embedder
        with open_store(copy.chroma, None, LOCAL_COLLECTION, embedder=embedder) as store:
            target.store.copy_to(store)
        with closing(DocumentTables(copy.database)) as tables:
            tables.set_meta({CHUNK_BYTES: repr(_chunk_bytes(copy.path, target))})
        folders.make_live(target.data_dir, copy)
    except BaseException:
        folders.remove(copy)
        raise
    folders.remove(target.folder)


def _chunk_bytes(folder: Path, target: Target) -> float:
    size = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):  # a reader that closes a database deletes its log
            size += file.stat().st_size if file.is_file() else 0
    _documents, chunks = target.tables.counts()
    return size / max(1, chunks)
