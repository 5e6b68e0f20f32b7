"""Messages in memory while the journal's database cannot be used; afterwards written into it.

A copy of each message that passes through the database is kept here, so that nothing is answered
twice. The log has one line a minute about a database that cannot be used.
"""

import functools
import logging
import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from bot.journal.clock import Now
from bot.journal.database import FileGone, JournalError, insert
from bot.journal.records import Base, JournalSession, NotedMessage
from bot.question.event import Key

log = logging.getLogger(__name__)

LOG_SECONDS = 60.0
"""Minimum number of seconds between two log lines about a database that cannot be used."""
RETRY_SECONDS = 1.0
"""Seconds between two attempts to use the database again."""
_NOTICED_SECONDS = 15.0
"""Seconds until other processes, too, have noticed that the database can be used again."""
_JOIN_SECONDS = 5.0
_MOST = 20_000
"""Maximum number of messages in memory: the newest ones."""

_AWAY = "the journal cannot be used at the moment: it is tried again every second"

P = ParamSpec("P")
T = TypeVar("T")
WriteBack = Callable[["Standby"], None]
"""Writes what is in memory into the database. Raises JournalError."""


class HasStandby(Protocol):
    """A journal with or without a standby."""

    @property
    def standby(self) -> "Standby | None": ...


J = TypeVar("J", bound=HasStandby)


def kept(method: Callable[Concatenate[J, P], T]) -> Callable[Concatenate[J, P], T]:
    """Run a method of the journal in the database or, while that cannot be used, in memory."""

    @functools.wraps(method)
    def run(journal: J, /, *args: P.args, **kwargs: P.kwargs) -> T:
        work = functools.partial(method, journal, *args, **kwargs)
        return journal.standby.run(work) if journal.standby else work()

    return run


class Standby:
    """The journal's tables in memory, shared by the threads of one process.

    While the database can be used they are empty, and messages are plain copies, which cost little.
    """

    def __init__(self, write_back: WriteBack, *, is_shared: bool) -> None:
        """``is_shared``: other processes use the same database."""
        self._write_back, self._is_shared = write_back, is_shared
        self._engine = sa.create_engine(
            "sqlite://",
            poolclass=StaticPool,
            connect_args={"check_same_thread": False},
            hide_parameters=True,
        )
        Base.metadata.create_all(self._engine)
        self._lock = threading.RLock()
        self._here = threading.local()
        self._copies: dict[Key, tuple[object, ...]] = {}
        """Messages as they were last read or written in the database, the newest last."""
        self._changed: set[Key] = set()
        """Messages that were read or written in memory since."""
        self._is_away = False
        self._returned_at = -math.inf
        self._is_logged = False
        self._logged_at = -math.inf
        self._closing = threading.Event()
        self._returning: threading.Thread | None = None

    @property
    def is_away(self) -> bool:
        """True while the database cannot be used."""
        return self._is_away

    @property
    def is_apart(self) -> bool:
        """True while other processes and this one may not see each other's claims."""
        is_noticed = time.monotonic() - self._returned_at > _NOTICED_SECONDS
        return self._is_shared and (self._is_away or not is_noticed)

    @property
    def is_here(self) -> bool:
        """True if this thread works in memory now."""
        return getattr(self._here, "depth", 0) > 0

    def run(self, work: Callable[[], T]) -> T:
        """Do the work in the database or, while that cannot be used, in memory."""
        while True:
            if self.is_here:
                return work()
            if not self._is_away:
                try:
                    return work()
                except JournalError as error:
                    if not self.went_away(error):
                        raise
            with self._lock:
                if self._is_away:  # else the database came back a moment ago
                    with self._in_memory():
                        return work()

    def check(self) -> None:
        """Raise JournalError while the database cannot be used, so that nobody waits for it."""
        if self._is_away:
            raise JournalError(_AWAY)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Yield a session of the tables in memory."""
        with (
            self._lock,
            JournalSession(self._engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session
            self._changed.update(row.key for row in session.messages)

    def copy(self, session: JournalSession) -> None:
        """Copy the messages that a session of the database has read or written."""
        with self._lock:
            self._keep(session.messages)
            if self._is_away:  # since a moment ago
                self._fill([row.key for row in session.messages if row.key not in self._changed])

    def went_away(self, error: JournalError) -> bool:
        """Work in memory from now on, and try the database until it can be used again.

        Return False at the end of the process, when memory does not help any more.
        """
        with self._lock:
            if self._closing.is_set() or self._is_away:
                return self._is_away
            self._is_away = True
            self._fill(self._copies)
            if isinstance(error, FileGone):  # the database has lost its rows
                self._changed.update(self._copies)
        self._log(error)
        if isinstance(error, FileGone):
            self._is_logged = False  # the line says already that the journal comes back
        self._returning = threading.Thread(target=self._return, name="journal", daemon=True)
        self._returning.start()
        return True

    def _tidy(self) -> None:
        """Delete the oldest messages in memory if there are too many."""
        number = sa.literal_column("rowid", sa.Integer)  # SQLite numbers rows as they come
        newest = sa.select(number).select_from(NotedMessage).order_by(number.desc())
        with self._lock, Session(self._engine) as session, session.begin():
            limit = session.scalar(newest.offset(_MOST).limit(1)) or 0
            session.execute(sa.delete(NotedMessage).where(number <= limit))

    def close(self) -> None:
        """Write what is in memory into the database if possible, and forget it."""
        self._closing.set()
        if self._returning:
            self._returning.join(_JOIN_SECONDS)
        if self._is_away and not self._try():
            log.warning(
                "The journal cannot be written: this process forgets %d messages.",
                len(self._changed),
            )
        self._engine.dispose()

    def _keep(self, rows: Iterable[NotedMessage]) -> None:
        for row in rows:
            self._copies.pop(row.key, None)
            self._copies[row.key] = _VALUES(row)
        while len(self._copies) > _MOST:
            del self._copies[next(iter(self._copies))]

    def _fill(self, keys: Collection[Key]) -> None:
        """Put copies into the tables in memory."""
        rows = [dict(zip(_COLUMNS, self._copies[key], strict=True)) for key in keys]
        if rows:
            with self._engine.begin() as connection:
                connection.execute(sa.insert(NotedMessage).prefix_with("OR REPLACE"), rows)

    def write(self, database: Session, owner: str, lease_seconds: float) -> None:
        """Write what has changed in memory into the database, and leave memory."""
        with self._lock, Session(self._engine) as session, session.begin():
            changed = [
                row for row in session.scalars(sa.select(NotedMessage)) if row.key in self._changed
            ]
            for row in changed:
                try:
                    with database.begin_nested():
                        _write_message(database, _copy(row), owner, lease_seconds)
                except (DataError, IntegrityError) as error:  # it must not keep the others out
                    log.warning("A message stays out of the journal: %s", type(error).__name__)
            self._keep(changed)
            for table in (mapper.class_ for mapper in Base.registry.mappers):
                if table is not NotedMessage:
                    for record in session.scalars(sa.select(table)):
                        database.merge(_copy(record))
                session.execute(sa.delete(table))
            database.commit()
            count = len(changed)
            self._changed.clear()
            self._returned_at = time.monotonic()
            self._is_away = False
        if self._is_logged:
            log.warning("The journal can be used again: %d messages are written into it.", count)
            self._is_logged = False

    @contextmanager
    def _in_memory(self) -> Iterator[None]:
        self._here.depth = getattr(self._here, "depth", 0) + 1
        try:
            yield
        finally:
            self._here.depth -= 1

    def _return(self) -> None:
        while not self._closing.wait(RETRY_SECONDS) and not self._try():
            self._tidy()

    def _try(self) -> bool:
        try:
            self._write_back(self)
        except JournalError as error:
            self._log(error)
        except Exception as error:  # noqa: BLE001  # any failure is logged: the next try may succeed
            self._log(error)
        return not self._is_away

    def _log(self, error: Exception) -> None:
        now = time.monotonic()
        if now - self._logged_at >= LOG_SECONDS:
            self._logged_at, self._is_logged = now, True
            unexpected = None if isinstance(error, JournalError) else error
            log.warning("%s. Questions are kept in memory meanwhile.", error, exc_info=unexpected)


_COLUMNS = [column.key for column in NotedMessage.__table__.columns]
_VALUES = attrgetter(*_COLUMNS)


def _values(row: Base) -> dict[str, object]:
    return {column.key: getattr(row, column.key) for column in row.__table__.columns}


Row = TypeVar("Row", bound=Base)


def _copy(row: Row) -> Row:
    return type(row)(**_values(row))


def _write_message(database: Session, row: NotedMessage, owner: str, lease_seconds: float) -> None:
    """Add a message, or carry its state over unless another process has gone on with it."""
    values = _values(row)
    if row.state == "claimed" and row.owner == owner:
        values["lease_until"] = Now() + lease_seconds
    if insert(database, NotedMessage, **values):
        return
    there = database.get(NotedMessage, (row.team, row.channel, row.ts))
    if there is None:  # another message has this gesture
        insert(database, NotedMessage, **{**values, "gesture": None})
        return
    is_mine = there.state == "claimed" and there.owner == owner
    is_newer = {
        "noted": is_mine,
        "ignored": is_mine or there.state == "noted",
        "claimed": row.owner == owner and (there.state in ("noted", "ignored") or is_mine),
    }.get(row.state, there.state in ("noted", "ignored", "claimed"))
    is_same = row.state == there.state != "claimed" and row.owner == there.owner
    if is_newer or is_same:
        for name, value in values.items():
            if name != "gesture":
                setattr(there, name, value)
