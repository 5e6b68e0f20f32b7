"""The keyword index: rows of words in FTS5, matched with the words of a query.

A chunk has a row with its title, headings, path, cleaned text and the parts of its identifiers. A
document has a row with the words of all its chunks, since the words that show its subject can be
far apart in it. Both are in the database of ``ingest.store.document_tables``, so that all change
together.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence

from ingest.documents import Chunk
from ingest.store.sqlite import Database
from ingest.store.terms import identifier_parts, row_text

SCHEMA = """
CREATE VIRTUAL TABLE keywords USING fts5 (
    title, headings, path, body, parts, tokenize = 'porter unicode61'
);
INSERT INTO keywords (keywords, rank) VALUES ('rank', 'bm25(1.0, 1.0, 1.0, 1.0, 0.3)');
CREATE VIRTUAL TABLE page_keywords USING fts5 (
    name, body, parts, tokenize = 'porter unicode61'
);
INSERT INTO page_keywords (page_keywords, rank) VALUES ('rank', 'bm25(2.0, 1.0, 0.3)');
"""


class Keywords:
    """Matches rows by their words. Safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def match(
        self, phrases: Sequence[str], limit: int, documents: Iterable[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return the best rows for any of these phrases, with scores; higher is better."""
        if not phrases:
            return []
        expression = " OR ".join(phrases)
        with self._database.reading() as db:
            if documents is None:
                matches = db.execute(
                    "SELECT rowid, -rank FROM keywords WHERE keywords MATCH ?"
                    " ORDER BY rank LIMIT ?",
                    (expression, limit),
                )
            else:
                # "+rank" scores the filtered rows only; "rank" would score and sort all first.
                matches = db.execute(
                    "SELECT keywords.rowid, -rank FROM keywords"
                    " CROSS JOIN chunks ON chunks.row = keywords.rowid"
                    " WHERE keywords MATCH ?"
                    " AND document IN (SELECT value FROM json_each(?)) ORDER BY +rank LIMIT ?",
                    (expression, json.dumps(list(documents)), limit),
                )
            return matches.fetchall()

    def match_documents(
        self, phrases: Sequence[str], limit: int, documents: Iterable[int] | None = None
    ) -> dict[int, float]:
        """Return the scores of the best documents for any of these phrases, by document number."""
        if not phrases:
            return {}
        expression = " OR ".join(phrases)
        with self._database.reading() as db:
            if documents is None:
                matches = db.execute(
                    "SELECT rowid, -rank FROM page_keywords WHERE page_keywords MATCH ?"
                    " ORDER BY rank LIMIT ?",
                    (expression, limit),
                )
            else:
                # "+rowid" filters one search; "rowid" would repeat the search for every document.
                matches = db.execute(
                    "SELECT rowid, -rank FROM page_keywords WHERE page_keywords MATCH ?"
                    " AND +rowid IN (SELECT value FROM json_each(?)) ORDER BY +rank LIMIT ?",
                    (expression, json.dumps(list(documents)), limit),
                )
            return dict(matches.fetchall())

    def frequency(self, phrase: str) -> int:
        """Return the number of chunks that contain a phrase."""
        with self._database.reading() as db:
            (count,) = db.execute(
                "SELECT count(*) FROM keywords WHERE keywords MATCH ?", (phrase,)
            ).fetchone()
        return int(count)

    def merge(self) -> None:
        """Drop the words of deleted rows from the file, which FTS5 else keeps for long."""
        with self._database.writing() as db:
            db.execute("INSERT INTO keywords (keywords) VALUES ('optimize')")
            db.execute("INSERT INTO page_keywords (page_keywords) VALUES ('optimize')")

    def holding(self, term: str, rows: Collection[int]) -> set[int]:
        """Return those of the rows that contain a word, or the parts of an identifier in order."""
        with self._database.reading() as db:
            return {
                row
                for row in rows
                if db.execute(
                    "SELECT 1 FROM keywords WHERE keywords MATCH ? AND rowid = ?",
                    (f'"{term}"', row),
                ).fetchone()
            }


def insert_row(db: sqlite3.Connection, row: int, chunk: Chunk) -> None:
    """Index a chunk under its row number."""
    headings = " > ".join(chunk.heading)
    db.execute(
        "INSERT INTO keywords (rowid, title, headings, path, body, parts)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            row,
            row_text(chunk.title),
            row_text(headings),
            row_text(chunk.path),
            row_text(chunk.search_text),
            identifier_parts(f"{chunk.title}\n{headings}\n{chunk.path}\n{chunk.search_text}"),
        ),
    )


def delete_rows(db: sqlite3.Connection, rows: Iterable[int]) -> None:
    db.executemany("DELETE FROM keywords WHERE rowid = ?", ((row,) for row in rows))


def write_document(db: sqlite3.Connection, number: int, chunks: Sequence[Chunk]) -> None:
    """Index a document's words under its number, replacing its older words."""
    delete_document(db, number)
    if not chunks:
        return
    first = chunks[0]
    body = "\n".join(chunk.search_text for chunk in chunks)
    db.execute(
        "INSERT INTO page_keywords (rowid, name, body, parts) VALUES (?, ?, ?, ?)",
        (
            number,
            row_text(f"{first.title} {first.path}"),
            row_text(body),
            identifier_parts(f"{first.title}\n{first.path}\n{body}"),
        ),
    )


def delete_document(db: sqlite3.Connection, number: int) -> None:
    db.execute("DELETE FROM page_keywords WHERE rowid = ?", (number,))
