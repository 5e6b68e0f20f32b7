"""State of an index for ``footnote status``: its content, age, runs and owner."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ingest.data_folder import owner_of
from ingest.index import open_index
from ingest.runs.record import IngestRun, IngestRuns
from ingest.settings import IndexSettings


def read_state(settings: IndexSettings, now: datetime | None = None) -> dict[str, Any]:
    """Return the state as JSON, also beside a running bot and before the first ingest."""
    index = open_index(settings)
    try:
        status, collections = index.status(), index.collections()
    finally:
        index.close()
    runs = IngestRuns(settings.data_dir)
    running, owner = runs.running(), owner_of(settings.data_dir)
    # Read again: the run may have finished between the two calls.
    orphan = runs.running() if running and owner is None else None
    last = orphan.cut_off if orphan else runs.last()
    report = (last.report if last else None) or {}
    age = (now or datetime.now(UTC)) - status.ingested_at if status.ingested_at else None
    hours = age.total_seconds() / 3600 if age else None
    outage = runs.outage()
    return {
        **status.to_json(),
        "collections": [asdict(collection) for collection in collections],
        "age_hours": round(hours, 2) if hours is not None else None,
        "stale": hours is None or hours > settings.stale_after_hours,
        "last_run": last.to_json() if last else None,
        "self_test": report.get("self_test"),
        "warnings": report.get("warnings", []),
        "running": _running(running, runs) if running and owner else None,
        "next_run_at": runs.published("next_run_at") if owner else None,
        "outage": outage.to_json() if outage else None,
        "owner": asdict(owner) if owner else None,
    }


def _running(run: IngestRun, runs: IngestRuns) -> dict[str, Any]:
    left = runs.seconds_left()
    return run.to_json() | {"seconds_left": None if left is None else round(left)}
