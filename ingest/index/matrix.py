"""The vectors of all chunks in memory: a query vector in, the nearest rows out, exactly.

A matrix never changes: a change of the index makes a new one, and a running search keeps its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import Store, Vectors

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matrix:
    """One line per chunk, ascending by row number."""

    rows: Rows
    documents: Rows
    """Number of the document that each row belongs to."""
    vectors: Vectors

    @classmethod
    def empty(cls) -> "Matrix":
        no_rows = np.empty(0, dtype=np.int64)
        return cls(no_rows, no_rows, np.empty((0, 0), dtype=np.float32))

    def similarities(self, query: Vectors) -> Vectors:
        """Cosine similarity of every line to the query, whose vector has unit length."""
        if not len(self.rows):
            return np.empty(0, dtype=np.float32)
        scores: Vectors = self.vectors @ query
        return scores

    def positions(self, rows: Sequence[int]) -> list[int | None]:
        """Line of each row; None for a row that the matrix does not have."""
        lines = np.searchsorted(self.rows, rows)
        return [
            int(at) if at < len(self.rows) and self.rows[at] == row else None
            for row, at in zip(rows, lines, strict=True)
        ]


def best(scores: Vectors, limit: int, allowed: npt.NDArray[np.bool_] | None) -> list[int]:
    """The ``limit`` lines with the highest scores, best first, among those allowed."""
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    limit = min(limit, len(scores))
    if not limit:
        return []
    candidates = np.argpartition(-scores, limit - 1)[:limit]
    ordered = candidates[np.argsort(-scores[candidates], kind="stable")]
    return [int(line) for line in ordered if scores[line] > -np.inf]


def brought_up_to_date(matrix: Matrix, tables: DocumentTables, store: Store | None) -> Matrix:
    """Return the matrix of the present state. Only vectors of new rows are read.

    Without a ``store`` new rows are left out.
    """
    rows = np.asarray(tables.rows(), dtype=np.int64)
    unchanged = np.isin(matrix.rows, rows, assume_unique=True)
    new = np.setdiff1d(rows, matrix.rows, assume_unique=True).tolist()
    added = _read(new, tables, store) if store else Matrix.empty()
    if unchanged.all() and not len(added.rows):
        return matrix
    if not unchanged.any():
        return added
    joined = np.concatenate([matrix.rows[unchanged], added.rows])
    documents = np.concatenate([matrix.documents[unchanged], added.documents])
    if not len(added.rows):
        return Matrix(joined, documents, matrix.vectors[unchanged])
    # Row numbers only grow, so new rows always follow the others.
    vectors = np.concatenate([matrix.vectors[unchanged], added.vectors])
    return Matrix(joined, documents, vectors)


def _read(rows: Collection[int], tables: DocumentTables, store: Store) -> Matrix:
    origins = tables.origins(rows)
    stored = store.vectors([id_ for _document, id_, _hash in origins.values()])
    # A killed run can leave a vector of another text under this id until the next run: such a
    # chunk is searched by words only.
    sound = [
        (row, document, stored[id_][1])
        for row, (document, id_, hash_) in sorted(origins.items())
        if id_ in stored and stored[id_][0] == hash_
    ]
    if not sound:
        return Matrix.empty()
    numbers, documents, vectors = zip(*sound, strict=True)
    return Matrix(
        np.asarray(numbers, dtype=np.int64),
        np.asarray(documents, dtype=np.int64),
        np.asarray(vectors, dtype=np.float32),
    )
