"""The vectors of all chunks in memory: row numbers in, nearest rows out, exactly.

Immutable: a change of the index gives another matrix, so that a search under way keeps its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingest.store.pages import Pages
from ingest.store.vectors import Store, Vectors

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matrix:
    """One line a chunk, ascending by row number."""

    rows: Rows
    documents: Rows
    """Number of the document that each row belongs to."""
    vectors: Vectors

    @classmethod
    def empty(cls) -> "Matrix":
        none = np.empty(0, dtype=np.int64)
        return cls(none, none, np.empty((0, 0), dtype=np.float32))

    def similarities(self, query: Vectors) -> Vectors:
        """Cosine similarity of every line to the query (vectors have unit length)."""
        if not len(self.rows):
            return np.empty(0, dtype=np.float32)
        scores: Vectors = self.vectors @ query
        return scores

    def positions(self, rows: Sequence[int]) -> list[int | None]:
        """Line of each row; None for a row that is not here."""
        found = np.searchsorted(self.rows, rows)
        return [
            int(at) if at < len(self.rows) and self.rows[at] == row else None
            for row, at in zip(rows, found, strict=True)
        ]


def best(scores: Vectors, limit: int, allowed: npt.NDArray[np.bool_] | None) -> list[int]:
    """Lines with the highest scores, best first, among those allowed."""
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    limit = min(limit, len(scores))
    if not limit:
        return []
    candidates = np.argpartition(-scores, limit - 1)[:limit]
    ordered = candidates[np.argsort(-scores[candidates], kind="stable")]
    return [int(line) for line in ordered if scores[line] > -np.inf]


def brought_up_to_date(matrix: Matrix, pages: Pages, store: Store | None) -> Matrix:
    """The matrix for what is stored now; only vectors of new rows are read, if they can be."""
    rows = np.asarray(pages.rows(), dtype=np.int64)
    kept = np.isin(matrix.rows, rows, assume_unique=True)
    new = np.setdiff1d(rows, matrix.rows, assume_unique=True).tolist()
    added = _read(new, pages, store) if store else Matrix.empty()
    if kept.all() and not len(added.rows):
        return matrix
    if not kept.any():
        return added
    joined = np.concatenate([matrix.rows[kept], added.rows])
    documents = np.concatenate([matrix.documents[kept], added.documents])
    if not len(added.rows):
        return Matrix(joined, documents, matrix.vectors[kept])
    # Row numbers only grow, so what is added always comes after what is kept.
    vectors = np.concatenate([matrix.vectors[kept], added.vectors])
    return Matrix(joined, documents, vectors)


def _read(rows: Collection[int], pages: Pages, store: Store) -> Matrix:
    origins = pages.origins(rows)
    stored = store.vectors([id_ for _document, id_, _hash in origins.values()])
    # A run that was killed leaves a vector of another text under this id until the next one:
    # such a chunk is found by its words only.
    sound = [
        (row, document, stored[id_][1])
        for row, (document, id_, hash_) in sorted(origins.items())
        if id_ in stored and stored[id_][0] == hash_
    ]
    if not sound:
        return Matrix.empty()
    found, documents, vectors = zip(*sound, strict=True)
    return Matrix(
        np.asarray(found, dtype=np.int64),
        np.asarray(documents, dtype=np.int64),
        np.asarray(vectors, dtype=np.float32),
    )
