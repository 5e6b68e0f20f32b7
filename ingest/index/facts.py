"""What an index notes about itself: how it was made, from what, and when."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from ingest.documents import Revision


@dataclass(frozen=True, slots=True)
class Identity:
    """What stored vectors and rows depend on besides the docs: another one means a new index."""

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
    def from_meta(cls, meta: Mapping[str, str]) -> "Identity | None":
        try:
            return cls(meta["embedder"], int(meta["chunker"]), int(meta["schema"]))
        except (KeyError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the last completed ingest noted."""

    revision: Revision
    docs_root: str
    """As it lies in the repo: permalinks need it."""
    ingested_at: datetime
    embedder_name: str

    def to_meta(self) -> dict[str, str]:
        return {
            "revision": json.dumps(asdict(self.revision)),
            "docs_root": self.docs_root,
            "ingested_at": self.ingested_at.isoformat(),
            "embedder_name": self.embedder_name,
        }

    @classmethod
    def from_meta(cls, meta: Mapping[str, str]) -> "Facts | None":
        try:
            return cls(
                revision=Revision(**json.loads(meta["revision"])),
                docs_root=meta["docs_root"],
                ingested_at=datetime.fromisoformat(meta["ingested_at"]),
                embedder_name=meta["embedder_name"],
            )
        except (KeyError, ValueError, TypeError):
            return None
