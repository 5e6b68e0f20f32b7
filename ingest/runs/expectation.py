"""``footnote ingest --dry-run``: the expected report of an ingest -> lines in a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.pipeline.dry_run import dry_run
from ingest.runs.record import IngestRuns
from ingest.settings import IndexSettings
from ingest.terminal import VisibleConsole, print_json

_FEWEST = 200
"""Fewest embedded chunks of a run that tells the speed of this machine."""


def expect(settings: IndexSettings, *, as_json: bool) -> None:
    """Print what an ingest would do. Raises IngestError and SettingsError."""
    report = IngestRuns(settings.data_dir).last_report()
    embedded = int(report.get("embedded") or 0)
    pace = float(report["seconds"]) / embedded if embedded >= _FEWEST else None
    expected = dry_run(settings, pace)
    if as_json:
        print_json(expected)
        return
    console = VisibleConsole(highlight=False)
    for line in _lines(expected):
        console.print(line, markup=False, soft_wrap=True)


def _lines(expected: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{expected['documents']} documents would be read, about {expected['chunks']} chunks:"
        f" {expected['added']} new, {expected['changed']} changed, {expected['deleted']} to delete,"
        f" {expected['unchanged']} as before."
    )
    yield (
        f"About {expected['to_embed']} chunks would be embedded, in about"
        f" {_duration(expected['expected_seconds'])} (estimates from sizes). Nothing was written."
    )
    for suffix, numbers in expected["formats"].items():
        name = suffix or "no suffix"
        yield f"read     {numbers['files']}: {name}, chunks: about {numbers['chunks']}"
    for left in expected["reasons"]:
        yield f"skipped  {left['files']}: {left['reason']}"
        for path in left["examples"]:
            yield f"         {path}"
        if left["files"] > len(left["examples"]):
            yield f"         and {left['files'] - len(left['examples'])} more (--json names all)"
    if unseen := expected["not_looked_into"]:
        yield f"         {unseen} files were not opened: they may turn out unreadable"
    for warning in expected["warnings"]:
        yield f"warning  {warning}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
