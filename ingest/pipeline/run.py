"""One ingest: the docs repo is compared with the index, and only the difference is written.

Checkout -> plan -> rows of new documents -> vectors of new texts, rows of changed documents ->
deletions -> self-test. A document counts as stored when its rows say so, and its vectors when they
are noted beside the rows, so that after a crash the next run sees what is missing.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime

from ingest.chunks.chunker import CHUNKER_VERSION
from ingest.documents import IngestReport, Origin, Skipped
from ingest.embedding.embedder import Embedder
from ingest.errors import SelfTestFailed
from ingest.index import Index
from ingest.index.metadata import IndexIdentity, LastIngest
from ingest.invisible import visible_line
from ingest.pipeline.compaction import compact
from ingest.pipeline.folding import fold
from ingest.pipeline.includes import Includes
from ingest.pipeline.left_out import NO_PAGES, left_out
from ingest.pipeline.plan import Plan, make_plan, refuse_large_deletion
from ingest.pipeline.reading import ReadDocument, Reading
from ingest.pipeline.self_test import SelfTestOutcome, SelfTestQuestions, ask, drop, read_self_test
from ingest.pipeline.spool import Spool
from ingest.pipeline.target import Target, open_target
from ingest.pipeline.writing import IngestProgress, ProgressListener, Writing
from ingest.readers.loader import is_bad_name
from ingest.repo import open_checkout
from ingest.settings import IndexSettings
from ingest.store.document_tables import SCHEMA_VERSION

__all__ = ["IngestProgress", "ProgressListener", "run_ingest"]

BATCH = 256
"""Approximate number of chunks that are written together; maximum number embedded at once."""


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
        closing(Spool[ReadDocument](target.folder.path)) as spool,
    ):
        questions = read_self_test(checkout)
        stored = target.tables.signatures()
        before = SelfTestOutcome.from_meta(target.answering_meta())
        without_vectors = target.tables.embedded.missing_documents()
        plan = make_plan(checkout, stored, without_vectors)
        includes = Includes(checkout, stored, target.tables.includes.stored())
        reading = Reading(checkout, embedder.fits, spool, includes)
        origin = Origin(checkout.revision, checkout.docs_root)
        writing = Writing(target, embedder, origin, reading, listen, index.take_asked, BATCH)
        writing.read_changed(plan)
        if not confirm_large_deletion:
            answering = target.answering_documents()
            share = settings.max_deleted_share
            refuse_large_deletion(checkout, reading.unreadable, answering, share)
        if not target.may_wait:
            index.embed_by(embedder)  # searches need not open a second one meanwhile
        writing.write_words(plan)
        reading.check()
        included = includes.plan(plan, without_vectors)
        # An included file may have been edited since the commit.
        writing.origin = origin = Origin(checkout.revision, checkout.docs_root)
        writing.read_changed(included)
        writing.write_words(included)
        plan.extend(included)
        fold(target.tables, checkout)  # a first search shall not find all versions of a page
        writing.write_vectors(plan)
        writing.delete(plan)
        target.tables.includes.replace_shown(includes.shown)
        fold(target.tables, checkout)
        documents, chunks = target.tables.counts()
        tested = _tested(questions, before, plan, target, embedder, settings.self_test_drop, listen)
        last = LastIngest(origin, datetime.now(UTC), embedder.name)
        target.complete(
            last.to_meta() | (tested.to_meta() if tested else {}),
            [failed.path for failed in writing.failed],
        )
        compact(target)
        unreadable = (s for path, s in reading.unreadable.items() if path not in includes.files)
        skipped = [*plan.skipped, *unreadable]
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
        skipped=tuple(sorted(skipped, key=lambda each: each.path)),
        failed=tuple(writing.failed),
        warnings=(
            *checkout.warnings,
            *target.warnings,
            *questions.warnings,
            *_warnings(skipped, documents),
            *reading.warnings,
            *includes.warnings(),
        ),
        self_test=tested.summary if tested else None,
        left_out=left_out(skipped, documents),
    )


def _tested(
    questions: SelfTestQuestions,
    before: SelfTestOutcome | None,
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
    unchanged = plan.is_empty and not target.may_wait
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


def _warnings(skipped: Sequence[Skipped], documents: int) -> Iterator[str]:
    if lost := left_out(skipped, documents):
        yield lost
    if not documents:
        yield NO_PAGES
    for file in skipped:
        if is_bad_name(file.reason):
            yield f"{visible_line(file.path)} is left out ({file.reason})."
