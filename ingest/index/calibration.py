"""The confidence below which a result is called weak, stored with the index it was measured on."""

from collections.abc import Mapping
from contextlib import closing, suppress

from ingest.errors import IndexDamaged
from ingest.index.folders import IndexFolder
from ingest.store.document_tables import DocumentTables

THRESHOLD = "weak_below"
"""Key of the threshold in the metadata."""
DEFAULT_THRESHOLD = 0.5
"""Used until `footnote eval calibrate` has measured one."""


def threshold(meta: Mapping[str, str]) -> float:
    """Return the index's own threshold, else the default."""
    try:
        return float(meta[THRESHOLD])
    except (KeyError, ValueError):
        return DEFAULT_THRESHOLD


def calibrated(folder: IndexFolder) -> dict[str, str]:
    """Metadata with the threshold of an index; empty if it has none."""
    with suppress(IndexDamaged), closing(DocumentTables(folder.database)) as tables:
        meta = tables.meta()
        return {THRESHOLD: meta[THRESHOLD]} if THRESHOLD in meta else {}
    return {}


def store_threshold(folder: IndexFolder, value: float) -> None:
    """Store a threshold. Searches use it at once, also those of other processes."""
    with closing(DocumentTables(folder.database)) as tables:
        tables.set_meta({THRESHOLD: repr(value)})
