"""One ingest: the docs repo is compared with the index, and only the difference is written.

Checkout -> plan -> vectors of new texts -> vectors and rows in the index. A document counts as
stored when its rows say so. Rows are written after the vectors, so that after a crash the next run
sees what is missing. Vectors without a row are deleted last.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from ingest.chunks.chunker import CHUNKER_VERSION
from ingest.documents import Chunk, IngestReport, Origin, Skipped
from ingest.embedding.embedder import Embedder, TokenEmbedder
from ingest.embedding.late_interaction import packed
from ingest.errors import EmbedderError, SelfTestFailed
from ingest.index import Index
from ingest.index.metadata import IndexIdentity, LastIngest
from ingest.invisible import visible_line
from ingest.pipeline.compaction import compact
from ingest.pipeline.plan import ChangedDocument, Plan, make_plan, refuse_large_deletion
from ingest.pipeline.self_test import SelfTestOutcome, SelfTestQuestions, ask, drop, read_self_test
from ingest.pipeline.target import Target, open_target
from ingest.readers.loader import is_bad_name
from ingest.repo import open_checkout
from ingest.settings import IndexSettings
from ingest.store.document_tables import SCHEMA_VERSION
from ingest.store.vectors import Vectors, batches

_LINES_NAMED = 10
"""Maximum number of lines with credentials that a warning names."""

BATCH = 256
"""Approximate number of chunks that are written together; maximum number embedded at once."""


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """Stage of a run and its progress; ``total`` is None while unknown."""

    stage: Literal["fetch", "read", "embed", "write", "test"]
    done: int
    total: int | None


ProgressListener = Callable[[IngestProgress], None]


def run_ingest(
    settings: IndexSettings,
    index: Index,
    embedder: Embedder,
    *,
    progress: ProgressListener | None = None,
    confirm_large_deletion: bool = False,
) -> IngestReport:
    """Bring the index up to date and return a report.

    Raises IngestError and SettingsError. An error before the first write changes nothing.
    """
    started = time.monotonic()
    listen = progress or (lambda _progress: None)
    identity = IndexIdentity(embedder.fingerprint, CHUNKER_VERSION, SCHEMA_VERSION)
    with (
        open_checkout(
            settings.docs_source,
            settings.data_dir,
            progress=lambda done, total: listen(IngestProgress("fetch", done, total)),
        ) as checkout,
        closing(open_target(settings.data_dir, settings.chroma_server, identity)) as target,
    ):
        questions = read_self_test(checkout)
        stored = target.tables.documents()
        plan = make_plan(
            checkout,
            stored=stored,
            directives=target.tables.includes.stored(),
            damaged=target.damaged_documents(),
            fits=embedder.fits,
            progress=lambda done: listen(IngestProgress("read", done, len(checkout.files))),
        )
        if not confirm_large_deletion:
            answering = target.answering_documents()
            refuse_large_deletion(plan, checkout, answering, settings.max_deleted_share)
        origin = Origin(checkout.revision, checkout.docs_root)
        writing = Writing(target, embedder, origin, stored.keys(), listen)
        writing.run(plan)
        target.tables.includes.replace_shown(plan.shown)
        documents, chunks = target.tables.counts()
        tested = _tested(questions, plan, target, embedder, settings.self_test_drop, listen)
        last = LastIngest(origin, datetime.now(UTC), embedder.name)
        target.complete(
            last.to_meta() | (tested.to_meta() if tested else {}),
            [failed.path for failed in writing.failed],
        )
        compact(target)
    index.use(embedder)
    return IngestReport(
        revision=checkout.revision.name,
        documents=documents,
        chunks=chunks,
        added=writing.added,
        updated=writing.updated,
        deleted=writing.deleted,
        unchanged=chunks - writing.added - writing.updated,
        embedded=writing.embedded,
        seconds=time.monotonic() - started,
        skipped=tuple(sorted(plan.skipped, key=lambda skipped: skipped.path)),
        failed=tuple(writing.failed),
        warnings=(
            *checkout.warnings,
            *target.warnings,
            *questions.warnings,
            *_warnings(plan, documents),
        ),
        self_test=tested.summary if tested else None,
    )


def _tested(
    questions: SelfTestQuestions,
    plan: Plan,
    target: Target,
    embedder: Embedder,
    largest_drop: float,
    listen: ProgressListener,
) -> SelfTestOutcome | None:
    """Run the self-test, unless nothing has changed since the last one.

    Raises SelfTestFailed if the new index is worse and another one can stay live.
    """
    if not questions.questions:
        return None
    before = SelfTestOutcome.from_meta(target.answering_meta())
    unchanged = not (plan.changed or plan.deleted or target.may_wait)
    if before and unchanged and before.fingerprint == questions.fingerprint:
        return before
    outcome = ask(
        questions,
        target,
        embedder,
        lambda done: listen(IngestProgress("test", done, len(questions.questions))),
    )
    if worse := drop(before, outcome, largest_drop):
        if target.may_wait:
            raise SelfTestFailed(
                f"{worse}. The old index stays in use, the rebuilt one is not: correct the docs or"
                " .footnote/questions.jsonl, or accept it with FOOTNOTE_SELF_TEST_DROP=1."
            )
        target.warnings.append(f"{worse}.")
    return outcome


def _warnings(plan: Plan, documents: int) -> Iterator[str]:
    if not documents:
        yield (
            "0 documents are indexed: the docs root has no readable page"
            " (see FOOTNOTE_DOCS_ROOT and FOOTNOTE_DOCS_INCLUDE)."
        )
    yield from plan.warnings
    for skipped in plan.skipped:
        if is_bad_name(skipped.reason):
            yield f"{visible_line(skipped.path)} is left out ({skipped.reason})."
    for document in plan.changed:
        if lines := sorted(set(document.masked_lines)):
            named = ", ".join(map(str, lines[:_LINES_NAMED])) + (
                ", …" * (len(lines) > _LINES_NAMED)
            )
            yield (
                f"{document.info.path} seems to hold credentials (line {named}): they are masked in"
                " the index; remove them from the docs and revoke them."
            )
        for date in document.impossible:
            yield (
                f"{document.info.path} is indexed without the date in its front matter, which does"
                f" not exist ({date[:60]}): correct it."
            )


@dataclass(slots=True)
class Writing:
    """Carries out a plan, and counts added, changed and deleted chunks."""

    target: Target
    embedder: Embedder
    origin: Origin
    stored: Collection[str]
    """Paths of the documents that were stored when the run began."""
    listen: ProgressListener
    added: int = 0
    updated: int = 0
    deleted: int = 0
    embedded: int = 0
    failed: list[Skipped] = field(default_factory=list)
    _vectors: dict[str, Vectors] = field(default_factory=dict)
    """Vectors by content hash: stored before this run or made in it."""
    _failures: dict[str, str] = field(default_factory=dict)
    """Reason why a text could not be embedded, by content hash."""
    _to_embed: int = 0

    def run(self, plan: Plan) -> None:
        """Embed the new texts, write changed documents, delete the rest."""
        needed = {
            chunk.hash
            for document in plan.changed
            for chunk in document.chunks
            if self._is_new(chunk)
        }
        # Read them before the first write, which can replace the vector of an id.
        self._vectors = self.target.reusable(needed, self._has_tokens)
        self._to_embed = len(needed) - len(self._vectors)
        written = 0
        for documents in _batches(plan.changed):
            self._write(documents)
            written += len(documents)
            self.listen(IngestProgress("write", written, len(plan.changed)))
        for path in plan.deleted:
            self.deleted += self.target.tables.delete(path).deleted
        self.target.delete_orphans()
        self.target.tables.tokens.delete_strays()

    def _is_new(self, chunk: Chunk) -> bool:
        return self.target.stored_hashes.get(chunk.id) != chunk.hash

    def _write(self, documents: Sequence[ChangedDocument]) -> None:
        """Write the vectors first, then the rows."""
        self._embed(self._new_chunks(documents))
        sound = [document for document in documents if not self._failure(document)]
        chunks = self._new_chunks(sound)
        self.target.write_vectors(chunks, [self._vectors[chunk.hash] for chunk in chunks])
        for document in sound:
            changes = self.target.tables.write(
                document.info,
                document.prefix,
                document.signature,
                document.chunks,
                self.origin,
                document.includes,
            )
            self.added += changes.added
            self.updated += changes.updated
            self.deleted += changes.deleted

    def _new_chunks(self, documents: Sequence[ChangedDocument]) -> list[Chunk]:
        chunks = (chunk for document in documents for chunk in document.chunks)
        return [chunk for chunk in chunks if self._is_new(chunk)]

    def _failure(self, document: ChangedDocument) -> bool:
        """Record a document that could not be embedded; its stored chunks stay."""
        for chunk in document.chunks:
            if reason := self._failures.get(chunk.hash):
                stays = " (the version indexed before stays until this one succeeds)"
                path = document.info.path
                is_stored = path in self.stored
                self.failed.append(Skipped(path, f"{reason}{stays * is_stored}"))
                return True
        return False

    def _embed(self, chunks: Sequence[Chunk]) -> None:
        """Make the vectors that are still missing; a text that fails must not stop the rest."""
        texts = {
            chunk.hash: chunk.embed_text
            for chunk in chunks
            if chunk.hash not in self._vectors and chunk.hash not in self._failures
        }
        # In parts: the token vectors of one large document would fill the memory.
        for part in batches(list(texts.items()), BATCH):
            self._embed_part(dict(part))

    def _embed_part(self, texts: Mapping[str, str]) -> None:
        before = self.embedded
        try:
            self._embed_texts(
                texts,
                lambda count: self.listen(IngestProgress("embed", before + count, self._to_embed)),
            )
        except EmbedderError:
            for hash_, text in texts.items():
                try:
                    self._embed_texts({hash_: text}, lambda _count: None)
                except EmbedderError as error:
                    self._failures[hash_] = str(error)

    @property
    def _has_tokens(self) -> bool:
        return isinstance(self.embedder, TokenEmbedder)

    def _embed_texts(self, texts: Mapping[str, str], progress: Callable[[int], None]) -> None:
        """Embed ``texts`` (content hash -> text), and store their token vectors."""
        if isinstance(self.embedder, TokenEmbedder):
            vectors, tokens = self.embedder.embed_tokens(list(texts.values()), progress)
            signs = {hash_: packed(of_text) for hash_, of_text in zip(texts, tokens, strict=True)}
            self.target.tables.tokens.write(signs)
        else:
            vectors = self.embedder.embed(list(texts.values()), progress)
        for hash_, vector in zip(texts, vectors, strict=True):
            if np.isfinite(vector).all() and vector.any():
                self._vectors[hash_] = vector
                self.embedded += 1
            else:
                self._failures[hash_] = "The embedder returned an unusable vector"


def _batches(documents: Sequence[ChangedDocument]) -> Iterator[list[ChangedDocument]]:
    """Groups of whole documents with about ``BATCH`` chunks."""
    batch: list[ChangedDocument] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document.chunks)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
