"""The table of token vectors: the signs of each text's token vectors, by content hash.

A text that is stored here need not be embedded again when its document moves.
"""

import json
from collections.abc import Collection, Mapping

from ingest.store.sqlite import Database

SCHEMA = "CREATE TABLE tokens (hash TEXT PRIMARY KEY, signs BLOB NOT NULL);\n"


class Tokens:
    """The signs of the token vectors of all chunks. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, signs: Mapping[str, bytes]) -> None:
        """Store the signs of these texts, by content hash."""
        with self._database.writing() as db:
            db.executemany("INSERT OR REPLACE INTO tokens VALUES (?, ?)", signs.items())

    def read(self, hashes: Collection[str]) -> dict[str, bytes]:
        """Signs of these texts, by content hash; unknown hashes are left out."""
        with self._database.reading() as db:
            stored = db.execute(
                "SELECT hash, signs FROM tokens WHERE hash IN (SELECT value FROM json_each(?))",
                (json.dumps(list(hashes)),),
            )
            return dict(stored.fetchall())

    def stored(self, hashes: Collection[str]) -> set[str]:
        """Return those of the hashes that have stored signs."""
        with self._database.reading() as db:
            stored = db.execute(
                "SELECT hash FROM tokens WHERE hash IN (SELECT value FROM json_each(?))",
                (json.dumps(list(hashes)),),
            )
            return {hash_ for (hash_,) in stored}

    def of_rows(self, rows: Collection[int]) -> dict[int, bytes]:
        """Signs by row number of the chunk."""
        with self._database.reading() as db:
            stored = db.execute(
                "SELECT row, signs FROM chunks JOIN tokens USING (hash)"
                " WHERE row IN (SELECT value FROM json_each(?))",
                (json.dumps(list(rows)),),
            )
            return dict(stored.fetchall())

    def delete_strays(self) -> None:
        """Delete the signs of texts that no chunk has."""
        with self._database.writing() as db:
            db.execute("DELETE FROM tokens WHERE hash NOT IN (SELECT hash FROM chunks)")
