"""An index that lacks documents or vectors -> how far it is, in words and numbers.

The first ingest is searched while it runs: at first by the words of what was read, then more and
more by meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

READING = "files_to_read"
"""Metadata key of the number of files that a first ingest reads; 0 when it has read them."""
NOTABLE = 0.05
"""A smaller share of missing vectors makes no difference to a search."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Documents that are read, and chunks that have a vector."""

    documents: int
    files: int
    """Number of files that the first ingest reads; 0 when it has read them."""
    chunks: int
    embedded: int
    """Number of chunks that have a vector."""

    @classmethod
    def of(
        cls, meta: Mapping[str, str], documents: int, chunks: int, embedded: int
    ) -> "Growth | None":
        """Return how far the index is, or None if nothing notable is missing."""
        files = int(meta.get(READING, "0"))
        growth = cls(documents, files, chunks, embedded)
        return growth if files or growth.lacks_vectors else None

    @property
    def lacks_vectors(self) -> bool:
        return self.chunks - self.embedded > NOTABLE * self.chunks

    @property
    def words(self) -> str:
        """One sentence for people."""
        if self.files:
            return (
                f"The docs are still being read: {self.documents:,} of {self.files:,} pages so far."
            )
        share = self.embedded / self.chunks
        return (
            f"The docs are still being indexed: all words can be searched, {share:.0%} of the text"
            " by meaning, too."
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "documents": self.documents,
            "files": self.files or None,
            "chunks": self.chunks,
            "chunks_with_vectors": self.embedded,
        }
