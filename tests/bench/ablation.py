"""Measure the gain of each part of the search, question by question -> ``docs/retrieval.md``.

    python -m tests.bench.ablation --questions FILE --corpora FOLDER --write docs/retrieval.md

Each row adds one part to the row above it. Corpora are indexed in the cache of ``footnote eval``.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from ingest.documents import Chunk, DocumentInfo, Passage
from ingest.embedding.embedder import Embedder, open_embedder
from ingest.embedding.late_interaction import closeness
from ingest.evaluate.cases import Case, by_folder, read_cases
from ingest.evaluate.evaluate import (
    ASKED_FOR,
    EVAL_FOLDER,
    NOT_DOCS,
    corpus_folder,
    open_corpus,
)
from ingest.evaluate.scoring import Mark, averages, compare, mark
from ingest.index.folders import live
from ingest.index.matrix import Matrix, best
from ingest.index.ranking import BONUS_SHARES, DEPTH, DOCUMENT_DEPTH, Scores, fuse, raised
from ingest.index.search import SHARPENED, SHARPENING, QueryVector, query_vector, worth_matching
from ingest.index.snapshot import OpenFolder
from ingest.settings import IndexSettings, read_settings
from ingest.store.document_tables import DocumentTables
from ingest.store.terms import query_terms
from tests.bench.machine import machine

RRF = 10
AS_BUILT = "+ word by word (late interaction; as built)"
WINDOW, OVERLAP = 1_200, 200
SHOWN = ("file@8", "quote@4.8k", "quote@9.6k", "mrr")


@dataclass(frozen=True)
class Candidates:
    """Everything that the parts of a search know about one query."""

    vector: QueryVector
    tables: DocumentTables
    by_whole: Scores
    by_aim: Scores
    by_keyword: Scores
    by_document: Scores
    document_of: Mapping[int, int]


Ranker = Callable[[Candidates], Sequence[int]]


def _alone(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda row: -scores[row])


def _reciprocal(c: Candidates) -> list[int]:
    total: dict[int, float] = {}
    for scores in (c.by_whole, c.by_keyword):
        for rank, row in enumerate(_alone(scores.by_number), 1):
            total[row] = total.get(row, 0.0) + 1 / (RRF + rank)
    return _alone(total)


def _ordered(ranked: Sequence[tuple[int, float]]) -> list[int]:
    return [row for row, _score in ranked]


def _with_sentences(c: Candidates) -> list[int]:
    return _ordered(raised(fuse(c.by_aim, c.by_keyword), c.document_of, c.by_document))


def _sharpened(c: Candidates) -> list[int]:
    scores = fuse(c.by_aim, c.by_keyword)
    assert c.vector.tokens is not None
    leading = c.tables.tokens.of_rows(_with_sentences(c)[:SHARPENED])
    for row, close in closeness(c.vector.tokens, leading).items():
        scores[row] += SHARPENING * close
    return _ordered(raised(scores, c.document_of, c.by_document))


ON_CHUNKS: dict[str, Ranker] = {
    "vectors only": lambda c: _alone(c.by_whole.by_number),
    "keywords only": lambda c: _alone(c.by_keyword.by_number),
    f"both, by rank (RRF, k = {RRF})": _reciprocal,
    "both, by score": lambda c: _alone(fuse(c.by_whole, c.by_keyword)),
    "+ what the page's other passages score": lambda c: _ordered(
        raised(fuse(c.by_whole, c.by_keyword), c.document_of, Scores({}))
    ),
    "+ words of whole pages": lambda c: _ordered(
        raised(fuse(c.by_whole, c.by_keyword), c.document_of, c.by_document)
    ),
    "+ each sentence of the question": _with_sentences,
    AS_BUILT: _sharpened,
}
ON_WINDOWS: dict[str, Ranker] = {
    f"windows of {WINDOW}/{OVERLAP}, by rank": _reciprocal,
    f"windows of {WINDOW}/{OVERLAP}, the ranking but the last part": _with_sentences,
}


def _gather(query: str, embedder: Embedder, tables: DocumentTables, matrix: Matrix) -> Candidates:
    vector = query_vector(query, embedder)

    def nearest(direction: np.ndarray) -> Scores:
        found = matrix.similarities(direction)
        lines = best(found, DEPTH, None)
        return _cut({int(matrix.rows[line]): float(found[line]) for line in lines}, DEPTH)

    def _cut(scores: Mapping[int, float], depth: int) -> Scores:
        return Scores.of(scores, is_cut=len(scores) == depth)

    phrases = worth_matching(query_terms(query), tables.keywords.frequency, len(matrix.rows))
    by_whole, by_aim = nearest(vector.whole), nearest(vector.aim)
    by_keyword = _cut(dict(tables.keywords.match(phrases, DEPTH)), DEPTH)
    origins = tables.origins({*by_whole.by_number, *by_aim.by_number, *by_keyword.by_number})
    return Candidates(
        vector,
        tables,
        by_whole,
        by_aim,
        by_keyword,
        _cut(tables.keywords.match_documents(phrases, DOCUMENT_DEPTH), DOCUMENT_DEPTH),
        {row: document for row, (document, _id, _hash) in origins.items()},
    )


def _marks(
    rankers: Mapping[str, Ranker],
    cases: Sequence[Case],
    embedder: Embedder,
    tables: DocumentTables,
    matrix: Matrix,
) -> Iterator[tuple[str, Mark]]:
    for case in cases:
        if case.has_answer:
            candidates = _gather(case.query, embedder, tables, matrix)
            for name, ranker in rankers.items():
                rows = list(ranker(candidates))[:ASKED_FOR]
                found: dict[int, Passage] = tables.passages(rows)
                yield name, mark(case, [found[row] for row in rows], ms=0.0, weak=False)


def _windows(docs: Path, folder: Path, embedder: Embedder) -> tuple[DocumentTables, Matrix]:
    """The corpus in windows, kept for the next time."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "vectors.npy"
    if not kept.exists():
        chunks = [chunk for page in sorted(docs.rglob("*")) for chunk in _windows_of(page, docs)]
        vectors = embedder.embed([chunk.embed_text for chunk in chunks])
        with closing(DocumentTables(folder / "pages.sqlite", create=True)) as tables:
            for path in dict.fromkeys(chunk.path for chunk in chunks):
                own = [chunk for chunk in chunks if chunk.path == path]
                tables.write(DocumentInfo(path, own[0].title), path, "", own)
        np.save(kept, vectors)
    tables = DocumentTables(folder / "pages.sqlite")
    rows = tables.rows()
    origins = tables.origins(rows)
    documents = np.asarray([origins[row][0] for row in rows])
    matrix = Matrix.empty(folder)
    matrix.vectors.append(np.load(kept))
    return tables, matrix.joined(np.asarray(rows), documents)


def _windows_of(page: Path, docs: Path) -> Iterator[Chunk]:
    if not page.is_file() or page.name in NOT_DOCS or page.suffix not in (".md", ".mdx", ".rst"):
        return
    path, text = page.relative_to(docs).as_posix(), page.read_text(encoding="utf-8")
    for number, first in enumerate(range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP)):
        window = text[first : first + WINDOW]
        if window.strip():
            yield Chunk(f"{path}-{number}", path, number, page.stem, (), (1, 1), window, window)


def _table(marks: Mapping[str, Sequence[Mark]]) -> Iterator[str]:
    yield f"| search | {' | '.join(SHOWN)} | quote@9.6k, to the row above | mrr, to the row above |"
    yield f"| --- | {'--- | ' * len(SHOWN)}--- | --- |"
    before: Sequence[Mark] | None = None
    for name, own in marks.items():
        means = averages(own)
        change = " |" if before is None else f"{' | '.join(_changes(before, own))}"
        yield f"| {name} | {' | '.join(f'{means[m]:.3f}' for m in SHOWN)} | {change} |"
        before = own


def _changes(before: Sequence[Mark], after: Sequence[Mark]) -> Iterator[str]:
    for difference in compare(before, after):
        if difference.metric in ("quote@9.6k", "mrr"):
            yield (
                f"{difference.mean:+.3f} ({difference.low:+.3f} to {difference.high:+.3f}; "
                f"{difference.better} better, {difference.worse} worse)"
            )


def _by_kind(marks: Sequence[Mark]) -> Iterator[str]:
    yield f"| kind | n | {' | '.join(SHOWN)} |"
    yield f"| --- | ---{' | ---' * len(SHOWN)} |"
    for kind in sorted({m.kind for m in marks}):
        own = [m for m in marks if m.kind == kind]
        means = averages(own)
        yield f"| {kind} | {len(own)} | {' | '.join(f'{means[m]:.3f}' for m in SHOWN)} |"


def measure(
    grouped: Mapping[Path, Sequence[Case]],
    settings: IndexSettings,
    *,
    windows: bool,
) -> dict[str, list[Mark]]:
    embedder = open_embedder(settings.embedder_source)
    cache = settings.data_dir / EVAL_FOLDER
    names = (*ON_WINDOWS, *ON_CHUNKS) if windows else tuple(ON_CHUNKS)
    marks: dict[str, list[Mark]] = {name: [] for name in names}
    for docs in track(sorted(grouped), "corpora", console=Console(stderr=True)):
        cases = grouped[docs]
        with open_corpus(docs, settings, embedder, cache=cache, report=lambda *_: None):
            folder = live(corpus_folder(cache, docs.name, embedder))
            assert folder is not None
            with closing(OpenFolder(folder, settings.chroma_server)) as opened:
                matrix = opened.snapshot().matrix
                for name, one in _marks(ON_CHUNKS, cases, embedder, opened.tables, matrix):
                    marks[name].append(one)
        if windows:
            tables, matrix = _windows(docs, cache / "windows" / docs.name, embedder)
            with closing(tables):
                for name, one in _marks(ON_WINDOWS, cases, embedder, tables, matrix):
                    marks[name].append(one)
    return marks


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ablation")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--windows", action="store_true", help="index windows, too (minutes)")
    parser.add_argument("--write", type=Path, required=True, help="the page to write")
    given = parser.parse_args()
    cases = [c for c in read_cases(given.questions, Case) if c.type != "no_search"]
    grouped = by_folder(cases, None, given.corpora)
    settings = read_settings(IndexSettings)
    marks = measure(grouped, settings, windows=given.windows)
    built = marks[AS_BUILT]
    template = (Path(__file__).parent / "retrieval.md").read_text(encoding="utf-8")
    page = template.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        machine=machine(),
        embedder=open_embedder(settings.embedder_source).name,
        questions=len(built),
        corpora=len(grouped),
        sharpened=SHARPENED,
        pages_weight=", ".join(map(str, BONUS_SHARES)),
        ablation="\n".join(_table(marks)),
        kinds="\n".join(_by_kind(built)),
    )
    given.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
