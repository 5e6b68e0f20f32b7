"""The table of token vectors: of each text the signs of its tokens, by content hash.

The same text is never read twice, whatever becomes of its pages.
"""

import json
from collections.abc import Collection, Mapping

from ingest.store.sqlite import Database

SCHEMA = "CREATE TABLE tokens (hash TEXT PRIMARY KEY, signs BLOB NOT NULL);\n"


class Tokens:
    """The signs of all chunks' tokens. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, signs: Mapping[str, bytes]) -> None:
        """Keep the signs of these texts, by content hash."""
        with self._database.writing() as db:
            db.executemany("INSERT OR REPLACE INTO tokens VALUES (?, ?)", signs.items())

    def read(self, hashes: Collection[str]) -> dict[str, bytes]:
        """What is kept of these texts."""
        with self._database.reading() as db:
            found = db.execute(
                "SELECT hash, signs FROM tokens WHERE hash IN (SELECT value FROM json_each(?))",
                (json.dumps(list(hashes)),),
            )
            return dict(found.fetchall())

    def known(self, hashes: Collection[str]) -> set[str]:
        """Of which of these texts anything is kept."""
        with self._database.reading() as db:
            found = db.execute(
                "SELECT hash FROM tokens WHERE hash IN (SELECT value FROM json_each(?))",
                (json.dumps(list(hashes)),),
            )
            return {hash_ for (hash_,) in found}

    def of_rows(self, rows: Collection[int]) -> dict[int, bytes]:
        """Signs by row of the chunk."""
        with self._database.reading() as db:
            found = db.execute(
                "SELECT row, signs FROM chunks JOIN tokens USING (hash)"
                " WHERE row IN (SELECT value FROM json_each(?))",
                (json.dumps(list(rows)),),
            )
            return dict(found.fetchall())

    def delete_strays(self) -> None:
        """Forget the texts that no chunk has any more."""
        with self._database.writing() as db:
            db.execute("DELETE FROM tokens WHERE hash NOT IN (SELECT hash FROM chunks)")
