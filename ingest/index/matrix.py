"""The vectors of all chunks: a query vector in, the nearest rows out, exactly.

A matrix never changes: a change of the index makes a new one, and a running search keeps its own.
Both read the same file of vectors.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ingest.store.document_tables import DocumentTables
from ingest.store.vector_file import VectorFile
from ingest.store.vectors import READ_BATCH, Store, Vectors, batches

Rows = npt.NDArray[np.int64]

SPARSE = 0.5
"""With a smaller share of vectors in use, a file is written anew."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """One line per chunk that has a vector, in any order."""

    rows: Rows
    documents: Rows
    """Number of the document that each row belongs to."""
    places: Rows
    """Number of each line's vector in the file, ascending."""
    sorter: Rows
    """Lines in ascending order of their rows."""
    vectors: VectorFile

    @classmethod
    def of(cls, rows: Rows, documents: Rows, places: Rows, vectors: VectorFile) -> "Matrix":
        return cls(rows, documents, places, np.argsort(rows), vectors)

    @classmethod
    def empty(cls, folder: Path) -> "Matrix":
        """Return a matrix whose vectors will lie in a file of this folder."""
        nothing = np.empty(0, dtype=np.int64)
        return cls.of(nothing, nothing, nothing, VectorFile(folder))

    def similarities(self, query: Vectors) -> Vectors:
        """Cosine similarity of every line to the query, whose vector has unit length."""
        size = int(self.places[-1]) + 1 if len(self.places) else 0
        similarities: Vectors = self.vectors.similarities(query, size)[self.places]
        return similarities

    def positions(self, rows: Sequence[int]) -> list[int | None]:
        """Line of each row; None for a row that the matrix does not have."""
        places = np.searchsorted(self.rows, rows, sorter=self.sorter)
        lines = self.sorter[np.minimum(places, len(self.rows) - 1)] if len(self.rows) else places
        return [
            int(line) if len(self.rows) and self.rows[line] == row else None
            for row, line in zip(rows, lines, strict=True)
        ]

    def vector(self, line: int) -> Vectors:
        return self.vectors.vector(int(self.places[line]))

    def without(self, gone: npt.NDArray[np.bool_]) -> "Matrix":
        """Return the matrix without these lines."""
        if not gone.any():
            return self
        left = Matrix.of(self.rows[~gone], self.documents[~gone], self.places[~gone], self.vectors)
        return left._written_anew() if len(left.rows) < SPARSE * self.vectors.size else left

    def joined(self, rows: Rows, documents: Rows) -> "Matrix":
        """Return the matrix with these lines, whose vectors are the newest of the file."""
        first = self.vectors.size - len(rows)
        return Matrix.of(
            np.concatenate([self.rows, rows]),
            np.concatenate([self.documents, documents]),
            np.concatenate([self.places, np.arange(first, self.vectors.size)]),
            self.vectors,
        )

    def _written_anew(self) -> "Matrix":
        vectors = VectorFile(self.vectors.folder)
        for lines in batches(range(len(self.rows)), READ_BATCH):
            vectors.append(np.stack([self.vector(line) for line in lines]))
        return Matrix.of(self.rows, self.documents, np.arange(vectors.size), vectors)


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
    if store is None:
        return matrix
    read = [
        line
        for batch in batches(new, READ_BATCH)
        for line in _read(batch, tables, store, matrix.vectors)
    ]
    if not read:
        return matrix
    lines = np.asarray(read, dtype=np.int64)
    return matrix.joined(lines[:, 0], lines[:, 1])


def _read(
    rows: Collection[int], tables: DocumentTables, store: Store, vectors: VectorFile
) -> list[tuple[int, int]]:
    """Append the vectors of these rows to the file; return row and document of each."""
    origins = tables.origins(rows)
    stored = store.vectors([id_ for _document, id_, _hash in origins.values()])
    # A killed run can leave a vector of another text under this id until the next run: such a
    # chunk is searched by words only.
    sound = {
        row: (document, id_)
        for row, (document, id_, hash_) in sorted(origins.items())
        if id_ in stored and stored[id_][0] == hash_
    }
    if sound:
        vectors.append(np.stack([stored[id_][1] for _document, id_ in sound.values()]))
    return [(row, document) for row, (document, _id) in sound.items()]
