"""Address of the journal's database -> an engine with its tables; database errors -> ours.

Tables of an older version get their missing columns, if those may be empty or have a server
default. Any other difference is an error of one line.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.orm import Session

from bot.journal.records import Base
from ingest.errors import DataFolderError, FootnoteError, SettingsError

JOURNAL_FILE = "journal.sqlite"
"""File in the data folder, used if no database server is configured."""
RESTART_SECONDS = 10.0
"""Seconds to wait for a database that was reachable before; a server restarts faster."""
BRIEF_SECONDS = 2.0
"""Seconds to wait for a database if messages can be kept in memory: Slack waits for three."""
_LOCKED_SECONDS = 15.0
"""Seconds to wait for a file that another process has locked."""
_QUEUE_SECONDS = 5.0
"""Seconds that a thread waits for the threads ahead of it."""
_RETRY_SECONDS = 0.25
_SCHEMA_LOCK = 7_203_311
"""Number of the database lock under which one process at a time creates the tables."""
_LIBPQ = {
    "application_name": "footnote",
    "connect_timeout": "10",
    "tcp_user_timeout": "30000",  # milliseconds until a connection to a dead server ends
}
_INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_DAMAGED = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_FOLDER_TROUBLE = {
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
}  # fmt: skip


class JournalError(FootnoteError):
    """The journal's database cannot be read or written."""


class FileGone(JournalError):
    """The journal's file was removed while it was in use."""


def check_file(engine: sa.Engine) -> None:
    """Raise FileGone if the file of an open SQLite database does not exist any more."""
    file = engine.url.database if engine.dialect.name == "sqlite" else None
    if file and not Path(file).exists():
        raise FileGone(f"the journal {file} was removed: it is made again")


def mend_file(engine: sa.Engine) -> None:
    """Make the file and the tables of an open database again if they are gone.

    Raises JournalError.
    """
    try:
        check_file(engine)
    except FileGone:
        engine.dispose()
    else:
        return
    with suppress(OSError):  # the database tells what is wrong with its folder
        Path(str(engine.url.database)).parent.mkdir(parents=True, exist_ok=True)
    _make_tables(engine)


@contextmanager
def explained(engine: sa.Engine) -> Iterator[None]:
    """Turn errors of the database into JournalError."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise JournalError(_explanation(engine, error)) from error


def insert(session: Session, table: type[Base], /, **values: object) -> bool:
    """Add a row; return False if its key exists, perhaps since a moment ago."""
    new = _INSERTS[session.get_bind().dialect.name](table).values(**values)
    return bool(session.scalar(new.on_conflict_do_nothing().returning(sa.true())))


def _explanation(engine: sa.Engine, error: Exception) -> str:
    if engine.dialect.name != "sqlite":
        orig = error.orig if isinstance(error, DBAPIError) else None
        # Only errors of the connection are quoted: others contain the data that was written.
        may_quote = isinstance(error, OperationalError) or getattr(orig, "sqlstate", "") is None
        reason = next(iter(str(orig).splitlines() if may_quote else ()), type(error).__name__)
        return (
            f"DATABASE_URL: the database cannot be used ({reason}); "
            "check that it runs, its name, user and password"
        )
    place = f"the journal {engine.url.database}"
    code = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGED:
        return f"{place} is damaged: move the file away, and a new one will be created"
    if code in _LOCKED:
        return f"{place} is locked by another process: stop it, or wait until it ends"
    if code in _FOLDER_TROUBLE:
        return f"{place} cannot be written: free some space, or correct the permissions"
    return f"{place} cannot be used ({type(error).__name__}): {_OTHER_FILE}"


_OTHER_FILE = "if another version of Footnote made it, move it away; a new one will be created"


def open_database(database_url: str | None, data_dir: Path, *, is_brief: bool = False) -> sa.Engine:
    """Open this database, or SQLite in the data folder for None.

    ``is_brief``: later calls wait only shortly for a database that is locked or away.

    Raises SettingsError, DataFolderError or JournalError.
    """
    if database_url is None:
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataFolderError(data_dir, error.strerror) from error
        url = sa.URL.create("sqlite", database=str(data_dir / JOURNAL_FILE))
        return _with_tables(_sqlite(url, is_brief))
    scheme, separator, rest = database_url.partition("://")
    if scheme == "postgres":  # the form that hosting services use
        scheme = "postgresql"
    try:
        parsed = sa.make_url(f"{scheme}{separator}{rest}")
        if parsed.get_backend_name() == "sqlite":
            return _with_tables(_sqlite(parsed, is_brief))
        if parsed.get_backend_name() == "postgresql":
            return _with_tables(_postgres(parsed, is_brief))
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise _no_address() from error
    except ImportError as error:
        raise SettingsError(
            "DATABASE_URL: the driver for PostgreSQL is not installed; "
            "install it with pip install 'psycopg[binary]'"
        ) from error
    raise _no_address()


def _no_address() -> SettingsError:
    return SettingsError(
        "DATABASE_URL is not a usable database address; "
        "write postgresql://user:password@host/name, with %2F for a / in the password and so on"
    )


def _make_tables(engine: sa.Engine) -> None:
    with explained(engine), engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_SCHEMA_LOCK)))
        Base.metadata.create_all(connection)
        _add_columns(connection)


def _with_tables(engine: sa.Engine) -> sa.Engine:
    try:
        _make_tables(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _add_columns(connection: sa.Connection) -> None:
    """Add missing columns to existing tables. Raises JournalError for any other difference."""
    existing = sa.inspect(connection).get_multi_columns()
    for table in Base.metadata.sorted_tables:
        columns = {column["name"]: column for column in existing[None, table.name]}
        for name, column in columns.items():
            if name not in table.columns and _is_needed(column["nullable"], column["default"]):
                raise _of_another_version(connection, table.name, name)
        for new in table.columns:
            if new.name not in columns:
                if _is_needed(bool(new.nullable), new.server_default):
                    raise _of_another_version(connection, table.name, new.name)
                definition = sa.schema.CreateColumn(new).compile(connection)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")
        for index in table.indexes:
            index.create(connection, checkfirst=True)


def _is_needed(nullable: bool, default: object) -> bool:
    return not nullable and default is None


def _of_another_version(connection: sa.Connection, table: str, column: str) -> JournalError:
    engine = connection.engine
    what = f"{table}.{column} is in one and not in the other"
    if engine.dialect.name == "sqlite":
        return JournalError(f"the journal {engine.url.database} differs ({what}): {_OTHER_FILE}")
    return JournalError(
        f"DATABASE_URL: the tables are of another version of Footnote ({what}); "
        "run that version, or give this one an empty database"
    )


def _postgres(url: sa.URL, is_brief: bool) -> sa.Engine:
    missing = {name: value for name, value in _LIBPQ.items() if name not in url.query}
    url = url.set(drivername="postgresql+psycopg").update_query_dict(missing)
    engine = sa.create_engine(url, pool_pre_ping=True, hide_parameters=True)
    patience = BRIEF_SECONDS if is_brief else RESTART_SECONDS
    was_there = False

    @sa.event.listens_for(engine, "do_connect")
    def _patiently(dialect: Any, _record: object, args: Any, parameters: Any) -> Any:
        nonlocal was_there
        until = time.monotonic() + (patience if was_there else 0.0)
        while True:
            try:
                connection = dialect.connect(*args, **parameters)
            except dialect.loaded_dbapi.OperationalError:
                if time.monotonic() >= until:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                was_there = True
                return connection

    return engine


def _sqlite(url: sa.URL, is_brief: bool) -> sa.Engine:
    patience = BRIEF_SECONDS if is_brief else _LOCKED_SECONDS
    # SQLite has one writer at a time. Threads queue for the one connection: SQLite itself does not
    # serve them in order, so that among many threads some would wait too long.
    engine = sa.create_engine(
        url,
        connect_args={"timeout": patience, "check_same_thread": False},
        poolclass=sa.QueuePool,
        pool_size=1,
        max_overflow=0,
        pool_timeout=_QUEUE_SECONDS,
        hide_parameters=True,
    )

    @sa.event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        record.info["file"] = _inode(url)
        connection.isolation_level = None  # transactions are opened below, not by the driver
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    @sa.event.listens_for(engine, "checkout")
    def _checked_out(_connection: object, record: Any, _proxy: object) -> None:
        if record.info["file"] != _inode(url):
            raise DisconnectionError("another file is in the place of the one that was opened")

    @sa.event.listens_for(engine, "begin")
    def _begun(connection: sa.Connection) -> None:
        # A reader that starts to write can fail with "locked"; with the lock taken first it waits.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _inode(url: sa.URL) -> int | None:
    try:
        return Path(url.database).stat().st_ino if url.database else None
    except OSError:
        return None
