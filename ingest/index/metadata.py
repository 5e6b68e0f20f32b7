"""Metadata of an index: how it was built, from which docs, and when."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from ingest.documents import Origin, Revision


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """Versions of the parts that make vectors and rows; a change of one needs a new index."""

    embedder: str
    """Fingerprint of the embedder."""
    chunker: int
    schema: int

    def to_meta(self) -> dict[str, str]:
        return {
            "embedder": self.embedder,
            "chunker": str(self.chunker),
            "schema": str(self.schema),
        }

    @classmethod
    def from_meta(cls, meta: Mapping[str, str]) -> "IndexIdentity | None":
        try:
            return cls(meta["embedder"], int(meta["chunker"]), int(meta["schema"]))
        except (KeyError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class LastIngest:
    """Facts about the last completed ingest."""

    origin: Origin
    ingested_at: datetime
    embedder_name: str

    def to_meta(self) -> dict[str, str]:
        return {
            "revision": json.dumps(asdict(self.origin.revision)),
            "docs_root": self.origin.docs_root,
            "ingested_at": self.ingested_at.isoformat(),
            "embedder_name": self.embedder_name,
        }

    @classmethod
    def from_meta(cls, meta: Mapping[str, str]) -> "LastIngest | None":
        try:
            return cls(
                origin=Origin(Revision(**json.loads(meta["revision"])), meta["docs_root"]),
                ingested_at=datetime.fromisoformat(meta["ingested_at"]),
                embedder_name=meta["embedder_name"],
            )
        except (KeyError, ValueError, TypeError):
            return None
