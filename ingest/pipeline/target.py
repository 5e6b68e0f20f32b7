"""Which index folder an ingest writes into, and what can be used again from another one.

The live folder, as long as it is sound and was made in the way that the settings ask for now.
Otherwise a folder beside it, which takes its place when it is complete: until then the old one
answers. One that an earlier run left unfinished is continued. ``ingest.index.folders`` draws what
becomes of a folder.
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
from ingest.index.facts import Identity
from ingest.index.folders import IndexFolder
from ingest.index.snapshot import COLLECTION
from ingest.settings import IndexSettings
from ingest.store.pages import Pages, StoredDocument
from ingest.store.vectors import READ_BATCH, Store, Vectors, batches, open_sound_store, open_store

log = logging.getLogger(__name__)

T = TypeVar("T")

LOCAL_COLLECTION = "footnote"


@dataclass(slots=True)
class Target:
    """Both halves of the index that is written, open. Close it after use."""

    settings: IndexSettings
    folder: IndexFolder
    pages: Pages
    store: Store
    stored_hashes: dict[str, str]
    """Content hash by id of the stored vectors, when the ingest began."""
    older: Store | None = None
    """Vectors of the index that this one will replace, if the same embedder made them."""
    older_pages: Path | None = None
    """Where that index has its tokens."""
    may_wait: bool = False
    """Whether the index that answers is another one, and sound."""
    warnings: list[str] = field(default_factory=list)
    _written: set[str] = field(default_factory=set)

    def reusable(self, hashes: Collection[str], with_tokens: bool) -> dict[str, Vectors]:
        """Stored vectors by content hash, whatever their ids were; with their tokens, or none."""
        found = _by_hash(self.store, self.stored_hashes, hashes)
        if self.older is not None and len(found) < len(hashes):
            rest = set(hashes) - found.keys()
            found |= _by_hash(self.older, self.older.hashes(), rest)
            if with_tokens:
                self._copy_tokens(rest)
        if with_tokens:
            known = self.pages.tokens.known(found)
            found = {hash_: vector for hash_, vector in found.items() if hash_ in known}
        return found

    def _copy_tokens(self, hashes: Collection[str]) -> None:
        """Take over what the index that will be replaced holds of these texts, if it does."""
        if self.older_pages is None:
            return
        with suppress(IndexDamaged), closing(Pages(self.older_pages)) as older:
            for some in batches(list(hashes), READ_BATCH):
                self.pages.tokens.write(older.tokens.read(some))

    def damaged_pages(self) -> set[str]:
        """Paths of pages that have a chunk whose vector is missing or of another text."""
        return {
            path
            for id_, (path, hash_) in self.pages.hashes().items()
            if self.stored_hashes.get(id_) != hash_
        }

    def answering_pages(self) -> dict[str, StoredDocument]:
        """The pages that searches find at the moment, as far as they can be read."""
        return self._answering(Pages.documents)

    def answering_meta(self) -> dict[str, str]:
        """What the index notes of itself that answers at the moment."""
        return self._answering(Pages.meta)

    def _answering(self, read: Callable[[Pages], dict[str, T]]) -> dict[str, T]:
        live = folders.sound_live(self.settings.data_dir)
        if live is None:
            return {}
        if live == self.folder:
            return read(self.pages)
        try:
            with closing(Pages(live.pages)) as pages:
                return read(pages)
        except IndexDamaged:
            return {}  # which is why it is replaced, and what the report says

    def write_vectors(self, chunks: Sequence[Chunk], vectors: Sequence[Vectors]) -> None:
        self.store.write(chunks, vectors)
        self._written.update(chunk.id for chunk in chunks)

    def delete_orphans(self) -> None:
        """Delete every vector that no row speaks of, whoever left it."""
        vectors = self.stored_hashes.keys() | self._written
        self.store.delete(list(vectors - self.pages.ids()))

    def complete(self, noted: Mapping[str, str]) -> None:
        """Note what was ingested, and let this index answer."""
        self.pages.set_meta(noted)
        current = folders.sound_live(self.settings.data_dir)
        if current is not None and self.older is not None:
            self.pages.set_meta(calibrated(current))  # the same embedder: it still holds
        if current != self.folder:
            folders.make_live(self.settings.data_dir, self.folder)
        for leftover in folders.unfinished(self.settings.data_dir):
            _discard(leftover, self.settings)

    def close(self) -> None:
        self.pages.close()
        self.store.close()
        if self.older is not None:
            self.older.close()


def open_target(settings: IndexSettings, identity: Identity) -> Target:
    """The folder to write into, made where there is none that fits."""
    live = target = None
    sound, warning = False, ""
    try:
        live = folders.live(settings.data_dir)
        if live is not None:
            target = _reopened(live, settings, identity)
            sound = True
            warning = (
                "The embedder, or the way pages are indexed, has changed: the index was rebuilt."
            )
    except IndexDamaged as error:
        warning = f"{error.cause}: the index was rebuilt."
    if target is None:
        target = _unfinished(settings, identity) or _created(settings, identity)
        target.may_wait = sound
        if live is not None:
            target.older = _older_store(live, settings, identity)
            target.older_pages = live.pages
        if warning:
            target.warnings.append(warning)
    return target


def _reopened(folder: IndexFolder, settings: IndexSettings, identity: Identity) -> Target | None:
    """This folder, if it is sound (else IndexDamaged) and of this identity (else None)."""
    with ExitStack() as stack:
        pages = stack.enter_context(closing(Pages(folder.pages)))
        pages.check()
        meta = pages.meta()
        if Identity.from_meta(meta) != identity:
            return None
        store = stack.enter_context(open_sound_store(folder.chroma, settings, meta[COLLECTION]))
        target = Target(settings, folder, pages, store, store.hashes())
        stack.pop_all()
    return target


def _unfinished(settings: IndexSettings, identity: Identity) -> Target | None:
    """What an earlier run began in the same way; everything else beside the live one goes."""
    target = None
    for folder in folders.unfinished(settings.data_dir):
        found = None
        if target is None:
            try:
                found = target = _reopened(folder, settings, identity)
            except IndexDamaged as error:
                log.warning("%s is not continued: %s", folder.path, error)
        if found is None:
            _discard(folder, settings)
    return target


def _created(settings: IndexSettings, identity: Identity) -> Target:
    folder = folders.start(settings.data_dir)
    # A server may hold the collections of other data folders, too.
    own = LOCAL_COLLECTION if settings.chroma_host is None else f"footnote-{uuid.uuid4().hex[:12]}"
    with ExitStack() as stack:
        stack.callback(folders.remove, folder)  # unless both halves come to be
        store = stack.enter_context(
            open_store(folder.chroma, settings, own, embedder=identity.embedder)
        )
        pages = stack.enter_context(closing(Pages(folder.pages, create=True)))
        pages.set_meta(identity.to_meta() | {COLLECTION: own})
        target = Target(settings, folder, pages, store, {})
        stack.pop_all()
    return target


def _older_store(live: IndexFolder, settings: IndexSettings, identity: Identity) -> Store | None:
    """The live index's vectors, if they can be read and are of the same space."""
    name = _collection_name(live, settings)
    if name is None:
        return None
    try:
        store = open_sound_store(live.chroma, settings, name)
    except IndexDamaged:
        return None
    if store.embedder != identity.embedder:
        store.close()
        return None
    return store


def _collection_name(folder: IndexFolder, settings: IndexSettings) -> str | None:
    """None where it is not known: any other on a server may belong to somebody else."""
    try:
        with closing(Pages(folder.pages)) as pages:
            return pages.meta().get(COLLECTION)
    except IndexDamaged:
        return LOCAL_COLLECTION if settings.chroma_host is None else None


def _discard(folder: IndexFolder, settings: IndexSettings) -> None:
    if settings.chroma_host is not None and (name := _collection_name(folder, settings)):
        try:
            with open_store(folder.chroma, settings, name) as store:
                store.drop()
        except IngestError as error:
            log.warning("Collection %s may be left on the Chroma server: %s", name, error)
    folders.remove(folder)


def _by_hash(
    store: Store, stored: Mapping[str, str], wanted: Collection[str]
) -> dict[str, Vectors]:
    ids = {hash_: id_ for id_, hash_ in stored.items() if hash_ in wanted}
    return dict(store.vectors(list(ids.values())).values())
