"""One query over one snapshot: nearest rows and matching rows -> one ranking with its signals."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

import numpy as np

from ingest.embedding.embedder import Embedder, TokenEmbedder
from ingest.embedding.late_interaction import closeness
from ingest.index.candidates import Candidates
from ingest.index.changes_asked import asks_for_changes, closeness_to_changes
from ingest.index.confidence import LEADING, Signals, read_signals
from ingest.index.ranking import (
    DEPTH,
    DOCUMENT_DEPTH,
    VECTOR_WEIGHT,
    Scores,
    by_kind,
    fuse,
    raised,
)
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
    changes: Callable[[], float] = float
    """Return the similarity to questions about what has changed, and when."""


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
    changes = partial(closeness_to_changes, query, embedder)
    if not 1 < len(parts) <= MAX_SENTENCES:
        return QueryVector(whole, whole, tokens, changes)
    sentences = np.mean([embedder.embed([part])[0] for part in parts], axis=0)
    return QueryVector(whole, (whole + sentences) / 2, tokens, changes)


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

    candidates = Candidates(snapshot, tables, snapshot.editions.choice(query, documents), excluded)
    by_meaning = candidates.by_meaning(vector.aim, depth) if vector is not None else Scores({})
    phrases = worth_matching(terms, frequency, snapshot.chunks)
    by_keyword = candidates.by_words(phrases, depth, documents)
    facts = candidates.facts

    similarity = _similarities(snapshot, vector, {*by_meaning.by_number, *by_keyword.by_number})
    document_of = {row: candidates.choice.leader_of(facts[row].document) for row in similarity}
    by_document = candidates.documents(phrases, DOCUMENT_DEPTH, documents)
    scores = fuse(by_meaning, by_keyword)
    matching = list(by_keyword.by_number)
    for row, line in zip(matching, matrix.positions(matching), strict=True):
        if line is None:  # its words are all that speaks for it
            scores[row] /= 1 - VECTOR_WEIGHT
    ranked = raised(scores, document_of, by_document)
    if vector is not None and vector.tokens is not None:
        leading = tables.tokens.of_rows(candidates.leading(ranked, SHARPENED))
        for row, close in closeness(vector.tokens, leading).items():
            scores[row] += SHARPENING * close
        ranked = raised(scores, document_of, by_document)
    ranked = candidates.behind_current(candidates.each_text_once(ranked))
    ranked = candidates.with_others(ranked)
    similarity |= _similarities(snapshot, vector, [r for r, _s in ranked if r not in similarity])
    kinds = {row: facts[row].kind for row in similarity}
    asks = "change log" in kinds.values() and asks_for_changes(
        query, vector.changes if vector else None
    )
    ranked = by_kind(ranked, kinds, asks_for_changes=asks)
    signals = read_signals(
        terms,
        [row for row, _score in ranked[:LEADING]],
        max((similarity[row] for row in by_meaning.by_number), default=0.0),
        frequency,
        tables.keywords,
        snapshot.chunks,
        has_vectors=vector is not None and snapshot.has_vectors,
    )
    differing = candidates.differing(ranked)
    similarity |= _similarities(snapshot, vector, [row for row, _score in differing])
    hits = (Hit(row, score, 1.0 - similarity[row]) for row, score in (*ranked, *differing))
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


def _similarities(
    snapshot: Snapshot, vector: QueryVector | None, candidates: Collection[int]
) -> dict[int, float]:
    """Similarity of each candidate; 0 for one without a vector."""
    matrix, rows = snapshot.matrix, list(candidates)
    similarity = dict.fromkeys(rows, 0.0)
    if vector is not None:
        for row, line in zip(rows, matrix.positions(rows), strict=True):
            if line is not None:
                similarity[row] = float(matrix.vector(line) @ vector.whole)
    return similarity
