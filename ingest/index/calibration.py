"""The threshold below which a result is called weak, kept with the index it was measured on."""

from collections.abc import Mapping
from contextlib import closing, suppress

from ingest.errors import IndexDamaged
from ingest.index.folders import IndexFolder
from ingest.store.pages import Pages

THRESHOLD = "weak_below"
"""Key of the meta row."""
DEFAULT_THRESHOLD = 0.5
"""Until it is calibrated on the corpus."""


def threshold(meta: Mapping[str, str]) -> float:
    """What the index holds, else the default."""
    try:
        return float(meta[THRESHOLD])
    except (KeyError, ValueError):
        return DEFAULT_THRESHOLD


def calibrated(folder: IndexFolder) -> dict[str, str]:
    """The meta row of an index that was calibrated; nothing of one that was not."""
    with suppress(IndexDamaged), closing(Pages(folder.pages)) as pages:
        meta = pages.meta()
        return {THRESHOLD: meta[THRESHOLD]} if THRESHOLD in meta else {}
    return {}


def store_threshold(folder: IndexFolder, value: float) -> None:
    """Searches see it at once, also those of another process."""
    with closing(Pages(folder.pages)) as pages:
        pages.set_meta({THRESHOLD: repr(value)})
