"""The directives of each document, and which document shows which: stored and read.

The directives are written with the rows of their document, so that an unchanged page need not be
read for them. Which file they name is found anew in every ingest.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.store import generation
from ingest.store.sqlite import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS includes (
    document INTEGER PRIMARY KEY,
    directives TEXT NOT NULL,
    missing TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS shown (
    path TEXT NOT NULL,
    page TEXT NOT NULL,
    line INTEGER NOT NULL,
    entirely INTEGER NOT NULL,
    headings INTEGER NOT NULL
);
"""
LATER_TABLES = {"shown": SCHEMA}


@dataclass(frozen=True, slots=True)
class StoredIncludes:
    """What a stored document includes."""

    directives: str = ""
    """As ``ingest.readers.includes.include_directives.to_text`` writes them."""
    missing: tuple[str, ...] = ()
    """Parts that pages show and that this document does not have."""
    title: str = ""
    """Title of the document; its own row holds it."""


NOTHING = StoredIncludes()


@dataclass(frozen=True, slots=True, order=True)
class Shown:
    """One document that shows another."""

    path: str
    page: str
    line: int
    """Line of the directive in ``page``."""
    entirely: bool
    """True if it shows all that is indexed of a file that is indexed for being shown."""
    headings: int = -1
    """Number of headings that the file has from ``page``, and perhaps its title; -1 for none."""


class IncludeTables:
    """Both tables. Several threads may read; one may write."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def stored(self) -> dict[str, StoredIncludes]:
        """Directives by path of the document; documents without any are left out."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT path, directives, missing, title FROM includes"
                " JOIN documents ON number = document"
            ).fetchall()
        return {
            path: StoredIncludes(found, tuple(json.loads(missing)), title)
            for path, found, missing, title in rows
        }

    def shown(self) -> list[Shown]:
        """All pairs, by path."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT path, page, line, entirely, headings FROM shown ORDER BY 1, 2, 3"
            )
            return [Shown(p, page, line, bool(all_), given) for p, page, line, all_, given in rows]

    def replace_shown(self, pairs: Sequence[Shown]) -> bool:
        """Store these pairs instead of the others; return False if they are the same."""
        if sorted(pairs) == sorted(self.shown()):
            return False
        with self._database.writing() as db:
            db.execute("DELETE FROM shown")
            db.executemany(
                "INSERT INTO shown VALUES (?, ?, ?, ?, ?)",
                [(p.path, p.page, p.line, p.entirely, p.headings) for p in pairs],
            )
            generation.grow(db)
        return True


def write_document(db: sqlite3.Connection, number: int, includes: StoredIncludes) -> None:
    """Replace the directives of a document, within the transaction of its rows."""
    delete_document(db, number)
    if includes.directives or includes.missing:
        db.execute(
            "INSERT INTO includes VALUES (?, ?, ?)",
            (number, includes.directives, json.dumps(includes.missing)),
        )


def delete_document(db: sqlite3.Connection, number: int) -> None:
    db.execute("DELETE FROM includes WHERE document = ?", (number,))
