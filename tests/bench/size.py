"""A big docs repo: time, memory and disk of its first ingest, of one without changes, of one page.

``python -m tests.bench.size --chunks 140000`` prints one JSON object. ``--embedder hashing`` leaves
the embedding model out, so that only the structure around it is measured.
"""

import argparse
import hashlib
import json
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from ingest.embedding.embedder import Embedder, open_embedder
from ingest.embedding.late_interaction import Vectors
from ingest.errors import IngestError
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.bench.docs import QUESTIONS, REAL, SAMPLES
from tests.bench.measure import disk_mb, peak_mb, seconds
from tests.ingest.embedding.hashing import HashingEmbedder

CHUNKS_A_CHARACTER = 1 / 585
"""Rough number of chunks per character of the corpus."""
_SYLLABLES = ("ba", "do", "fe", "gi", "ku", "la", "mo", "ne", "pi", "ra", "so", "tu", "ve", "wi")


class Fast(HashingEmbedder):
    """A stand-in that takes nearly no time: no vector is like another, and no text is kept."""

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
        vectors = np.stack(
            [np.random.default_rng(s).standard_normal(self.dimensions, np.float32) for s in seeds]
        )
        if progress:
            progress(len(texts))
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def lay_out_copies(folder: Path, chunks: int) -> int:
    """Fill ``folder`` with copies of a corpus in which each line of text has words of its own."""
    source = REAL / "kubernetes-docs" if (REAL / "kubernetes-docs").is_dir() else SAMPLES
    pages = sorted(page for page in source.rglob("*.md") if page.is_file())
    texts = {page.relative_to(source): page.read_text(encoding="utf-8") for page in pages}
    laid, copy = 0, 0
    while laid * CHUNKS_A_CHARACTER < chunks:
        for path, text in texts.items():
            if laid * CHUNKS_A_CHARACTER >= chunks:
                break
            edited = _edited(text, copy, str(path))
            target = folder / f"area-{copy}" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(edited, encoding="utf-8")
            laid += len(edited)
        copy += 1
    return laid


def _edited(text: str, copy: int, path: str) -> str:
    lines = []
    for number, line in enumerate(text.splitlines()):
        if len(line) > 20 and re.match(r"[A-Za-z]", line):
            word = _word(f"{copy} {path} {number}")
            lines.append(line.replace(" ", f" {_word(str(copy))} {word} ", 1))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _word(key: str) -> str:
    digest = hashlib.sha256(key.encode()).digest()
    return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest[:4])


class Searcher(threading.Thread):
    """Searches all the time, as people do while the docs are read."""

    def __init__(self, index: Index, pause: float) -> None:
        super().__init__(daemon=True)
        self.index, self.pause = index, pause
        self.begun = time.perf_counter()
        self.first: float | None = None
        self.slowest = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.over.wait(0.2 if self.first is None else self.pause):
            begun = time.perf_counter()
            try:
                result = self.index.search(QUESTIONS[number % len(QUESTIONS)])
            except IngestError:
                continue
            number += 1
            now = time.perf_counter()
            if result.passages and self.first is None:
                self.first = now - self.begun
            self.slowest = max(self.slowest, now - begun)


def measure(work: Path, chunks: int, embedder_name: str, pause: float, *, git: bool) -> None:
    docs = work / "docs"
    laid = lay_out_copies(docs, chunks) if not docs.exists() else 0
    if git:
        for call in (
            ("init", "-q"),
            ("add", "-A"),
            ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "docs"),
        ):
            subprocess.run(["git", "-C", str(docs), *call], check=True)  # a fixed call
    source = docs.as_uri() if git else str(docs)
    settings = IndexSettings(docs_repo=source, data_dir=work / "data")
    embedder: Embedder = (
        Fast() if embedder_name == "hashing" else open_embedder(settings.embedder_source)
    )
    with closing(open_index(settings, embedder)) as index:
        before = peak_mb()
        searcher = Searcher(index, pause)
        searcher.start()
        begun, worked = time.perf_counter(), time.process_time()
        report = run_ingest(settings, index, embedder)
        cold, worked = time.perf_counter() - begun, time.process_time() - worked
        peak = peak_mb()
        searcher.over.set()
        searcher.join()
        search = seconds(lambda: index.search(QUESTIONS[0]))
        again = min(seconds(lambda: index.search(QUESTIONS[1])) for _ in range(3))
        nothing = [seconds(lambda: run_ingest(settings, index, embedder)) for _ in range(2)]
        page = sorted(docs.rglob("*.md"))[0]
        page.write_text(page.read_text(encoding="utf-8") + "\n\nOne more sentence.\n")
        if git:
            subprocess.run(
                [
                    "git",
                    "-C",
                    str(docs),
                    "-c",
                    "user.name=a",
                    "-c",
                    "user.email=a@b.c",  # a fixed call
                    "commit",
                    "-qam",
                    "page",
                ],
                check=True,
            )
        changed = seconds(lambda: run_ingest(settings, index, embedder))
    print(  # noqa: T201  # a report on stdout
        json.dumps(
            {
                "characters": laid,
                "documents": report.documents,
                "chunks": report.chunks,
                "embedder": embedder_name,
                "cold_seconds": round(cold, 1),
                "cpu_seconds": round(worked, 1),
                "cpu_ms_per_chunk": round(1000 * worked / report.chunks, 3),
                "ms_per_chunk": round(1000 * cold / report.chunks, 3),
                "first_word_search_seconds": round(searcher.first or -1, 2),
                "slowest_search_meanwhile_seconds": round(searcher.slowest, 2),
                "search_after_seconds": [round(search, 3), round(again, 3)],
                "rss_before_mb": round(before),
                "peak_rss_mb": round(peak),
                "peak_rss_with_nights_mb": round(peak_mb()),
                "noop_seconds": [round(each, 2) for each in nothing],
                "noop_share": round(nothing[-1] / cold, 5),
                "one_page_seconds": round(changed, 2),
                "one_page_share": round(changed / cold, 5),
                "disk_mb": round(disk_mb(settings.data_dir)),
                "disk_mb_per_10000_chunks": round(
                    disk_mb(settings.data_dir) / report.chunks * 10_000, 1
                ),
            }
        ),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.size", description=__doc__)
    parser.add_argument("--chunks", type=int, default=140_000)
    parser.add_argument("--embedder", choices=("builtin", "hashing"), default="builtin")
    parser.add_argument("--pause", type=float, default=5.0, help="seconds between two searches")
    parser.add_argument("--work", type=Path, help="folder in which docs and index are kept")
    parser.add_argument("--git", action="store_true", help="read a clone, not a folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footnote-size-") as work:
        folder = given.work or Path(work)
        measure(folder, given.chunks, given.embedder, given.pause, git=given.git)


if __name__ == "__main__":
    main()
