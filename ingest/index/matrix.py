"""The vectors of all chunks in memory: a query vector in, the nearest rows out, exactly.

A matrix never changes: a change of the index makes a new one, and a running search keeps its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import READ_BATCH, Store, Vectors, batches

Rows = npt.NDArray[np.int64]

BLOCK = 8_192
"""Maximum number of lines of a block that grows."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """One line per chunk that has a vector, in any order. Lines lie in blocks.

    A change replaces the blocks that it touches and no others, so it needs no second copy of all.
    """

    rows: Rows
    documents: Rows
    """Number of the document that each row belongs to."""
    blocks: tuple[Vectors, ...]
    sorter: Rows
    """Lines in ascending order of their rows."""

    @classmethod
    def of(cls, rows: Rows, documents: Rows, blocks: Sequence[Vectors]) -> "Matrix":
        return cls(rows, documents, tuple(blocks), np.argsort(rows))

    @classmethod
    def empty(cls) -> "Matrix":
        no_rows = np.empty(0, dtype=np.int64)
        return cls.of(no_rows, no_rows, ())

    def similarities(self, query: Vectors) -> Vectors:
        """Cosine similarity of every line to the query, whose vector has unit length."""
        if not self.blocks:
            return np.empty(0, dtype=np.float32)
        return np.concatenate([block @ query for block in self.blocks])

    def positions(self, rows: Sequence[int]) -> list[int | None]:
        """Line of each row; None for a row that the matrix does not have."""
        places = np.searchsorted(self.rows, rows, sorter=self.sorter)
        lines = self.sorter[np.minimum(places, len(self.rows) - 1)] if len(self.rows) else places
        return [
            int(line) if len(self.rows) and self.rows[line] == row else None
            for row, line in zip(rows, lines, strict=True)
        ]

    def without(self, gone: npt.NDArray[np.bool_]) -> "Matrix":
        """Return the matrix without these lines."""
        if not gone.any():
            return self
        blocks, first = [], 0
        for block in self.blocks:
            left = ~gone[first : first + len(block)]
            first += len(block)
            if left.any():
                blocks.append(block if left.all() else block[left])
        return Matrix.of(self.rows[~gone], self.documents[~gone], blocks)

    def joined(self, others: Sequence["Matrix"]) -> "Matrix":
        """Return a matrix with the lines of all; small blocks become one."""
        blocks = list(self.blocks)
        for block in (block for other in others for block in other.blocks):
            if blocks and len(blocks[-1]) + len(block) <= BLOCK:
                blocks[-1] = np.concatenate([blocks[-1], block])
            else:
                blocks.append(block)
        return Matrix.of(
            np.concatenate([self.rows, *(other.rows for other in others)]),
            np.concatenate([self.documents, *(other.documents for other in others)]),
            blocks,
        )

    def vector(self, line: int) -> Vectors:
        for block in self.blocks:
            if line < len(block):
                vector: Vectors = block[line]
                return vector
            line -= len(block)
        raise IndexError(line)


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
    rows = np.asarray(tables.embedded.rows(), dtype=np.int64)
    new = np.setdiff1d(rows, matrix.rows, assume_unique=True).tolist()
    matrix = matrix.without(~np.isin(matrix.rows, rows, assume_unique=True))
    if store is None or not new:
        return matrix
    return matrix.joined([_read(batch, tables, store) for batch in batches(new, READ_BATCH)])


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
    return Matrix.of(
        np.asarray(numbers, dtype=np.int64),
        np.asarray(documents, dtype=np.int64),
        [np.asarray(vectors, dtype=np.float32)],
    )
