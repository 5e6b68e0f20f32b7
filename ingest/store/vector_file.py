"""Vectors in, their similarities to a query out, by way of a temporary file.

The vectors of a large index would be a third of the memory of the process. A scan over a file that
the system keeps in its cache takes as long as one over memory. The file has no name, so that it is
gone when nobody reads it any more, however that ends.
"""

import os
import tempfile
import weakref
from pathlib import Path

import numpy as np

from ingest.errors import DataFolderError
from ingest.store.vectors import Vectors

BLOCK = 1_024
"""Number of vectors that are read at once: they fit into the cache of a processor."""


class VectorFile:
    """Vectors by their number, in the order in which they were appended.

    Several threads may read while one appends.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.size = 0
        """Number of vectors."""
        self._dimensions = 0
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # closed with the last reader
        except OSError as error:
            raise DataFolderError(folder, error.strerror) from error
        weakref.finalize(self, self._file.close)

    def append(self, vectors: Vectors) -> None:
        """Raises DataFolderError."""
        try:
            self._file.seek(self.size * self._width)
            self._file.write(np.ascontiguousarray(vectors, dtype=np.float32).data)
            self._file.flush()
        except OSError as error:
            raise DataFolderError(self.folder, error.strerror) from error
        self._dimensions = vectors.shape[1]
        self.size += len(vectors)

    def similarities(self, query: Vectors, size: int) -> Vectors:
        """Dot product of the query with each of the first ``size`` vectors."""
        found = np.empty(size, dtype=np.float32)
        block = np.empty((min(BLOCK, size), self._dimensions), dtype=np.float32)
        for first in range(0, size, BLOCK):
            part = block[: size - first]
            self._read(part, first)
            np.dot(part, query, out=found[first : first + len(part)])
        return found

    def vector(self, number: int) -> Vectors:
        vector = np.empty(self._dimensions, dtype=np.float32)
        self._read(vector, number)
        return vector

    def _read(self, into: Vectors, first: int) -> None:
        try:
            os.preadv(self._file.fileno(), [into.data], first * self._width)
        except OSError as error:
            raise DataFolderError(self.folder, error.strerror) from error

    @property
    def _width(self) -> int:
        return self._dimensions * np.dtype(np.float32).itemsize
