"""The documents of a plan -> rows and vectors in the index.

The rows of new documents are written first, so that their words can be searched while vectors are
still being made. A changed document keeps its old rows and vectors until the new vectors are
stored. Documents that somebody has just searched for get their vectors before all others. Vectors
without a row are deleted last. Whatever a run leaves undone is missing from the tables, and the
next run continues there.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ingest.documents import Chunk, Origin, Skipped
from ingest.embedding.embedder import Embedder, TokenEmbedder
from ingest.embedding.late_interaction import packed
from ingest.errors import DocsRepoError, EmbedderError
from ingest.index.completeness import READING
from ingest.pipeline.free_memory import give_back
from ingest.pipeline.plan import Plan, PlannedFile
from ingest.pipeline.reading import ReadDocument, Reading
from ingest.pipeline.reuse import StoredVectors
from ingest.pipeline.target import Target
from ingest.store.chunk_changes import ChunkChanges
from ingest.store.vectors import Vectors, batches

Stage = Literal["fetch", "read", "embed", "write", "test"]


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """Stage of a run and its progress; ``total`` is None while unknown."""

    stage: Stage
    done: int
    total: int | None


ProgressListener = Callable[[IngestProgress], None]


@dataclass(slots=True)
class Writing:
    """Carries out a plan, and counts added, changed and deleted chunks."""

    target: Target
    embedder: Embedder
    origin: Origin
    reading: Reading
    listen: ProgressListener
    asked: Callable[[], Collection[int]]
    """Returns the numbers of documents that searches have returned since the last call."""
    batch: int
    """Approximate number of chunks that are written together; maximum number embedded at once."""
    added: int = 0
    updated: int = 0
    deleted: int = 0
    embedded: int = 0
    failed: list[Skipped] = field(default_factory=list)
    _vectors: StoredVectors = field(init=False)
    _failures: dict[str, str] = field(default_factory=dict)
    """Reason why a text could not be embedded, by content hash."""
    _done: int = 0
    """Number of texts that have got their vector in this run."""
    _to_do: int = 0
    """Number of texts that need a vector."""

    def __post_init__(self) -> None:
        tables, store, older = self.target.tables, self.target.store, self.target.older
        has_tokens = isinstance(self.embedder, TokenEmbedder)
        self._vectors = StoredVectors(tables, store, older, has_tokens)

    def read_changed(self, plan: Plan) -> None:
        """Read the changed documents, which shows those that cannot be read any more."""
        hashes = set[str]()
        for done, planned in enumerate(plan.changed):
            self._listen("read", done, len(plan.changed) + len(plan.new))
            if document := self.reading.first(planned):
                hashes.update(chunk.hash for chunk in self._new_chunks([document]))
        self._to_do += len(hashes)

    def write_words(self, plan: Plan) -> None:
        """Write the rows of new documents: from now on their words can be searched."""
        if self.target.is_first:
            self.target.tables.set_meta({READING: str(plan.files)})
        for done, planned in enumerate(plan.new, len(plan.changed)):
            self._listen("read", done, len(plan.changed) + len(plan.new))
            if document := self.reading.first(planned):
                self._write_rows(document, "missing")
                self.target.answer()
        if self.target.is_first:
            self.target.tables.set_meta({READING: "0"})

    def write_vectors(self, plan: Plan) -> None:
        """Make the missing vectors, and write the changed documents with theirs."""
        unreadable = self.reading.unreadable
        queue = {
            planned.file.path: planned
            for planned in (*plan.changed, *plan.without_vectors, *plan.new)
            if planned.file.path not in unreadable
        }
        changed = {planned.file.path for planned in plan.changed}
        new = {planned.file.path for planned in plan.new}
        self._to_do += self.target.tables.embedded.missing_texts()
        total, written = len(queue), 0
        for documents in self._in_batches(queue):
            vectors = self._make_vectors(documents)
            sound = [document for document in documents if not self._failure(document, new)]
            self._write(sound, vectors, changed)
            written += len(documents)
            self._listen("write", written, total)
            give_back()

    def delete(self, plan: Plan) -> None:
        """Delete documents without a readable file, and all that has lost its document."""
        new = {planned.file.path for planned in plan.new}
        unreadable = self.reading.unreadable.keys() - new
        failed = new.intersection(failed.path for failed in self.failed)
        for path in (*plan.missing, *sorted(unreadable)):
            self._count(self.target.tables.delete(path))
        for path in failed:  # its words alone are no document
            self.added -= self.target.tables.delete(path).deleted
        self.target.delete_orphans()
        if self.updated or self.deleted or self.target.was_suspect:
            self.target.tables.tokens.delete_strays()

    def _in_batches(self, queue: dict[str, PlannedFile]) -> Iterator[list[ReadDocument]]:
        """Groups of whole documents with about ``batch`` chunks, those asked for first."""
        batch: list[ReadDocument] = []
        size = 0
        urgent: list[str] = []
        while queue:
            if asked := self.asked():
                urgent += self.target.tables.embedded.paths_missing(asked)
            path = urgent.pop(0) if urgent else next(iter(queue))
            if (planned := queue.pop(path, None)) and (document := self._read_again(planned)):
                batch.append(document)
                size += len(document.chunks)
            if size >= self.batch or (batch and not queue):
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _read_again(self, planned: PlannedFile) -> ReadDocument | None:
        """Read a document for its vectors; if it has just changed, the next run reads it."""
        try:
            return self.reading.document(planned)
        except DocsRepoError as error:
            if error.kind != "fetch_failed":
                raise
            self.failed.append(Skipped(planned.file.path, "it changed while it was read"))
            return None

    def _new_chunks(self, documents: Sequence[ReadDocument]) -> list[Chunk]:
        """Chunks that have no vector under their id."""
        chunks = [chunk for document in documents for chunk in document.chunks]
        stored = self.target.tables.embedded.hashes([chunk.id for chunk in chunks])
        return [chunk for chunk in chunks if stored.get(chunk.id) != chunk.hash]

    def _write(
        self,
        documents: Sequence[ReadDocument],
        vectors: Mapping[str, Vectors],
        changed: Collection[str],
    ) -> None:
        """Write the vectors first, then the rows."""
        chunks = self._new_chunks(documents)
        rewritten = [document for document in documents if document.info.path in changed]
        if rewritten:
            kept = {chunk.id: chunk.hash for doc in rewritten for chunk in doc.chunks}
            stored = self.target.tables.embedded.hashes_of([doc.info.path for doc in rewritten])
            self._vectors.save([i for i, hash_ in stored.items() if kept.get(i) != hash_])
        self.target.store.write(chunks, [vectors[chunk.hash] for chunk in chunks])
        for document in rewritten:
            self._write_rows(document, "stored")
        paths = {document.info.path for document in documents}
        if rest := paths.difference(changed):
            self.target.tables.embedded.add(rest)

    def _write_rows(self, document: ReadDocument, vectors: Literal["stored", "missing"]) -> None:
        columns = (document.info, document.prefix, document.signature, document.chunks)
        self._count(self.target.tables.write(*columns, self.origin, vectors, document.includes))

    def _count(self, changes: ChunkChanges) -> None:
        self.added += changes.added
        self.updated += changes.updated
        self.deleted += changes.deleted
        self.target.orphans.update(changes.gone)

    def _failure(self, document: ReadDocument, new: Collection[str]) -> bool:
        """Record a document that could not be embedded; its stored chunks stay."""
        for chunk in document.chunks:
            if reason := self._failures.get(chunk.hash):
                stays = " (the version indexed before stays until this one succeeds)"
                path = document.info.path
                self.failed.append(Skipped(path, f"{reason}{stays * (path not in new)}"))
                return True
        return False

    def _make_vectors(self, documents: Sequence[ReadDocument]) -> dict[str, Vectors]:
        """Vectors of the new chunks, by content hash; a text that fails must not stop the rest."""
        texts = {chunk.hash: chunk.embed_text for chunk in self._new_chunks(documents)}
        vectors = self._vectors.of(texts)
        self._done += len(vectors)
        missing = [
            (hash_, text)
            for hash_, text in texts.items()
            if hash_ not in vectors and hash_ not in self._failures
        ]
        # In parts: the token vectors of one large document would fill the memory.
        for part in batches(missing, self.batch):
            vectors |= self._embedded(dict(part))
        return vectors

    def _embedded(self, texts: Mapping[str, str]) -> dict[str, Vectors]:
        before = self._done
        try:
            return self._embed(
                texts,
                lambda count: self._listen("embed", before + count, self._total),
            )
        except EmbedderError:
            vectors: dict[str, Vectors] = {}
            for hash_, text in texts.items():
                try:
                    vectors |= self._embed({hash_: text}, lambda _count: None)
                except EmbedderError as error:
                    self._failures[hash_] = str(error)
            return vectors

    def _listen(self, stage: Stage, done: int, total: int) -> None:
        self.listen(IngestProgress(stage, done, total))

    @property
    def _total(self) -> int:
        return max(self._to_do, self._done)

    def _embed(
        self, texts: Mapping[str, str], progress: Callable[[int], None]
    ) -> dict[str, Vectors]:
        """Embed ``texts`` (content hash -> text), and store their token vectors."""
        if isinstance(self.embedder, TokenEmbedder):
            vectors, tokens = self.embedder.embed_tokens(list(texts.values()), progress)
            signs = {hash_: packed(of_text) for hash_, of_text in zip(texts, tokens, strict=True)}
            self.target.tables.tokens.write(signs)
        else:
            vectors = self.embedder.embed(list(texts.values()), progress)
        sound = {}
        for hash_, vector in zip(texts, vectors, strict=True):
            if np.isfinite(vector).all() and vector.any():
                sound[hash_] = vector
                self.embedded += 1
                self._done += 1
            else:
                self._failures[hash_] = "The embedder returned an unusable vector"
        return sound
