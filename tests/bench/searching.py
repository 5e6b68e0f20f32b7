"""Searches over many chunks: copies of real ones, each with its words mixed and its vector moved.

The index is made in one process and searched in another, so that the memory is that of serving.
"""

import dataclasses
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from ingest.chunks.chunker import CHUNKER_VERSION, chunk_document, chunk_prefix
from ingest.documents import Chunk, DocumentInfo, Origin, Revision
from ingest.embedding.embedder import TokenEmbedder, open_embedder
from ingest.embedding.late_interaction import packed
from ingest.index import folders as index_folders
from ingest.index import open_index
from ingest.index.metadata import IndexIdentity, LastIngest
from ingest.index.snapshot import COLLECTION
from ingest.readers.loader import UnreadableDocument, load
from ingest.settings import IndexSettings
from ingest.store.document_tables import SCHEMA_VERSION, DocumentTables
from ingest.store.vectors import Vectors, open_store
from tests.bench.docs import QUESTIONS, lay_out
from tests.bench.measure import Sheet, peak_mb, percentiles, resident_mb, seconds

DIFFERENT = 2_000
"""Chunks that are embedded; the others are made from them."""
WRITTEN_AT_ONCE = 4_000
ROUNDS = 6


def measure_search(sheet: Sheet, work: Path, chunks: int) -> None:
    sheet.head(f"Search over {chunks:,} chunks ({ROUNDS * len(QUESTIONS)} searches a line)")
    context = get_context("spawn")
    for step in (_build, _serve):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=step, args=(work, chunks, sender.send))
        process.start()
        sender.close()
        try:
            while True:
                what, value, aim, reached = receiver.recv()
                sheet.line(what, value, aim=aim, reached=reached)
        except EOFError:
            process.join()
        if process.exitcode:
            raise SystemExit(f"measuring the search failed in {step.__name__}")


Say = Callable[[tuple[str, str, str, bool | None]], None]
Copied = list[tuple[Chunk, Vectors, bytes]]
"""The chunks of a page, the vector of each, and the signs of its tokens."""


def _settings(work: Path) -> IndexSettings:
    return IndexSettings(data_dir=work / "data")


def _build(work: Path, chunks: int, say: Say) -> None:
    settings = _settings(work)
    embedder = open_embedder(settings.embedder_source)
    assert isinstance(embedder, TokenEmbedder)
    originals = _originals(work / "docs", embedder)
    folder = index_folders.start(settings.data_dir)
    rng = np.random.default_rng(1)
    written = 0

    def fill() -> None:
        nonlocal written
        with ExitStack() as stack:
            tables = stack.enter_context(closing(DocumentTables(folder.database, create=True)))
            store = stack.enter_context(
                open_store(folder.chroma, None, "bench", embedder=embedder.fingerprint)
            )
            pending: list[tuple[Chunk, Vectors]] = []
            for path, page in _pages(originals, chunks):
                info = DocumentInfo(path, page[0][0].title, datetime(2020, 1, 1, tzinfo=UTC))
                tables.tokens.write({chunk.hash: signs for chunk, _, signs in page})
                tables.write(info, chunk_prefix(path), "bench", [chunk for chunk, *_ in page])
                pending += [(chunk, vector) for chunk, vector, _ in page]
                if len(pending) >= WRITTEN_AT_ONCE:
                    written += _flush(store.write, pending, rng)
            written += _flush(store.write, pending, rng)
            tables.set_meta(
                IndexIdentity(embedder.fingerprint, CHUNKER_VERSION, SCHEMA_VERSION).to_meta()
                | LastIngest(Origin(Revision(None), ""), datetime.now(UTC), embedder.name).to_meta()
                | {COLLECTION: "bench"}
            )

    took = seconds(fill)
    index_folders.make_live(settings.data_dir, folder)
    say(("written, without embedding", f"{written / took:,.0f} chunks/s", "", None))


def _originals(docs: Path, embedder: TokenEmbedder) -> list[Copied]:
    """Pages of real docs with their vectors and the signs of their tokens."""
    lay_out(docs, DIFFERENT * 450)
    originals = []
    for file in sorted(docs.rglob("*.md")):
        path = file.relative_to(docs).as_posix()
        with suppress(UnreadableDocument):
            chunks = chunk_document(load(path, file.read_bytes()), embedder.fits)
            if chunks:
                vectors, tokens = embedder.embed_tokens([chunk.embed_text for chunk in chunks])
                signs = [packed(own) for own in tokens]
                originals.append(list(zip(chunks, vectors, signs, strict=True)))
    return originals


def _pages(originals: list[Copied], wanted: int) -> Iterator[tuple[str, Copied]]:
    mixed = random.Random(1)
    made = copy = 0
    while True:
        for original in originals:
            if made >= wanted:
                return
            path = f"copy-{copy % 6}/{copy}/{original[0][0].path}"
            page = [
                (_mixed(chunk, path, mixed), vector, signs) for chunk, vector, signs in original
            ]
            made += len(page)
            yield path, page
        copy += 1


def _mixed(chunk: Chunk, path: str, mixed: random.Random) -> Chunk:
    words = chunk.search_text.split()
    for _ in range(len(words) // 5):
        words[mixed.randrange(len(words))] = mixed.choice(words)
    id_ = f"{chunk_prefix(path)}-{chunk.number}"
    return dataclasses.replace(chunk, id=id_, path=path, search_text=" ".join(words))


def _flush(
    write: Callable[[list[Chunk], list[Vectors]], None],
    pending: list[tuple[Chunk, Vectors]],
    rng: np.random.Generator,
) -> int:
    vectors = np.stack([vector for _, vector in pending])
    vectors = vectors + rng.normal(0, 0.01, vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    write([chunk for chunk, _ in pending], list(vectors))
    count = len(pending)
    pending.clear()
    return count


def _serve(work: Path, chunks: int, say: Say) -> None:
    settings = _settings(work)
    large = chunks >= 100_000
    with closing(open_index(settings)) as index:
        warm = seconds(index.warm)
        say(("read into memory at the first search", f"{warm:.1f} s", "", None))
        index.search("warm up")
        medians = {}
        for name, path in (
            ("all pages", None),
            ("one page in six", "copy-1/"),
            ("few", "copy-1/1/"),
        ):
            begun = time.process_time()
            taken = [
                seconds(partial(index.search, question, path=path)) * 1000
                for _ in range(ROUNDS)
                for question in QUESTIONS
            ]
            busy = (time.process_time() - begun) / len(taken) * 1000
            p50, p95 = percentiles(taken)
            medians[name] = p50
            aim = "p50 <= 40, p95 <= 90" if large and path is None else ""
            reached = p50 <= 40 and p95 <= 90 if aim else None
            value = f"p50 {p50:.1f} ms, p95 {p95:.1f} ms ({busy:.1f} ms of processor time)"
            say((f"search, {name}", value, aim, reached))
        ratio = max(medians.values()) / medians["all pages"]
        say(("filtered, against unfiltered", f"{ratio:.2f}x", "<= 2x", ratio <= 2))
    value = f"{resident_mb():.0f} MB, at most {peak_mb():.0f} MB"
    say(("memory", value, "< 1,000 MB" if large else "", peak_mb() < 1000 if large else None))
