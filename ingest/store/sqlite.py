"""One SQLite file of an index folder: its connections, transactions and what its errors mean."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

from ingest.errors import DataFolderError, IndexDamaged, IngestError

_FOLDER_TROUBLE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR}


def is_folder_trouble(code: int) -> bool:
    """Whether SQLite's error speaks of the disk or the permissions, and not of the data."""
    return code & 0xFF in _FOLDER_TROUBLE


class Database:
    """A pool of connections, so that threads read side by side; one thread writes."""

    def __init__(self, path: Path, *, schema: str | None) -> None:
        """With a ``schema`` the file is made anew; without one it has to be there."""
        self._path = path
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
        """One transaction: all of it or nothing."""
        with self.reading() as db, db:
            db.execute("BEGIN IMMEDIATE")
            yield db

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it is handed back."""
        self._closed = True
        self._close_idle()

    def _connect(self) -> sqlite3.Connection:
        try:
            db = sqlite3.connect(
                self._address, uri=True, timeout=30, isolation_level=None, check_same_thread=False
            )
        except sqlite3.DatabaseError as error:
            raise self._explained(error) from error
        try:
            # Safe in write-ahead mode: what a power cut takes back, the next ingest writes again.
            db.execute("PRAGMA synchronous = NORMAL")
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
        # A file that is there and cannot be opened is sound, but not ours to read.
        kept_shut = code & 0xFF == sqlite3.SQLITE_CANTOPEN and self._path.is_file()
        if kept_shut or is_folder_trouble(code):
            return DataFolderError(self._path, error)
        return damaged(str(error))


def damaged(reason: str) -> IndexDamaged:
    return IndexDamaged(f"The keyword index cannot be read ({reason})")
