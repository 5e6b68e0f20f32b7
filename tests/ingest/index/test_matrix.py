"""The vectors of all chunks in a file: exact similarities, whatever was added and removed."""

from pathlib import Path

import numpy as np
import pytest

from ingest.index.matrix import Matrix
from ingest.store.vector_file import BLOCK
from ingest.store.vectors import Vectors

DIMENSIONS = 8


def vectors_of(rows: range) -> Vectors:
    return np.stack([np.random.default_rng(row).random(DIMENSIONS, np.float32) for row in rows])


def grown(matrix: Matrix, rows: range) -> Matrix:
    matrix.vectors.append(vectors_of(rows))
    return matrix.joined(np.asarray(rows), np.asarray(rows))


def answers(matrix: Matrix, query: Vectors) -> dict[int, float]:
    return dict(zip(matrix.rows.tolist(), matrix.similarities(query).tolist(), strict=True))


@pytest.mark.parametrize("gone", [0, 10, BLOCK, 2 * BLOCK])
def test_each_row_has_its_own_similarity_after_rows_have_gone_and_come(
    tmp_path: Path, gone: int
) -> None:
    [query] = vectors_of(range(1))
    before = grown(Matrix.empty(tmp_path), range(2 * BLOCK + 1))
    left = before.without(before.rows < gone)
    after = grown(left, range(3 * BLOCK, 3 * BLOCK + 5))
    rows = [*range(gone, 2 * BLOCK + 1), *range(3 * BLOCK, 3 * BLOCK + 5)]
    expected = {row: float(vectors_of(range(row, row + 1))[0] @ query) for row in rows}
    assert answers(after, query) == pytest.approx(expected, abs=1e-6)
    [line, missing] = after.positions([rows[-1], 2 * BLOCK + 2])
    assert line is not None
    assert after.vector(line) @ query == pytest.approx(expected[rows[-1]], abs=1e-6)
    assert missing is None
    # A search that runs meanwhile keeps what it has.
    assert len(answers(before, query)) == 2 * BLOCK + 1


def test_the_file_of_vectors_is_written_anew_when_few_of_them_are_left(tmp_path: Path) -> None:
    matrix = grown(Matrix.empty(tmp_path), range(100))
    assert matrix.without(matrix.rows < 40).vectors is matrix.vectors
    assert matrix.without(matrix.rows < 60).vectors.size == 40


def test_no_file_is_left_beside_the_index(tmp_path: Path) -> None:
    matrix = grown(Matrix.empty(tmp_path), range(10))
    assert matrix.vectors.size == 10
    assert list(tmp_path.iterdir()) == []


def test_an_index_without_vectors_has_no_similarities(tmp_path: Path) -> None:
    matrix = Matrix.empty(tmp_path)
    assert matrix.similarities(vectors_of(range(1))[0]).tolist() == []
    assert matrix.positions([1]) == [None]
