"""The index folder that an ingest writes into, and the stored vectors that it reuses.

An ingest writes into the live folder if that folder is sound and was built with the current
embedder, chunker and schema. Otherwise the ingest writes into a second folder. Searches read the
live folder until the second one is complete and replaces it. A second folder that an earlier run
left unfinished is continued. ``ingest.index.folders`` draws the states of a folder.
"""

import logging
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ingest.documents import Chunk
from ingest.errors import IndexDamaged, IngestError
from ingest.index import folders
from ingest.index.calibration import calibrated
from ingest.index.folders import IndexFolder
from ingest.index.metadata import IndexIdentity
from ingest.index.snapshot import COLLECTION
from ingest.sources import ChromaServer
from ingest.store.document_rows import StoredDocument
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import (
    READ_BATCH,
    Store,
    Vectors,
    batches,
    open_sound_store,
    open_store,
)

log = logging.getLogger(__name__)

T = TypeVar("T")

LOCAL_COLLECTION = "footnote"


@dataclass(slots=True)
class Target:
    """The index that is written: its tables and its vectors, both open. Close it after use."""

    data_dir: Path
    server: ChromaServer | None
    folder: IndexFolder
    tables: DocumentTables
    store: Store
    stored_hashes: dict[str, str]
    """Chunk id -> hash of its text, for each vector that was stored when the ingest began."""
    older: Store | None = None
    """Vectors of the index that this one will replace, if the same embedder made them."""
    older_tables: Path | None = None
    """Database of the index that this one will replace."""
    may_wait: bool = False
    """True if another, sound index is live, so that this one need not replace it."""
    warnings: list[str] = field(default_factory=list)
    _written: set[str] = field(default_factory=set)

    def reusable(self, hashes: Collection[str], with_tokens: bool) -> dict[str, Vectors]:
        """Stored vectors by content hash, whatever chunk id they had.

        ``with_tokens`` leaves out vectors whose token vectors are not stored.
        """
        vectors = _by_hash(self.store, self.stored_hashes, hashes)
        if self.older is not None and len(vectors) < len(hashes):
            missing = set(hashes) - vectors.keys()
            vectors |= _by_hash(self.older, self.older.hashes(), missing)
            if with_tokens:
                self._copy_tokens(missing)
        if with_tokens:
            complete = self.tables.tokens.stored(vectors)
            vectors = {hash_: vector for hash_, vector in vectors.items() if hash_ in complete}
        return vectors

    def _copy_tokens(self, hashes: Collection[str]) -> None:
        """Copy token vectors of these texts from the index that will be replaced."""
        if self.older_tables is None:
            return
        with suppress(IndexDamaged), closing(DocumentTables(self.older_tables)) as older:
            for batch in batches(list(hashes), READ_BATCH):
                self.tables.tokens.write(older.tokens.read(batch))

    def damaged_documents(self) -> set[str]:
        """Paths of documents with a chunk whose vector is missing or belongs to another text."""
        return {
            path
            for id_, (path, hash_) in self.tables.hashes().items()
            if self.stored_hashes.get(id_) != hash_
        }

    def answering_documents(self) -> dict[str, StoredDocument]:
        """Documents of the live index by path; empty if it cannot be read."""
        return self._from_live(DocumentTables.documents)

    def answering_meta(self) -> dict[str, str]:
        """Metadata of the live index; empty if it cannot be read."""
        return self._from_live(DocumentTables.meta)

    def _from_live(self, read: Callable[[DocumentTables], dict[str, T]]) -> dict[str, T]:
        live = folders.sound_live(self.data_dir)
        if live is None:
            return {}
        if live == self.folder:
            return read(self.tables)
        try:
            with closing(DocumentTables(live.database)) as tables:
                return read(tables)
        except IndexDamaged:
            return {}  # the reason for this rebuild; the report says so

    def write_vectors(self, chunks: Sequence[Chunk], vectors: Sequence[Vectors]) -> None:
        self.store.write(chunks, vectors)
        self._written.update(chunk.id for chunk in chunks)

    def delete_orphans(self) -> None:
        """Delete every vector without a row in the tables."""
        ids = self.stored_hashes.keys() | self._written
        self.store.delete(list(ids - self.tables.ids()))

    def complete(self, metadata: Mapping[str, str], older: Collection[str]) -> None:
        """Store the metadata, make this index live, and delete all other folders.

        ``older``: paths of documents that keep their older revision.
        """
        self.tables.complete(metadata, older)
        current = folders.sound_live(self.data_dir)
        if current is not None and self.older is not None:
            self.tables.set_meta(calibrated(current))  # still valid: the embedder is the same
        if current != self.folder:
            folders.make_live(self.data_dir, self.folder)
        for leftover in folders.unfinished(self.data_dir):
            _discard(leftover, self.server)

    def close(self) -> None:
        self.tables.close()
        self.store.close()
        if self.older is not None:
            self.older.close()


def open_target(data_dir: Path, server: ChromaServer | None, identity: IndexIdentity) -> Target:
    """Open the folder to write into; create one if none fits."""
    return _Chooser(data_dir, server, identity).target()


@dataclass(frozen=True, slots=True)
class _Chooser:
    """Chooses the folder for an index of one identity."""

    data_dir: Path
    server: ChromaServer | None
    identity: IndexIdentity

    def target(self) -> Target:
        live = target = None
        is_sound, warning = False, ""
        try:
            live = folders.live(self.data_dir)
            if live is not None:
                target = self._reopened(live)
                is_sound = True
                warning = (
                    "The embedder, or the way pages are indexed, has changed: the index was"
                    " rebuilt."
                )
        except IndexDamaged as error:
            warning = f"{error.cause}: the index was rebuilt."
        if target is None:
            target = self._unfinished() or self._created()
            target.may_wait = is_sound
            if live is not None:
                target.older = self._older_store(live)
                target.older_tables = live.database
            if warning:
                target.warnings.append(warning)
        return target

    def _reopened(self, folder: IndexFolder) -> Target | None:
        """Open this folder; None if its identity differs. Raises IndexDamaged."""
        if (cause := folders.noted_damage(folder)) is not None:
            raise IndexDamaged(cause)
        with ExitStack() as stack:
            tables = stack.enter_context(closing(DocumentTables(folder.database)))
            tables.check()
            meta = tables.meta()
            if IndexIdentity.from_meta(meta) != self.identity:
                return None
            store = stack.enter_context(
                open_sound_store(folder.chroma, self.server, meta[COLLECTION])
            )
            target = self._target(folder, tables, store, store.hashes())
            stack.pop_all()
        return target

    def _unfinished(self) -> Target | None:
        """Continue a folder of an earlier run, and delete all others beside the live one."""
        target = None
        for folder in folders.unfinished(self.data_dir):
            reopened = None
            if target is None:
                try:
                    reopened = target = self._reopened(folder)
                except IndexDamaged as error:
                    log.warning("%s is not continued: %s", folder.path, error)
            if reopened is None:
                _discard(folder, self.server)
        return target

    def _created(self) -> Target:
        folder = folders.start(self.data_dir)
        # A server may hold the collections of other data folders, too.
        name = LOCAL_COLLECTION if self.server is None else f"footnote-{uuid.uuid4().hex[:12]}"
        with ExitStack() as stack:
            stack.callback(folders.remove, folder)  # runs if tables or vectors cannot be created
            store = stack.enter_context(
                open_store(folder.chroma, self.server, name, embedder=self.identity.embedder)
            )
            tables = stack.enter_context(closing(DocumentTables(folder.database, create=True)))
            tables.set_meta(self.identity.to_meta() | {COLLECTION: name})
            target = self._target(folder, tables, store, {})
            stack.pop_all()
        return target

    def _target(
        self, folder: IndexFolder, tables: DocumentTables, store: Store, hashes: dict[str, str]
    ) -> Target:
        return Target(self.data_dir, self.server, folder, tables, store, hashes)

    def _older_store(self, live: IndexFolder) -> Store | None:
        """Vectors of the live index, if they can be read and the same embedder made them."""
        name = _collection_name(live, self.server)
        if name is None:
            return None
        try:
            store = open_sound_store(live.chroma, self.server, name)
        except IndexDamaged:
            return None
        if store.embedder != self.identity.embedder:
            store.close()
            return None
        return store


def _collection_name(folder: IndexFolder, server: ChromaServer | None) -> str | None:
    """Name of the folder's collection; None if unknown, since a server has those of others too."""
    try:
        with closing(DocumentTables(folder.database)) as tables:
            return tables.meta().get(COLLECTION)
    except IndexDamaged:
        return LOCAL_COLLECTION if server is None else None


def _discard(folder: IndexFolder, server: ChromaServer | None) -> None:
    if server is not None and (name := _collection_name(folder, server)):
        try:
            with open_store(folder.chroma, server, name) as store:
                store.drop()
        except IngestError as error:
            log.warning("Collection %s may be left on the Chroma server: %s", name, error)
    folders.remove(folder)


def _by_hash(
    store: Store, stored: Mapping[str, str], wanted: Collection[str]
) -> dict[str, Vectors]:
    ids = {hash_: id_ for id_, hash_ in stored.items() if hash_ in wanted}
    return dict(store.vectors(list(ids.values())).values())
