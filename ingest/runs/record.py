"""The record of ingest runs in ``runs.sqlite``: requested, running and finished.

``footnote ingest`` beside a process that owns the data folder writes a request here. The owner
takes it and records progress and report, which the requesting process reads.
"""

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from ingest.documents import IngestReport
from ingest.errors import DataFolderError, DocsRepoError
from ingest.runs.outage import Outage

log = logging.getLogger(__name__)

RunState = Literal["requested", "running", "done", "partial", "failed", "skipped", "interrupted"]
Reason = Literal["start", "schedule", "command", "retry"]
OwnerFact = Literal["listener", "next_run_at", "next_try_at", "outage_told", "run_ends_at"]
"""Facts that the owner publishes.

They are the id of the process that takes requests, the time of the next night's run, that of the
next try after a failed run, the notice about failed runs that people have read, and the time at
which the present run will probably end.
"""

KEEP = 200
"""Number of runs that are kept, the newest ones."""
CUT_OFF = "the process that ran it ended"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    options TEXT NOT NULL DEFAULT '{}',
    stage TEXT,
    done INTEGER,
    total INTEGER,
    report TEXT,
    error TEXT,
    error_kind TEXT
);
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class IngestRun:
    """One ingest: requested, running or finished."""

    id: int
    reason: Reason
    state: RunState
    asked_at: str
    started_at: str | None
    finished_at: str | None
    options: dict[str, Any]
    """Settings from the command line of the request, and ``confirm_large_deletion``."""
    stage: str | None
    done: int | None
    total: int | None
    report: dict[str, Any] | None
    error: str | None
    error_kind: str | None
    """Name of the error's class, or the ``kind`` of a DocsRepoError."""

    @property
    def is_over(self) -> bool:
        return self.state not in ("requested", "running")

    @property
    def cut_off(self) -> "IngestRun":
        """This run as interrupted, for a run whose process has ended."""
        return replace(self, state="interrupted", error=CUT_OFF)

    def to_json(self) -> dict[str, Any]:
        """Return the run for ``status``, with the lists of its report as counts."""
        report = self.report or {}
        counts = {k: len(v) if isinstance(v, list) else v for k, v in report.items()}
        return {
            "id": self.id,
            "reason": self.reason,
            "state": self.state,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "stage": self.stage if self.state == "running" else None,
            "done": self.done if self.state == "running" else None,
            "total": self.total if self.state == "running" else None,
            "error": self.error,
            "error_kind": self.error_kind,
            "report": counts or None,
        }


_COLUMNS = {field.name for field in fields(IngestRun)}


class IngestRuns:
    """The runs of one data folder.

    Any process may read them and request one; only the owner of the folder carries runs out.
    """

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "runs.sqlite"

    def request(self, options: dict[str, Any]) -> int:
        """Request a run from the owner of the folder, and return its id."""
        return self._insert("command", "requested", options)

    def request_once(self) -> bool:
        """Request a run without options, unless one is waiting. Return False if one is."""
        with self._open() as database:
            cursor = database.execute(
                "INSERT INTO runs (reason, state, asked_at) SELECT 'command', 'requested', ?"
                " WHERE NOT EXISTS"
                " (SELECT 1 FROM runs WHERE state = 'requested' AND options = '{}')",
                (_now(),),
            )
            return cursor.rowcount == 1

    def withdraw(self, run_id: int) -> None:
        """Delete a request that was not started yet."""
        self._write("DELETE FROM runs WHERE id = ? AND state = 'requested'", run_id)

    def next_request(self) -> IngestRun | None:
        """Return the oldest request, or None."""
        return self._one("state = 'requested' ORDER BY id LIMIT 1")

    def begin(self, reason: Reason) -> int:
        """Record a run that starts now, without a request, and return its id."""
        run_id = self._insert(reason, "requested", {})
        self.start(run_id)
        return run_id

    def start(self, run_id: int) -> None:
        self._write(
            "UPDATE runs SET state = 'running', started_at = ? WHERE id = ?", _now(), run_id
        )

    def progress(
        self,
        run_id: int,
        stage: str,
        done: int,
        total: int | None,
        seconds_left: float | None = None,
    ) -> None:
        """Record how far a run is, and the time of its probable end."""
        ends_at = None
        if seconds_left is not None:
            ends_at = (datetime.now(UTC) + timedelta(seconds=seconds_left)).isoformat()
        with self._open() as database:
            database.execute(
                "UPDATE runs SET stage = ?, done = ?, total = ? WHERE id = ?",
                (stage, done, total, run_id),
            )
            database.execute("DELETE FROM notes WHERE name = 'run_ends_at'")
            if ends_at:
                database.execute("INSERT INTO notes VALUES ('run_ends_at', ?)", (ends_at,))

    def seconds_left(self) -> float | None:
        """Seconds until the present run probably ends; None while that is unknown."""
        ends_at = self.published("run_ends_at") if self.running() else None
        if ends_at is None:
            return None
        return max(0.0, (datetime.fromisoformat(ends_at) - datetime.now(UTC)).total_seconds())

    def finish(self, run_id: int, report: IngestReport) -> None:
        state: RunState = "partial" if report.failed else "done"
        self._end(run_id, state, json.dumps(report.to_json()), None, None)

    def fail(self, run_id: int, error: Exception, text: str) -> None:
        kind = error.kind if isinstance(error, DocsRepoError) else type(error).__name__
        self._end(run_id, "failed", None, text, kind)

    def interrupt(self, run_id: int) -> None:
        self._end(run_id, "interrupted", None, "it was stopped before its end", None)

    def skip(self, reason: Reason, why: str) -> None:
        """Record a run that was due and did not take place."""
        self._end(self._insert(reason, "requested", {}), "skipped", None, why, None)

    def take_over(self) -> None:
        """Mark the unfinished runs of an earlier owner as interrupted."""
        if self._file.exists():
            self._write(
                "UPDATE runs SET state = 'interrupted', finished_at = ?, error = ?, options = '{}'"
                " WHERE state IN ('requested', 'running')",
                _now(),
                CUT_OFF,
            )
            for fact in ("listener", "next_run_at", "next_try_at", "run_ends_at"):
                self.publish(fact, None)

    def get(self, run_id: int) -> IngestRun | None:
        return self._one("id = ?", run_id)

    def last(self) -> IngestRun | None:
        """Return the newest finished run, or None."""
        return self._one("state NOT IN ('requested', 'running') ORDER BY id DESC LIMIT 1")

    def outage(self) -> Outage | None:
        """Return the failed runs since the last good one, or None if the last one was good.

        A failed run that somebody asked for may have had another source, so it does not count.
        """
        failed = self._all(
            "state = 'failed' AND reason != 'command' AND id > (SELECT COALESCE(MAX(id), 0) FROM"
            " runs WHERE state IN ('done', 'partial')) ORDER BY id"
        )
        if not failed:
            return None
        since, kind = failed[0].finished_at or failed[0].asked_at, failed[-1].error_kind or ""
        return Outage(since, len(failed), kind, self.published("next_try_at"))

    def running(self) -> IngestRun | None:
        return self._one("state = 'running' ORDER BY id DESC LIMIT 1")

    def publish(self, name: OwnerFact, value: str | None) -> None:
        """Store a fact for other processes; None deletes it."""
        if value is None:
            self._write("DELETE FROM notes WHERE name = ?", name)
        else:
            self._write("INSERT OR REPLACE INTO notes VALUES (?, ?)", name, value)

    def published(self, name: OwnerFact) -> str | None:
        if not self._file.exists():
            return None
        with self._open() as database:
            row = database.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return str(row["value"]) if row else None

    def _insert(self, reason: Reason, state: RunState, options: dict[str, Any]) -> int:
        with self._open() as database:
            cursor = database.execute(
                "INSERT INTO runs (reason, state, asked_at, options) VALUES (?, ?, ?, ?)",
                (reason, state, _now(), json.dumps(options)),
            )
            database.execute("DELETE FROM runs WHERE id <= ?", ((cursor.lastrowid or 0) - KEEP,))
        return cursor.lastrowid or 0

    def _end(
        self, run_id: int, state: RunState, report: str | None, error: str | None, kind: str | None
    ) -> None:
        self._write(
            # The options are deleted: an address from the command line may hold a password.
            "UPDATE runs SET state = ?, finished_at = ?, report = ?, error = ?, error_kind = ?,"
            " options = '{}' WHERE id = ?",
            *(state, _now(), report, error, kind, run_id),
        )

    def _write(self, statement: str, *values: object) -> None:
        with self._open() as database:
            database.execute(statement, values)

    def _one(self, condition: str, *values: object) -> IngestRun | None:
        return next(iter(self._all(condition, *values)), None)

    def _all(self, condition: str, *values: object) -> list[IngestRun]:
        if not self._file.exists():
            return []
        with self._open() as database:
            query = f"SELECT * FROM runs WHERE {condition}"  # noqa: S608  # only literals from above
            rows = [dict(row) for row in database.execute(query, values)]
        for columns in rows:
            columns["options"] = json.loads(columns["options"])
            columns["report"] = json.loads(columns["report"]) if columns["report"] else None
        return [IngestRun(**columns) for columns in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            try:
                database = self._connected()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                log.warning(
                    "%s is damaged or of another version: the record of earlier ingests is lost",
                    self._file,
                )
                self._file.unlink()
                database = self._connected()
            with closing(database), database:
                yield database
        except (sqlite3.OperationalError, OSError) as error:
            raise DataFolderError(self._file, error) from error

    def _connected(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._file, timeout=30)
        try:
            database.row_factory = sqlite3.Row
            database.executescript(_SCHEMA)
            if {row["name"] for row in database.execute("PRAGMA table_info(runs)")} != _COLUMNS:
                raise sqlite3.DatabaseError("other columns")
        except sqlite3.Error:
            database.close()
            raise
        return database


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
