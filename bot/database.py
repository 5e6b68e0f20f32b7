"""Address of the journal's database -> an engine with its tables, and what its errors mean."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from bot.records import Base
from ingest.errors import DataFolderError, FootnoteError, SettingsError

_DAMAGED = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_FOLDER_TROUBLE = {
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
}  # fmt: skip


class JournalError(FootnoteError):
    """The journal's database cannot be read or written."""


@contextmanager
def explained(engine: sa.Engine) -> Iterator[None]:
    """Errors of the database -> JournalError; a row that is there already is left to the caller."""
    try:
        yield
    except IntegrityError:
        raise
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise JournalError(_explanation(engine, error)) from error


def _explanation(engine: sa.Engine, error: Exception) -> str:
    if engine.dialect.name != "sqlite":
        return (
            f"DATABASE_URL: the database cannot be used ({type(error).__name__}); "
            "check that it runs, its name, user and password"
        )
    place = f"the journal {engine.url.database}"
    code = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGED:
        return f"{place} is damaged: move the file away, and a new one is begun"
    if code in _LOCKED:
        return f"{place} is locked by another process: stop that one, or wait until it is done"
    if code in _FOLDER_TROUBLE:
        return f"{place} cannot be written: free some space, or correct the permissions there"
    return (
        f"{place} cannot be used ({type(error).__name__}): if another version of Footnote made "
        "it, move the file away, and a new one is begun"
    )


def open_database(database_url: str | None, data_dir: Path) -> sa.Engine:
    """The given database, else SQLite in the data folder.

    Raises SettingsError, DataFolderError or JournalError.
    """
    if database_url is None:
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataFolderError(
                f"The data folder {data_dir} cannot be made ({error.strerror}). "
                "Set FOOTNOTE_DATA_DIR to a folder that can be written."
            ) from error
        url = sa.URL.create("sqlite", database=str(data_dir / "journal.sqlite"))
        return _with_tables(_sqlite(url))
    scheme, _, rest = database_url.partition("://")
    if scheme in ("postgres", "postgresql"):
        database_url = f"postgresql+psycopg://{rest}"
    try:
        parsed = sa.make_url(database_url)
        if parsed.get_backend_name() == "sqlite":
            return _with_tables(_sqlite(parsed))
        return _with_tables(sa.create_engine(parsed, pool_pre_ping=True))
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise SettingsError(
            "DATABASE_URL is not a database address that can be used; "
            "write postgresql://user:password@host/name and install footnote[postgres]"
        ) from error


def _with_tables(engine: sa.Engine) -> sa.Engine:
    with explained(engine):
        Base.metadata.create_all(engine)
    return engine


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, connect_args={"timeout": 15})

    @sa.event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions are opened below, not by the driver
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    @sa.event.listens_for(engine, "begin")
    def _begun(connection: sa.Connection) -> None:
        # A reader that turns writer could fail at once with "locked"; taking the lock first waits.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
