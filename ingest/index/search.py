"""One query over one snapshot: nearest rows and matching rows -> one ranking and its confidence."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingest.embedding.embedder import Embedder, TokenEmbedder
from ingest.embedding.late_interaction import closeness
from ingest.index.confidence import LEADING, Signals, read_signals
from ingest.index.matrix import best
from ingest.index.ranking import DEPTH, PAGE_DEPTH, fuse, raised
from ingest.index.snapshot import Snapshot
from ingest.store.pages import Pages
from ingest.store.terms import QueryTerms, query_terms
from ingest.store.vectors import Vectors

COMMON_SHARE = 0.1
"""A word in a larger share of the chunks is left out of the matching,"""
RARE = 50
"""unless so few hold it,"""
ALWAYS_MATCHED = 3
"""or it is among so many rarest of the query."""

SHARPENED = 60
"""So many leading candidates are compared again, word by word."""
SHARPENING = 0.8

SENTENCE = re.compile(r"(?<=[.?!])\s+|\n+")
MAX_SENTENCES = 8
"""So many are embedded one by one: a pasted log has no sentences."""
SHORTEST_SENTENCE = 15
"""A shorter one ("Any ideas?") says nothing by itself."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk's row as found."""

    row: int
    score: float
    distance: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates of one query, best first."""

    hits: tuple[Hit, ...]
    signals: Signals


@dataclass(frozen=True, slots=True)
class QueryVector:
    """What a query means."""

    whole: Vectors
    """As a whole: distances are measured from here."""
    aim: Vectors
    """Where to look: half the whole, half each of its sentences by itself.

    Whoever asks says what happened, and then what they want to know; in the vector of the whole,
    the longer part drowns the other.
    """
    tokens: Vectors | None = None
    """Word by word, where the embedder tells them apart."""


def query_vector(query: str, embedder: Embedder, *, with_tokens: bool = True) -> QueryVector:
    parts = [part for part in SENTENCE.split(query) if len(part) > SHORTEST_SENTENCE]
    tokens = None
    # One by one: a query must not queue behind the batches of an ingest.
    if with_tokens and isinstance(embedder, TokenEmbedder):
        [whole], [tokens] = embedder.embed_tokens([query])
    else:
        [whole] = embedder.embed([query])
    if not 1 < len(parts) <= MAX_SENTENCES:
        return QueryVector(whole, whole, tokens)
    sentences = np.mean([embedder.embed([part])[0] for part in parts], axis=0)
    return QueryVector(whole, (whole + sentences) / 2, tokens)


def rank(
    snapshot: Snapshot,
    pages: Pages,
    query: str,
    vector: QueryVector | None,
    *,
    documents: Collection[int] | None = None,
    excluded: Collection[int] = (),
    depth: int = DEPTH,
) -> Ranking:
    """Rank the chunks of these documents (None: of all); without a vector by words alone."""
    matrix, terms = snapshot.matrix, query_terms(query)

    def frequency(phrase: str) -> int:
        if phrase not in snapshot.frequencies:
            snapshot.frequencies[phrase] = pages.keywords.frequency(phrase)
        return snapshot.frequencies[phrase]

    by_meaning = {}
    if vector is not None:
        similarities = matrix.similarities(vector.aim)
        nearest = best(similarities, depth, _mask(snapshot, documents, excluded))
        by_meaning = {int(matrix.rows[line]): float(similarities[line]) for line in nearest}
    phrases = worth_matching(terms, frequency, len(matrix.rows))
    matching = pages.keywords.match(phrases, depth + len(excluded), documents)
    by_keyword = {row: score for row, score in matching if row not in excluded}

    similarity, page_of = _look_up(snapshot, pages, vector, by_meaning | by_keyword)
    by_page = pages.keywords.match_pages(phrases, PAGE_DEPTH, documents)
    scores = fuse(by_meaning, by_keyword)
    ranked = raised(scores, page_of, by_page)
    if vector is not None and vector.tokens is not None:
        leading = pages.tokens.of_rows([row for row, _score in ranked[:SHARPENED]])
        for row, close in closeness(vector.tokens, leading).items():
            scores[row] += SHARPENING * close
        ranked = raised(scores, page_of, by_page)
    signals = read_signals(
        terms,
        [row for row, _score in ranked[:LEADING]],
        max((similarity[row] for row in by_meaning), default=0.0),
        frequency,
        pages.keywords,
        len(matrix.rows),
    )
    hits = (Hit(row, score, 1.0 - similarity[row]) for row, score in ranked)
    return Ranking(tuple(hits), signals)


def worth_matching(terms: QueryTerms, frequency: Callable[[str], int], chunks: int) -> list[str]:
    """The phrases worth matching: common ones cost most of the time and tell nothing."""
    rarest_first = sorted(filter(frequency, terms.phrases), key=frequency)
    common = max(RARE, COMMON_SHARE * chunks)
    return [
        phrase
        for place, phrase in enumerate(rarest_first)
        if place < ALWAYS_MATCHED or frequency(phrase) <= common
    ]


def _mask(
    snapshot: Snapshot, documents: Collection[int] | None, excluded: Collection[int]
) -> Mask | None:
    """Which lines of the matrix may be found; None for all."""
    matrix = snapshot.matrix
    if documents is None and not excluded:
        return None
    allowed: Mask = np.ones(len(matrix.rows), dtype=np.bool_)
    if documents is not None:
        flags = np.zeros(max(snapshot.infos, default=0) + 1, dtype=np.bool_)
        flags[list(documents)] = True
        allowed &= flags[matrix.documents]
    for line in matrix.positions(list(excluded)):
        if line is not None:
            allowed[line] = False
    return allowed


def _look_up(
    snapshot: Snapshot, pages: Pages, vector: QueryVector | None, candidates: Collection[int]
) -> tuple[dict[int, float], dict[int, int]]:
    """Similarity and document of each candidate, also of those without a vector."""
    matrix, rows = snapshot.matrix, list(candidates)
    similarity, page_of = dict.fromkeys(rows, 0.0), dict[int, int]()
    for row, line in zip(rows, matrix.positions(rows), strict=True):
        if line is not None:
            if vector is not None:
                similarity[row] = float(matrix.vectors[line] @ vector.whole)
            page_of[row] = int(matrix.documents[line])
    missing = [row for row in rows if row not in page_of]
    if missing:
        origins = pages.origins(missing)
        # A row that is gone since it was found belongs to no page; its passage will be missing.
        page_of |= {row: origins[row][0] if row in origins else -row for row in missing}
    return similarity, page_of
