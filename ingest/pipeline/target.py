"""The index folder that an ingest writes into, and the stored vectors that it reuses.

An ingest writes into the live folder if that folder is sound and was built with the current
embedder, chunker and schema. Otherwise the ingest writes into a second folder. Searches read a
sound live folder until the second one is complete and replaces it; without a sound one they read
the second as it grows. A second folder that an earlier run left unfinished is continued.
``ingest.index.folders`` draws the states of a folder.
"""

import logging
import uuid
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ingest.errors import IndexDamaged, IngestError
from ingest.index import folders
from ingest.index.calibration import calibrated
from ingest.index.folders import IndexFolder
from ingest.index.metadata import IndexIdentity, LastIngest
from ingest.index.snapshot import COLLECTION
from ingest.pipeline import soundness
from ingest.pipeline.reuse import Older
from ingest.sources import ChromaServer
from ingest.store.chroma import check_file
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import READ_BATCH, Store, batches, open_sound_store, open_store

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
    older: Older | None = None
    """Vectors of the index that this one will replace, if the same embedder made them."""
    may_wait: bool = False
    """True if another, sound index is live, so that this one need not replace it."""
    warnings: list[str] = field(default_factory=list)
    is_first: bool = False
    """True if no run has completed this index, and no sound one is live."""
    was_suspect: bool = False
    """True if files have changed since the last run, so that this run has checked them."""
    orphans: set[str] = field(default_factory=set)
    """Ids whose vectors may have lost their row."""
    _is_complete: bool = False

    def answering_documents(self) -> dict[str, tuple[str, str]]:
        """Prefix and signature of the live documents, by path; empty if they cannot be read."""
        return self._from_live(DocumentTables.signatures)

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

    def answer(self) -> None:
        """Let searches read what is written so far, unless a sound index is live."""
        if not self.may_wait and folders.sound_live(self.data_dir) != self.folder:
            folders.make_live(self.data_dir, self.folder)

    def delete_orphans(self) -> None:
        """Delete every vector that has lost its row."""
        for batch in batches(list(self.orphans), READ_BATCH):
            self.store.delete(self.tables.embedded.without_row(batch))

    def complete(self, metadata: Mapping[str, str], older: Collection[str]) -> None:
        """Store the metadata, make this index live, and delete all other folders.

        ``older``: paths of documents that keep their older revision.
        """
        self.tables.complete(metadata, older)
        if folders.sound_live(self.data_dir) != self.folder:
            folders.make_live(self.data_dir, self.folder)
        for leftover in folders.unfinished(self.data_dir):
            _discard(leftover, self.server)
        self._is_complete = True

    def close(self) -> None:
        if self._is_complete:
            self.tables.empty_log()  # or the next program that closes the file would change it
        self.tables.close()
        self.store.close()
        if self.older is not None:
            self.older.close()
        if self._is_complete:
            soundness.note(self.folder)


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
            if warning:
                target.warnings.append(warning)
        if LastIngest.from_meta(target.tables.meta()) is None:
            self._add_older(target)
            target.is_first = not target.may_wait
        return target

    def _add_older(self, target: Target) -> None:
        """Give the target the vectors and the threshold of the index that it replaces."""
        for folder in folders.all_of(self.data_dir):
            if folder != target.folder and (older := self._older(folder)):
                target.older = older
                target.tables.set_meta(calibrated(folder))  # valid: the embedder is the same
                return

    def _reopened(self, folder: IndexFolder) -> Target | None:
        """Open this folder; None if its identity differs. Raises IndexDamaged."""
        if (cause := folders.noted_damage(folder)) is not None:
            raise IndexDamaged(cause)
        is_checked = soundness.is_as_noted(folder)
        with ExitStack() as stack:
            tables = stack.enter_context(closing(DocumentTables(folder.database)))
            if not is_checked:
                tables.check()
            meta = tables.meta()
            if IndexIdentity.from_meta(meta) != self.identity:
                return None
            if self.server is None:
                check_file(folder.chroma)
            store = stack.enter_context(open_store(folder.chroma, self.server, meta[COLLECTION]))
            target = Target(self.data_dir, self.server, folder, tables, store)
            if not is_checked or store.count() != tables.embedded.count():
                target.was_suspect = True
                target.orphans = _compared(tables, store)
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
            target = Target(self.data_dir, self.server, folder, tables, store)
            stack.pop_all()
        return target

    def _older(self, folder: IndexFolder) -> Older | None:
        """Vectors of a folder, if they can be read and the same embedder made them."""
        name = _collection_name(folder, self.server)
        if name is None:
            return None
        try:
            store = open_sound_store(folder.chroma, self.server, name)
            ids = {hash_: id_ for id_, hash_ in store.hashes().items()}
        except IndexDamaged:
            return None
        if store.embedder != self.identity.embedder:
            store.close()
            return None
        return Older(store, folder.database, ids)


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


def _compared(tables: DocumentTables, store: Store) -> set[str]:
    """Read every vector once, and enter which rows have theirs; return ids that may lack a row.

    Raises IndexDamaged.
    """
    known = 0
    for batch in batches(tables.embedded.all_ids(), READ_BATCH):
        stored = {id_: hash_ for id_, (hash_, _vector) in store.vectors(batch).items()}
        tables.embedded.settle(batch, stored)
        known += len(stored)
    return set(store.hashes()) if store.count() > known else set()
