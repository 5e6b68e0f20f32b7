"""The size and age of the index, as people and programs are told."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ingest.documents import Revision
from ingest.index.completeness import Growth


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Size and age of the index; zeros and None before the first ingest."""

    revision: Revision | None = None
    ingested_at: datetime | None = None
    documents: int = 0
    chunks: int = 0
    differing: int = 0
    """Documents of another revision: a run is writing them, or one did not end well."""
    collection: str | None = None
    embedder: str | None = None
    growth: Growth | None = None
    """What the first ingest has done so far; None if nothing notable is missing."""

    def to_json(self) -> dict[str, Any]:
        return {
            "revision": self.revision.name if self.revision else None,
            "ingested_at": self.ingested_at.isoformat() if self.ingested_at else None,
            "documents": self.documents,
            "chunks": self.chunks,
            "documents_of_another_revision": self.differing,
            "collection": self.collection,
            "embedder": self.embedder,
        } | ({"growth": self.growth.to_json()} if self.growth else {})
