"""Address of the journal's database -> an engine whose tables are there, as the code knows them."""

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from bot.records import Base
from ingest.errors import SettingsError


def open_database(database_url: str | None, data_dir: Path) -> sa.Engine:
    """The given database, else SQLite in the data folder. Raises SettingsError."""
    if database_url is None:
        data_dir.mkdir(parents=True, exist_ok=True)
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
    except SQLAlchemyError as error:
        raise SettingsError(
            f"DATABASE_URL: the database cannot be used ({type(error).__name__}); "
            "check that it runs, its name, user and password"
        ) from error


def _with_tables(engine: sa.Engine) -> sa.Engine:
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
