"""One SQLite file of an index folder: connections, transactions and errors."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

from ingest.errors import DataFolderError, IndexDamaged, IndexLocked, IngestError

LOCK_SECONDS = 10.0
"""Seconds to wait for another program that holds a file."""
_FOLDER_TROUBLE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def sound_trouble(path: Path, code: int, reason: object) -> IngestError | None:
    """Return the error for a file whose data is sound, by SQLite's code; None for damaged data."""
    if code & 0xFF in _LOCKED:
        return IndexLocked(path)
    if code & 0xFF in _FOLDER_TROUBLE:
        return DataFolderError(path, reason)
    return None


class Database:
    """A pool of connections: several threads may read at once, one may write."""

    def __init__(
        self,
        path: Path,
        *,
        schema: str | None,
        later_columns: Sequence[tuple[str, str, str]] = (),
        later_tables: Mapping[str, str] | None = None,
    ) -> None:
        """Create the file with ``schema``; without a schema the file has to exist.

        ``later_columns`` (table, name, type) and ``later_tables`` (name -> statements that may run
        twice) are added to an older file, which is searched until a new one replaces it.
        """
        self._path = path
        self._later_columns = later_columns
        self._later_tables = later_tables or {}
        self._address = f"{path.absolute().as_uri()}?mode={'rw' if schema is None else 'rwc'}"
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._closed = False
        if schema is not None:
            with self.reading() as db:
                db.execute("PRAGMA journal_mode = WAL")
                db.executescript(f"BEGIN;{schema}COMMIT;")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        try:
            db = self._idle.get_nowait()
        except Empty:
            db = self._connect()
        try:
            yield db
        except sqlite3.DatabaseError as error:
            raise self._explained(error) from error
        finally:
            self._idle.put(db)
            if self._closed:
                self._close_idle()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection inside one transaction."""
        with self.reading() as db, db:
            db.execute("BEGIN IMMEDIATE")
            yield db

    def copy_to(self, path: Path) -> None:
        """Write all rows into a new file, without the space of deleted ones."""
        with self.reading() as db:
            db.execute("VACUUM INTO ?", (str(path),))
        copied = Database(path, schema=None)
        with copied.reading() as db:
            db.execute("PRAGMA journal_mode = WAL")
        copied.close()

    def empty_log(self) -> None:
        """Move the write-ahead log into the file, and give its space back."""
        with self.reading() as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close idle connections; those in use are closed when they are returned."""
        self._closed = True
        self._close_idle()

    def _connect(self) -> sqlite3.Connection:
        try:
            db = sqlite3.connect(
                self._address,
                uri=True,
                timeout=LOCK_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.DatabaseError as error:
            raise self._explained(error) from error
        try:
            # Safe in write-ahead mode: the next ingest repeats writes that a power cut undid.
            db.execute("PRAGMA synchronous = NORMAL")
            for table, column, kind in self._later_columns:
                _add_column(db, table, column, kind)
            for table, statements in self._later_tables.items():
                _add_table(db, table, statements)
        except sqlite3.DatabaseError as error:
            db.close()
            raise self._explained(error) from error
        return db

    def _close_idle(self) -> None:
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def _explained(self, error: sqlite3.DatabaseError) -> IngestError:
        code = getattr(error, "sqlite_errorcode", 0)
        # A file that exists and cannot be opened is sound, but its permissions are wrong.
        if code & 0xFF == sqlite3.SQLITE_CANTOPEN and self._path.is_file():
            return DataFolderError(self._path, error)
        return sound_trouble(self._path, code, error) or damaged(str(error))


def _add_column(db: sqlite3.Connection, table: str, column: str, kind: str) -> None:
    def names() -> set[str]:
        return {name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")}

    if column in names() or not names():  # the schema of a damaged file may lack the table
        return
    with db:
        db.execute("BEGIN IMMEDIATE")
        if column not in names():  # another process may have added it meanwhile
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")


def _add_table(db: sqlite3.Connection, table: str, statements: str) -> None:
    names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if names and table not in names:  # a new file has none yet
        db.executescript(f"BEGIN IMMEDIATE;{statements}COMMIT;")


def damaged(reason: str) -> IndexDamaged:
    return IndexDamaged(f"The keyword index cannot be read ({reason})")
