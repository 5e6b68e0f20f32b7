"""Ingest: what the docs repo holds now against what is stored; only the difference is written.

Checkout -> plan -> vectors of texts never seen before -> both stores. A page counts as stored when
its rows say so, and they come after its vectors: wherever a run is cut off, the next one sees what
is missing. Vectors that no row speaks of go last.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from ingest.chunks.chunker import CHUNKER_VERSION
from ingest.documents import Chunk, IngestReport, Skipped
from ingest.embedding.embedder import Embedder, TokenEmbedder
from ingest.embedding.late_interaction import packed
from ingest.errors import EmbedderError, SelfTestFailed
from ingest.index import Index
from ingest.index.facts import Facts, Identity
from ingest.pipeline.plan import ChangedPage, Plan, make_plan, refuse_large_deletion
from ingest.pipeline.self_test import Outcome, OwnQuestions, ask, drop, read_own_questions
from ingest.pipeline.target import Target, open_target
from ingest.repo import open_checkout
from ingest.settings import IndexSettings
from ingest.store.pages import SCHEMA_VERSION
from ingest.store.vectors import Vectors

BATCH = 256
"""Chunks embedded and written together."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; ``total`` is None while it is not known."""

    stage: Literal["fetch", "read", "embed", "write", "test"]
    done: int
    total: int | None


Listener = Callable[[Progress], None]


def run_ingest(
    settings: IndexSettings,
    index: Index,
    embedder: Embedder,
    *,
    progress: Listener | None = None,
    confirm_large_deletion: bool = False,
) -> IngestReport:
    """Bring the index up to date. An error before the first write leaves it as it was."""
    begun = time.monotonic()
    listen = progress or (lambda _progress: None)
    identity = Identity(embedder.fingerprint, CHUNKER_VERSION, SCHEMA_VERSION)
    with (
        open_checkout(
            settings,
            progress=lambda done, total: listen(Progress("fetch", done, total)),
        ) as checkout,
        closing(open_target(settings, identity)) as target,
    ):
        questions = read_own_questions(checkout)
        plan = make_plan(
            checkout,
            stored=target.pages.documents(),
            damaged=target.damaged_pages(),
            fits=embedder.fits,
            heard=lambda done: listen(Progress("read", done, len(checkout.files))),
        )
        if not confirm_large_deletion:
            answering = target.answering_pages()
            refuse_large_deletion(plan, checkout, answering, settings.max_deleted_share)
        writing = Writing(target, embedder, listen)
        writing.run(plan)
        documents, chunks = target.pages.counts()
        tested = _tested(questions, plan, target, embedder, listen)
        facts = Facts(checkout.revision, checkout.docs_root, datetime.now(UTC), embedder.name)
        target.complete(facts.to_meta() | (tested.to_meta() if tested else {}))
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
        seconds=time.monotonic() - begun,
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
    questions: OwnQuestions, plan: Plan, target: Target, embedder: Embedder, listen: Listener
) -> Outcome | None:
    """Ask the docs' own questions; raises SelfTestFailed where a worse index can be kept back."""
    if not questions.asked:
        return None
    before = Outcome.from_meta(target.answering_meta())
    unchanged = not (plan.changed or plan.gone or target.may_wait)
    if before and unchanged and before.fingerprint == questions.fingerprint:
        return before
    outcome = ask(
        questions,
        target,
        embedder,
        lambda done: listen(Progress("test", done, len(questions.asked))),
    )
    if worse := drop(before, outcome, target.settings.self_test_drop):
        if target.may_wait:
            raise SelfTestFailed(
                f"{worse}. The rebuilt index was kept back, the old one goes on answering: mend the"
                " docs or .footnote/questions.jsonl, or accept it with FOOTNOTE_SELF_TEST_DROP=1."
            )
        target.warnings.append(f"{worse}.")
    return outcome


def _warnings(plan: Plan, documents: int) -> Iterator[str]:
    if not documents:
        yield (
            "0 documents are indexed: no readable page lies under the docs root"
            " (see FOOTNOTE_DOCS_ROOT and FOOTNOTE_DOCS_INCLUDE)."
        )
    for page in plan.changed:
        if page.masked:
            yield (
                f"{page.info.path} seems to hold credentials ({page.masked}): they are masked in"
                " the index; take them out of the docs and replace them."
            )
        for date in page.impossible:
            yield (
                f"{page.info.path} is indexed without the date in its front matter, which no"
                f" calendar has ({date[:60]}): correct it."
            )


@dataclass(slots=True)
class Writing:
    """Carries a plan out, and counts what it did to chunks."""

    target: Target
    embedder: Embedder
    listen: Listener
    added: int = 0
    updated: int = 0
    deleted: int = 0
    embedded: int = 0
    failed: list[Skipped] = field(default_factory=list)
    _vectors: dict[str, Vectors] = field(default_factory=dict)
    """By content hash: stored before under whatever id, or made in this run."""
    _failures: dict[str, str] = field(default_factory=dict)
    """Why a text could not be embedded, by content hash."""
    _to_embed: int = 0

    def run(self, plan: Plan) -> None:
        needed = {
            chunk.hash for page in plan.changed for chunk in page.chunks if self._is_new(chunk)
        }
        # Taken before the first write, which may put another text's vector under the same id.
        self._vectors = self.target.reusable(needed, self._has_tokens)
        self._to_embed = len(needed) - len(self._vectors)
        written = 0
        for pages in _batches(plan.changed):
            self._write(pages)
            written += len(pages)
            self.listen(Progress("write", written, len(plan.changed)))
        for path in plan.gone:
            self.deleted += self.target.pages.delete(path).deleted
        self.target.delete_orphans()
        if plan.changed or plan.gone:
            self.target.pages.tokens.delete_strays()

    def _is_new(self, chunk: Chunk) -> bool:
        return self.target.stored_hashes.get(chunk.id) != chunk.hash

    def _write(self, pages: Sequence[ChangedPage]) -> None:
        """Vectors first, then the rows that speak of them."""
        self._embed([chunk for page in pages for chunk in page.chunks if self._is_new(chunk)])
        sound = [page for page in pages if not self._failure(page)]
        chunks = [chunk for page in sound for chunk in page.chunks if self._is_new(chunk)]
        self.target.write_vectors(chunks, [self._vectors[chunk.hash] for chunk in chunks])
        for page in sound:
            change = self.target.pages.write(page.info, page.prefix, page.signature, page.chunks)
            self.added += change.added
            self.updated += change.updated
            self.deleted += change.deleted

    def _failure(self, page: ChangedPage) -> bool:
        """Whether a page has to wait for the next run; what is stored of it stays."""
        for chunk in page.chunks:
            if reason := self._failures.get(chunk.hash):
                self.failed.append(
                    Skipped(
                        page.info.path,
                        f"{reason} (what was indexed of this page before stays until it succeeds)",
                    )
                )
                return True
        return False

    def _embed(self, chunks: Sequence[Chunk]) -> None:
        """Make the vectors that are still missing; a text that fails must not stop the rest."""
        texts = {
            chunk.hash: chunk.embed_text
            for chunk in chunks
            if chunk.hash not in self._vectors and chunk.hash not in self._failures
        }
        if not texts:
            return
        before = self.embedded
        try:
            self._make(
                texts, lambda count: self.listen(Progress("embed", before + count, self._to_embed))
            )
        except EmbedderError:
            for hash_, text in texts.items():
                try:
                    self._make({hash_: text}, lambda _count: None)
                except EmbedderError as error:
                    self._failures[hash_] = str(error)

    @property
    def _has_tokens(self) -> bool:
        return isinstance(self.embedder, TokenEmbedder)

    def _make(self, texts: Mapping[str, str], heard: Callable[[int], None]) -> None:
        """Vectors by content hash; what is made of the tokens is written at once."""
        if isinstance(self.embedder, TokenEmbedder):
            made, tokens = self.embedder.embed_tokens(list(texts.values()), heard)
            signs = {hash_: packed(own) for hash_, own in zip(texts, tokens, strict=True)}
            self.target.pages.tokens.write(signs)
        else:
            made = self.embedder.embed(list(texts.values()), heard)
        for hash_, vector in zip(texts, made, strict=True):
            if np.isfinite(vector).all() and vector.any():
                self._vectors[hash_] = vector
                self.embedded += 1
            else:
                self._failures[hash_] = "The embedder gave no usable vector"


def _batches(pages: Sequence[ChangedPage]) -> Iterator[list[ChangedPage]]:
    """Whole pages with about ``BATCH`` chunks together."""
    batch: list[ChangedPage] = []
    size = 0
    for page in pages:
        batch.append(page)
        size += len(page.chunks)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
