"""The tables of ``pages.sqlite``: documents, their chunks, and metadata of the index.

All rows of a document are written in one transaction, together with its revision: a reader sees it
before or after a change, never between. A document without a revision of its own has the one of
the last completed ingest. A row number is never reused: it means the same chunk text forever, or no
row.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ingest.documents import Chunk, DocumentInfo, Origin, Passage
from ingest.store import (
    document_rows,
    edition_tables,
    embedded_rows,
    generation,
    include_tables,
    keywords,
    origins,
    passage_rows,
    tokens,
)
from ingest.store.chunk_changes import ChunkChanges
from ingest.store.document_rows import StoredDocument
from ingest.store.edition_tables import EditionTables
from ingest.store.embedded_rows import EmbeddedRows
from ingest.store.include_tables import NOTHING, IncludeTables, StoredIncludes
from ingest.store.keywords import Keywords
from ingest.store.sqlite import Database, damaged
from ingest.store.tokens import Tokens

SCHEMA_VERSION = 4
"""Part of the index's identity: raise it when rows or terms are made differently."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    signature TEXT NOT NULL,
    title TEXT NOT NULL,
    owner TEXT,
    tags TEXT NOT NULL,
    updated_at TEXT,
    origin TEXT,
    page TEXT,
    version TEXT,
    language TEXT,
    standing INTEGER,
    stated TEXT
);
CREATE TABLE chunks (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (number),
    id TEXT NOT NULL UNIQUE,
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    heading TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    text TEXT NOT NULL,
    hash TEXT NOT NULL,
    kind TEXT,
    content INTEGER,
    kin INTEGER
);
CREATE INDEX chunks_of_document ON chunks (document, position);
"""


class DocumentTables:
    """The database of one index folder. Several threads may read; one may write."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        parts = (_SCHEMA, edition_tables.SCHEMA, keywords.SCHEMA, tokens.SCHEMA)
        schema = "".join((*parts, embedded_rows.SCHEMA, include_tables.SCHEMA))
        self._database = Database(
            path,
            schema=schema if create else None,
            later_columns=(*origins.LATER_COLUMNS, *edition_tables.LATER_COLUMNS),
            later_tables=embedded_rows.LATER_TABLES | include_tables.LATER_TABLES,
        )
        self.editions = EditionTables(self._database)
        self.keywords = Keywords(self._database)
        self.tokens = Tokens(self._database)
        self.embedded = EmbeddedRows(self._database)
        self.includes = IncludeTables(self._database)

    def check(self) -> None:
        """Raise IndexDamaged when the file is not a sound database, IndexLocked when it is held."""
        with self._database.writing() as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(verdict)

    def copy_to(self, path: Path) -> None:
        """Write all rows into a new file, without the space of deleted ones."""
        self.keywords.merge()
        self._database.copy_to(path)

    def empty_log(self) -> None:
        self._database.empty_log()

    def close(self) -> None:
        self._database.close()

    # -- the index as a whole

    def meta(self) -> dict[str, str]:
        with self._database.reading() as db:
            return dict(db.execute("SELECT key, value FROM meta"))

    def set_meta(self, values: Mapping[str, str]) -> None:
        with self._database.writing() as db:
            _set_meta(db, values)

    def complete(self, values: Mapping[str, str], older: Collection[str]) -> None:
        """Store the metadata of an ingest that has ended: all documents have its revision now.

        The ``older`` documents keep the revision that they have, since they could not be written.
        """
        with self._database.writing() as db:
            origins.settle(db, older)
            _set_meta(db, values)

    def generation(self) -> int:
        """Number that grows with every write."""
        with self._database.reading() as db:
            return generation.read(db)

    def counts(self) -> tuple[int, int]:
        """Numbers of documents and of chunks."""
        with self._database.reading() as db:
            documents, chunks = db.execute(
                "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks)"
            ).fetchone()
        return documents, chunks

    def differing(self) -> int:
        """Number of documents whose revision is not the one in the metadata."""
        with self._database.reading() as db:
            (count,) = db.execute("SELECT count(origin) FROM documents").fetchone()
        return int(count)

    # -- writing

    def write(
        self,
        info: DocumentInfo,
        prefix: str,
        signature: str,
        chunks: Sequence[Chunk],
        origin: Origin | None = None,
        vectors: Literal["stored", "missing"] = "stored",
        includes: StoredIncludes = NOTHING,
    ) -> ChunkChanges:
        """Replace a document's chunks by these; rows of unchanged chunks stay."""
        with self._database.writing() as db:
            (number,) = db.execute(
                "INSERT INTO documents"
                " (path, prefix, signature, title, owner, tags, updated_at, stated, origin)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET"
                " prefix = excluded.prefix, signature = excluded.signature,"
                " title = excluded.title, owner = excluded.owner, tags = excluded.tags,"
                " updated_at = excluded.updated_at, stated = excluded.stated, page = NULL,"
                " origin = excluded.origin RETURNING number",
                (
                    info.path,
                    prefix,
                    signature,
                    *document_rows.columns(info),
                    origin.to_text() if origin else None,
                ),
            ).fetchone()
            wanted = {chunk.id: chunk.hash for chunk in chunks}
            stored = {
                # The id may belong to a row of another document, which has to go.
                id_: (row, hash_ if document == number else "")
                for row, document, id_, hash_ in db.execute(
                    "SELECT row, document, id, hash FROM chunks WHERE document = ?"
                    " OR id IN (SELECT value FROM json_each(?))",
                    (number, json.dumps(list(wanted))),
                )
            }
            stale = {id_: row for id_, (row, hash_) in stored.items() if wanted.get(id_) != hash_}
            _delete_rows(db, stale.values())
            for chunk in chunks:
                if chunk.id in stored and chunk.id not in stale:
                    db.execute(
                        "UPDATE chunks SET first_line = ?, last_line = ?, kind = ? WHERE row = ?",
                        (*chunk.lines, _kind(chunk), stored[chunk.id][0]),
                    )
                else:
                    _insert_row(db, number, chunk)
            keywords.write_document(db, number, chunks)
            include_tables.write_document(db, number, includes)
            if vectors == "stored":
                embedded_rows.add(db, [info.path])
            generation.grow(db)
        updated = len(stale.keys() & wanted.keys())
        return ChunkChanges(
            added=len(wanted.keys() - stored.keys()),
            updated=updated,
            deleted=len(stale) - updated,
            unchanged=len(stored) - len(stale),
            gone=tuple(stale),
        )

    def delete(self, path: str) -> ChunkChanges:
        """Delete a document with all its chunks."""
        with self._database.writing() as db:
            row = db.execute("SELECT number FROM documents WHERE path = ?", (path,)).fetchone()
            number = row[0] if row else 0
            stored = db.execute("SELECT row, id FROM chunks WHERE document = ?", (number,))
            rows = dict(stored.fetchall())
            _delete_rows(db, rows)
            keywords.delete_document(db, number)
            edition_tables.forget_page(db, path)
            include_tables.delete_document(db, number)
            db.execute("DELETE FROM documents WHERE number = ?", (number,))
            generation.grow(db)
        return ChunkChanges(deleted=len(rows), gone=tuple(rows.values()))

    # -- reading

    def documents(self) -> dict[str, StoredDocument]:
        """All documents by path."""
        with self._database.reading() as db:
            stored = map(document_rows.stored, db.execute(document_rows.select("1 ORDER BY path")))
            return {document.info.path: document for document in stored}

    def signatures(self) -> dict[str, tuple[str, str]]:
        """Prefix and signature of all documents, by path."""
        with self._database.reading() as db:
            rows = db.execute("SELECT path, prefix, signature FROM documents ORDER BY path")
            return {path: (prefix, signature) for path, prefix, signature in rows}

    def document(self, name: str) -> StoredDocument | None:
        """Return a document by its path, or else by the prefix of its chunk ids."""
        with self._database.reading() as db:
            row = db.execute(
                document_rows.select("path = :name OR prefix = :name ORDER BY path = :name DESC"),
                {"name": name},
            ).fetchone()
        return document_rows.stored(row) if row else None

    def hashes(self) -> dict[str, tuple[str, str]]:
        """Path and content hash by chunk id."""
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT id, path, hash FROM chunks JOIN documents ON number = document"
            )
            return {id_: (path, hash_) for id_, path, hash_ in rows}

    def rows(self) -> list[int]:
        """Row numbers of all chunks, ascending."""
        with self._database.reading() as db:
            return [row for (row,) in db.execute("SELECT row FROM chunks ORDER BY row")]

    def origins(self, rows: Collection[int]) -> dict[int, tuple[int, str, str]]:
        """Document number, id and content hash by row."""
        with self._database.reading() as db:
            stored = db.execute(
                "SELECT row, document, id, hash FROM chunks"
                " WHERE row IN (SELECT value FROM json_each(?))",
                (json.dumps(list(rows)),),
            )
            return {row: (document, id_, hash_) for row, document, id_, hash_ in stored}

    def passages(self, rows: Collection[int]) -> dict[int, Passage]:
        """Passages by row number; deleted rows are left out."""
        return dict(self._passages("row IN (SELECT value FROM json_each(?))", list(rows)))

    def passages_by_id(self, ids: Collection[str]) -> dict[str, Passage]:
        found = self._passages("id IN (SELECT value FROM json_each(?))", list(ids))
        return {passage.id: passage for _row, passage in found}

    def rows_of(self, ids: Collection[str]) -> set[int]:
        with self._database.reading() as db:
            stored = db.execute(
                "SELECT row FROM chunks WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )
            return {row for (row,) in stored}

    def passages_of(self, path: str) -> list[Passage]:
        """All chunks of a document, in order."""
        found = self._passages("path = json_extract(?, '$') ORDER BY position", path)
        return [passage for _row, passage in found]

    def _passages(self, condition: str, value: object) -> list[tuple[int, Passage]]:
        """Row numbers and passages of the chunks that meet a condition about a value in JSON."""
        with self._database.reading() as db:
            rows = db.execute(passage_rows.select(condition), (json.dumps(value),))
            return [(row, passage_rows.passage(columns)) for row, *columns in rows]


def _insert_row(db: sqlite3.Connection, document: int, chunk: Chunk) -> None:
    (row,) = db.execute(
        "INSERT INTO chunks (document, id, position, title, heading, first_line, last_line, text,"
        " hash, kind, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING row",
        (
            document,
            chunk.id,
            chunk.number,
            chunk.title,
            json.dumps(chunk.heading),
            *chunk.lines,
            chunk.text,
            chunk.hash,
            _kind(chunk),
            chunk.content,
        ),
    ).fetchone()
    keywords.insert_row(db, row, chunk)


def _kind(chunk: Chunk) -> str | None:
    return None if chunk.kind == "page" else chunk.kind


def _delete_rows(db: sqlite3.Connection, rows: Collection[int]) -> None:
    keywords.delete_rows(db, rows)
    embedded_rows.remove(db, rows)
    db.executemany("DELETE FROM chunks WHERE row = ?", ((row,) for row in rows))


def _set_meta(db: sqlite3.Connection, values: Mapping[str, str]) -> None:
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
    generation.grow(db)
