"""The table of rows whose vector is stored: all other rows are searched by their words only.

A row is entered after its vector was written, and leaves with the row. So the table says which
texts still need a vector, and where a text has one, without a look into Chroma.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping

from ingest.store import generation
from ingest.store.sqlite import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS embedded (row INTEGER PRIMARY KEY);
CREATE INDEX IF NOT EXISTS chunks_of_hash ON chunks (hash);
"""
_FILL = "INSERT OR IGNORE INTO embedded SELECT row FROM chunks;"
LATER_TABLES = {"embedded": SCHEMA + _FILL}
"""Before this table existed, a row was written only with its vector."""
_MISSING = "row NOT IN (SELECT row FROM embedded)"
_LISTED = "IN (SELECT value FROM json_each(?))"


class EmbeddedRows:
    """Which rows have a vector. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self) -> int:
        """Number of rows with a vector."""
        with self._database.reading() as db:
            (count,) = db.execute("SELECT count(*) FROM embedded").fetchone()
        return int(count)

    def rows(self) -> list[int]:
        """Numbers of the rows with a vector, ascending."""
        with self._database.reading() as db:
            return [row for (row,) in db.execute("SELECT row FROM embedded ORDER BY row")]

    def hashes(self, ids: Collection[str]) -> dict[str, str]:
        """Content hash by chunk id, of those chunks that have a vector."""
        with self._database.reading() as db:
            stored = db.execute(
                f"SELECT id, hash FROM chunks JOIN embedded USING (row) WHERE id {_LISTED}",  # noqa: S608  # only literals
                (json.dumps(list(ids)),),
            )
            return dict(stored.fetchall())

    def hashes_of(self, paths: Collection[str]) -> dict[str, str]:
        """Content hash by chunk id, of the chunks of these documents that have a vector."""
        with self._database.reading() as db:
            stored = db.execute(
                "SELECT id, hash FROM documents JOIN chunks ON document = number"  # noqa: S608  # only literals
                f" JOIN embedded USING (row) WHERE path {_LISTED}",
                (json.dumps(list(paths)),),
            )
            return dict(stored.fetchall())

    def ids(self, hashes: Collection[str]) -> dict[str, str]:
        """Id of a chunk that has a vector, by content hash."""
        with self._database.reading() as db:
            stored = db.execute(
                f"SELECT hash, id FROM chunks JOIN embedded USING (row) WHERE hash {_LISTED}",  # noqa: S608  # only literals
                (json.dumps(list(hashes)),),
            )
            return dict(stored.fetchall())

    def missing_documents(self) -> list[str]:
        """Paths of the documents with a chunk that has no vector."""
        with self._database.reading() as db:
            paths = db.execute(
                "SELECT path FROM documents WHERE number IN"  # noqa: S608  # only literals
                f" (SELECT document FROM chunks WHERE {_MISSING}) ORDER BY path"
            )
            return [path for (path,) in paths]

    def missing_texts(self) -> int:
        """Number of different texts without a vector."""
        with self._database.reading() as db:
            (count,) = db.execute(
                f"SELECT count(DISTINCT hash) FROM chunks WHERE {_MISSING}"  # noqa: S608  # only literals
            ).fetchone()
        return int(count)

    def paths_missing(self, documents: Collection[int]) -> list[str]:
        """Paths of those of the documents, by number, that have a chunk without a vector."""
        with self._database.reading() as db:
            paths = db.execute(
                f"SELECT path FROM documents WHERE number {_LISTED} AND EXISTS"  # noqa: S608  # only literals
                f" (SELECT 1 FROM chunks WHERE document = number AND {_MISSING})",
                (json.dumps(list(documents)),),
            )
            return [path for (path,) in paths]

    def add(self, paths: Collection[str]) -> None:
        """Note that the vectors of all chunks of these documents are stored."""
        with self._database.writing() as db:
            add(db, paths)
            generation.grow(db)

    def all_ids(self) -> list[str]:
        """Ids of all chunks, with a vector or without, in the order of their rows."""
        with self._database.reading() as db:
            return [id_ for (id_,) in db.execute("SELECT id FROM chunks ORDER BY row")]

    def without_row(self, ids: Collection[str]) -> list[str]:
        """Return those of the ids that no chunk has."""
        with self._database.reading() as db:
            free = db.execute(
                "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM chunks)",
                (json.dumps(list(ids)),),
            )
            return [id_ for (id_,) in free]

    def settle(self, ids: Collection[str], stored: Mapping[str, str]) -> None:
        """Enter those rows of the ids whose text has the stored vector, and remove the others.

        ``stored``: hash of the text that the vector of each id was made of.
        """
        with self._database.writing() as db:
            rows = db.execute(
                f"SELECT row, id, hash FROM chunks WHERE id {_LISTED}",  # noqa: S608  # only literals
                (json.dumps(list(ids)),),
            ).fetchall()
            sound = [(row,) for row, id_, hash_ in rows if stored.get(id_) == hash_]
            remove(db, [row for row, id_, hash_ in rows if stored.get(id_) != hash_])
            db.executemany("INSERT OR IGNORE INTO embedded VALUES (?)", sound)
            generation.grow(db)


def add(db: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Enter all rows of these documents."""
    db.executemany(
        "INSERT OR IGNORE INTO embedded SELECT row FROM chunks"
        " WHERE document = (SELECT number FROM documents WHERE path = ?)",
        ((path,) for path in paths),
    )


def remove(db: sqlite3.Connection, rows: Iterable[int]) -> None:
    db.executemany("DELETE FROM embedded WHERE row = ?", ((row,) for row in rows))
