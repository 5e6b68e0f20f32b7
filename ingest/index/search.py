"""One query over one snapshot: nearest rows and matching rows -> one ranking with its signals."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingest.embedding.embedder import Embedder, TokenEmbedder
from ingest.embedding.late_interaction import closeness
from ingest.index.confidence import LEADING, Signals, read_signals
from ingest.index.matrix import best
from ingest.index.ranking import DEPTH, DOCUMENT_DEPTH, fuse, raised
from ingest.index.snapshot import Snapshot
from ingest.letters import plain
from ingest.store.document_tables import DocumentTables
from ingest.store.terms import QueryTerms, query_terms
from ingest.store.vectors import Vectors

COMMON_SHARE = 0.1
"""A word in a larger share of the chunks is too common to be matched."""
RARE = 50
"""A word in at most this many chunks is matched, whatever its share."""
ALWAYS_MATCHED = 3
"""This many of the query's rarest words are matched, however common."""

SHARPENED = 60
"""Number of leading candidates that are compared again, word by word."""
SHARPENING = 0.8
"""Weight of the comparison word by word."""

SENTENCE = re.compile(r"(?<=[.?!])\s+|\n+")
MAX_SENTENCES = 8
"""A query with more parts is embedded as a whole only: a pasted log has no sentences."""
SHORTEST_SENTENCE = 15
"""A sentence of at most this many characters ("Any ideas?") has no meaning by itself."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matches a query, by its row number."""

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
    """Vectors of one query."""

    whole: Vectors
    """Vector of the whole query; distances are measured from it."""
    aim: Vectors
    """Vector that is searched with: the mean of the whole and of its sentences.

    People describe what happened and then ask. In the vector of the whole, the longer part
    outweighs the other.
    """
    tokens: Vectors | None = None
    """One vector per word, if the embedder makes them."""


def query_vector(query: str, embedder: Embedder, *, with_tokens: bool = True) -> QueryVector:
    """Embed a query, and its sentences if it has a few."""
    query = plain(query)
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
    tables: DocumentTables,
    query: str,
    vector: QueryVector | None,
    *,
    documents: Collection[int] | None = None,
    excluded: Collection[int] = (),
    depth: int = DEPTH,
) -> Ranking:
    """Rank the chunks of these documents (None: all); without a vector by words alone."""
    matrix, terms = snapshot.matrix, query_terms(query)

    def frequency(phrase: str) -> int:
        if phrase not in snapshot.frequencies:
            snapshot.frequencies[phrase] = tables.keywords.frequency(phrase)
        return snapshot.frequencies[phrase]

    by_meaning = {}
    if vector is not None:
        similarities = matrix.similarities(vector.aim)
        nearest = best(similarities, depth, _mask(snapshot, documents, excluded))
        by_meaning = {int(matrix.rows[line]): float(similarities[line]) for line in nearest}
    phrases = worth_matching(terms, frequency, len(matrix.rows))
    matching = tables.keywords.match(phrases, depth + len(excluded), documents)
    by_keyword = {row: score for row, score in matching if row not in excluded}

    similarity, document_of = _look_up(snapshot, tables, vector, by_meaning | by_keyword)
    by_document = tables.keywords.match_documents(phrases, DOCUMENT_DEPTH, documents)
    scores = fuse(by_meaning, by_keyword)
    ranked = raised(scores, document_of, by_document)
    if vector is not None and vector.tokens is not None:
        leading = tables.tokens.of_rows([row for row, _score in ranked[:SHARPENED]])
        for row, close in closeness(vector.tokens, leading).items():
            scores[row] += SHARPENING * close
        ranked = raised(scores, document_of, by_document)
    signals = read_signals(
        terms,
        [row for row, _score in ranked[:LEADING]],
        max((similarity[row] for row in by_meaning), default=0.0),
        frequency,
        tables.keywords,
        len(matrix.rows),
    )
    hits = (Hit(row, score, 1.0 - similarity[row]) for row, score in ranked)
    return Ranking(tuple(hits), signals)


def worth_matching(terms: QueryTerms, frequency: Callable[[str], int], chunks: int) -> list[str]:
    """Return the phrases worth matching: common ones take most of the time and decide nothing."""
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
    """Lines of the matrix that may be returned; None for all."""
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
    snapshot: Snapshot,
    tables: DocumentTables,
    vector: QueryVector | None,
    candidates: Collection[int],
) -> tuple[dict[int, float], dict[int, int]]:
    """Similarity and document of each candidate; without a vector its similarity is 0."""
    matrix, rows = snapshot.matrix, list(candidates)
    similarity, document_of = dict.fromkeys(rows, 0.0), dict[int, int]()
    for row, line in zip(rows, matrix.positions(rows), strict=True):
        if line is not None:
            if vector is not None:
                similarity[row] = float(matrix.vectors[line] @ vector.whole)
            document_of[row] = int(matrix.documents[line])
    missing = [row for row in rows if row not in document_of]
    if missing:
        origins = tables.origins(missing)
        # A row deleted since the matching has no document; its passage will be missing, too.
        document_of |= {row: origins[row][0] if row in origins else -row for row in missing}
    return similarity, document_of
