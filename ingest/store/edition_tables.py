"""Columns of documents and chunks that say which texts are the same: read and written.

A document has its page, version, language and standing (``ingest.editions``). A chunk has the hash
of its text alone (``content``), equal for copies, and its ``kin``: a number that the nearly equal
chunks of one page's editions share, empty where there are none.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.documents import Kind
from ingest.store import generation
from ingest.store.sqlite import Database

SCHEMA = """
CREATE INDEX documents_of_page ON documents (page);
CREATE INDEX chunks_of_content ON chunks (content);
CREATE INDEX chunks_of_kin ON chunks (kin) WHERE kin IS NOT NULL;
"""
LATER_COLUMNS = (
    ("documents", "page", "TEXT"),
    ("documents", "version", "TEXT"),
    ("documents", "language", "TEXT"),
    ("documents", "standing", "INTEGER"),
    ("documents", "stated", "TEXT"),
    ("chunks", "kind", "TEXT"),
    ("chunks", "content", "INTEGER"),
    ("chunks", "kin", "INTEGER"),
)
"""Columns that files of an older schema lack: they are searched until the new index is complete."""

_COLUMNS = "number, path, page, version, language, standing, stated"


@dataclass(frozen=True, slots=True)
class EditionRow:
    """A document as an edition of a page, as stored."""

    number: int
    path: str
    page: str | None
    version: str | None
    language: str | None
    standing: int
    stated: tuple[str | None, str | None]
    """Version and language in its front matter."""


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """The values of a chunk that decide about its place in a result."""

    document: int
    path: str
    content: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Member:
    """A chunk with the same text as another, or with nearly the same."""

    row: int
    document: int
    content: int
    kin: int | None
    id: str
    path: str
    lines: tuple[int, int]
    version: str | None
    standing: int


def forget_page(db: sqlite3.Connection, path: str) -> None:
    """Note that a document will be deleted: its page has other editions in another order then."""
    db.execute(
        "UPDATE documents SET page = NULL WHERE page = (SELECT page FROM documents WHERE path = ?)",
        (path,),
    )


class EditionTables:
    """Reads and writes these columns. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- documents

    def rows(self) -> list[EditionRow]:
        """All documents, by path."""
        with self._database.reading() as db:
            stored = db.execute(f"SELECT {_COLUMNS} FROM documents ORDER BY path").fetchall()  # noqa: S608  # only literals
        return [_edition(row) for row in stored]

    def related(self) -> list[EditionRow]:
        """Documents of the pages that have a version or a translation; the others stand alone."""
        with self._database.reading() as db:
            stored = db.execute(
                f"SELECT {_COLUMNS} FROM documents WHERE page IN (SELECT page FROM documents"  # noqa: S608  # only literals
                " WHERE standing > 0 OR version NOTNULL OR language NOTNULL)"
            ).fetchall()
        return [_edition(row) for row in stored]

    def largest(self) -> int:
        """Largest number of a document."""
        with self._database.reading() as db:
            return int(db.execute("SELECT ifnull(max(number), 0) FROM documents").fetchone()[0])

    def are_stale(self) -> bool:
        """Return True if a document was written, or an edition deleted, since the last write."""
        with self._database.reading() as db:
            statement = "SELECT EXISTS (SELECT 1 FROM documents WHERE page IS NULL)"
            return bool(db.execute(statement).fetchone()[0])

    def of_page(self, path: str) -> list[EditionRow]:
        """The editions of the page that this document is an edition of, the current one first."""
        with self._database.reading() as db:
            stored = db.execute(
                f"SELECT {_COLUMNS} FROM documents WHERE"  # noqa: S608  # only literals
                " page = (SELECT page FROM documents WHERE path = :path) AND"
                " language IS (SELECT language FROM documents WHERE path = :path)"
                " ORDER BY standing, path",
                {"path": path},
            ).fetchall()
        return [_edition(row) for row in stored]

    def opening(self, path: str) -> str:
        """Text of the first chunks of a document."""
        with self._database.reading() as db:
            texts = db.execute(
                "SELECT text FROM chunks JOIN documents ON number = document WHERE path = ?"
                " ORDER BY position LIMIT 4",
                (path,),
            ).fetchall()
        return "\n".join(text for (text,) in texts)

    def write(
        self,
        editions: Iterable[tuple[str, str | None, str | None, int, int]],
        kin: Mapping[int, int | None],
        meta: Mapping[str, str],
    ) -> None:
        """Store page, version, language and standing by document number, and kin by row."""
        with self._database.writing() as db:
            db.executemany(
                "UPDATE documents SET page = ?, version = ?, language = ?, standing = ?"
                " WHERE number = ?",
                editions,
            )
            db.executemany(
                "UPDATE chunks SET kin = ? WHERE row = ?", ((of, row) for row, of in kin.items())
            )
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
            generation.grow(db)

    # -- chunks

    def texts(
        self, documents: Collection[int]
    ) -> list[tuple[int, int, tuple[str, ...], str, int, int | None]]:
        """Row, document, heading path, text, content and kin of all chunks of these documents."""
        with self._database.reading() as db:
            stored = db.execute(
                "SELECT row, document, heading, text, content, kin FROM chunks"
                " WHERE document IN (SELECT value FROM json_each(?)) ORDER BY document, position",
                (json.dumps(list(documents)),),
            ).fetchall()
        return [
            (row, document, tuple(json.loads(heading)), text, content, kin)
            for row, document, heading, text, content, kin in stored
        ]

    def kin(self) -> list[tuple[int, int, int]]:
        """Row, kin and document of each chunk that has kin, by row."""
        with self._database.reading() as db:
            return db.execute(
                "SELECT row, kin, document FROM chunks WHERE kin IS NOT NULL ORDER BY row"
            ).fetchall()

    def facts(self, rows: Collection[int]) -> dict[int, ChunkFacts]:
        """Facts by row; deleted rows are left out."""
        with self._database.reading() as db:
            stored = db.execute(
                "SELECT row, number, path, ifnull(content, -row), ifnull(kind, 'page')"
                " FROM chunks JOIN documents ON number = document"
                " WHERE row IN (SELECT value FROM json_each(?))",
                (json.dumps(list(rows)),),
            )
            return {row: ChunkFacts(*facts) for row, *facts in stored}

    def members(self, rows: Collection[int]) -> list[Member]:
        """All chunks whose text is that of one of these rows, or that are kin of one of them."""
        asked = json.dumps(list(rows))
        columns = (
            "SELECT row, document, content, kin, id, path, first_line, last_line, version,"
            " ifnull(standing, 0) FROM chunks JOIN documents ON number = document WHERE {0} IN"
            " (SELECT {0} FROM chunks WHERE {0} NOTNULL"
            " AND row IN (SELECT value FROM json_each(?)))"
        )
        with self._database.reading() as db:
            stored = {
                row[0]: row
                for column in ("content", "kin")
                for row in db.execute(columns.format(column), (asked,))
            }
        return [_member(*row) for row in stored.values()]


def _edition(row: Sequence[Any]) -> EditionRow:
    number, path, page, version, language, standing, stated = row
    named = tuple(json.loads(stated or "[null, null]"))
    return EditionRow(number, path, page, version, language, standing or 0, (named[0], named[1]))


def _member(*row: Any) -> Member:
    number, document, content, kin, id_, path, first, last, version, standing = row
    lines = (first, last)
    return Member(number, document, content, kin, id_, path, lines, version, standing)
