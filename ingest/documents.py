"""Values that pass through ingest: Revision -> Document -> Chunk, and Passage from a search.

All of them are frozen. Line numbers count from 1, both ends included, in the file as stored.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from ingest.letters import plain

DEFAULT_BUDGET = 9_600
"""Characters of passage text that the model gets at once: of a search, or of a document."""

Kind = Literal["page", "navigation", "change log", "orders"]
"""What a chunk holds: text for people, links to other pages, releases, or orders to other programs.
"""


@dataclass(frozen=True, slots=True)
class Revision:
    """The state of the docs repo that was indexed."""

    commit: str | None
    """Full hash of HEAD; None for a folder outside git."""
    branch: str | None = None
    remote: str | None = None
    """Address of the remote without credentials; None for a folder without a remote."""
    dirty: bool = False
    """True when a local folder's files differ from ``commit``."""

    @property
    def label(self) -> str:
        """``1a2b3c4d5e``, with ``+local`` when files differ, or ``local folder``."""
        if self.commit is None:
            return "local folder"
        return self.commit[:10] + ("+local" if self.dirty else "")

    @property
    def name(self) -> str:
        """Like ``label``, with the full hash: for programs."""
        if self.commit is None:
            return self.label
        return self.commit + ("+local" if self.dirty else "")


@dataclass(frozen=True, slots=True)
class Origin:
    """The place from which a document was read."""

    revision: Revision
    docs_root: str
    """Folder of the docs in the repo, for permalinks."""

    def to_text(self) -> str:
        return json.dumps({"revision": asdict(self.revision), "docs_root": self.docs_root})


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not indexed, with the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """Facts about a document, without its text."""

    path: str
    """Relative to the docs root, with ``/`` between parts."""
    title: str
    updated_at: datetime | None = None
    """Time (UTC) of the last commit that touched this file."""
    owner: str | None = None
    """From CODEOWNERS or front matter."""
    tags: tuple[str, ...] = ()
    version: str | None = None
    """Version of the product that the document describes, such as ``1.14``; None for the current.
    """
    language: str | None = None
    """Language of a translation, such as ``zh`` or ``pt-br``; None for the original."""


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """A collection and its present number of documents."""

    name: str
    description: str
    documents: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit that is embedded and stored."""

    id: str
    """``{path without .md}-{number}``."""
    path: str
    number: int
    title: str
    heading: tuple[str, ...]
    """Heading path, outermost first."""
    lines: tuple[int, int]
    text: str
    """Lines of the file, unchanged: shown, quoted and cited."""
    search_text: str
    """The text without markup: embedded and indexed by keyword."""
    kind: Kind = "page"

    @property
    def embed_text(self) -> str:
        """Text for the embedder: ``title > heading path``, a newline, the text without markup."""
        prefix = " > ".join(dict.fromkeys((self.title, *self.heading)))
        return plain(f"{prefix}\n{self.search_text}")

    @property
    def hash(self) -> str:
        """Hash of the shown and the embedded text; lines and number are not part of it."""
        parts = (self.title, *self.heading, self.search_text, self.text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    @property
    def content(self) -> int:
        """Hash of the shown text alone, whatever its white space: equal for copies."""
        digest = hashlib.sha256(" ".join(self.text.split()).encode()).digest()
        return int.from_bytes(digest[:8], signed=True)


@dataclass(frozen=True, slots=True)
class Place:
    """Another place of a passage's text: a copy, another version, or a page that shows it."""

    path: str
    lines: tuple[int, int]
    id: str = ""
    """Chunk id there; empty for a page that includes the text."""
    version: str | None = None
    differs: bool = False
    """True if the text there is nearly the same, not the same."""
    url: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "path": self.path,
            "lines": list(self.lines),
            "version": self.version,
            "differs": self.differs,
            "url": self.url,
        }


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that a search returned."""

    id: str
    path: str
    title: str
    heading: tuple[str, ...]
    lines: tuple[int, int]
    text: str
    hash: str
    """Content hash of the chunk: an id with another hash means another text."""
    url: str | None = None
    """Address of the lines at the commit of their document, or None."""
    score: float = 0.0
    """Fused score, higher is better; comparable within one search only."""
    distance: float = 0.0
    """Cosine distance to the query, 0 to 2, lower is closer."""
    origin: Origin | None = None
    """Place from which the document was read, or None if no ingest has ended."""
    places: tuple[Place, ...] = ()
    """Other places of the same text, or of nearly the same."""
    version: str | None = None
    """Version that its document describes; None for the current."""
    language: str | None = None
    """Language of a translation; None for the original."""

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "path": self.path,
            "title": self.title,
            "heading": list(self.heading),
            "lines": list(self.lines),
            "url": self.url,
            "text": self.text,
            "score": round(self.score, 4),
            "distance": round(self.distance, 4),
            "version": self.version,
            "language": self.language,
            "places": [place.to_json() for place in self.places],
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages for one query, best first."""

    query: str
    passages: tuple[Passage, ...]
    weak: bool
    """True if the passages are unlikely to answer the query."""
    confidence: float = 0.0
    """From 0 to 1; below the calibrated threshold the result is weak."""
    note: str | None = None
    """A sentence for people while the index lacks documents or vectors."""

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "weak": self.weak,
            "confidence": round(self.confidence, 4),
            "note": self.note,
            "passages": [passage.to_json() for passage in self.passages],
        }


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A whole document: all its chunks in order, with those of the files that it shows."""

    info: DocumentInfo
    passages: tuple[Passage, ...]
    editions: tuple[tuple[str, str | None], ...] = ()
    """Path and version of the other editions of its page in this language, newest first."""

    @property
    def own(self) -> tuple[Passage, ...]:
        """The passages without those of other files."""
        return tuple(passage for passage in self.passages if passage.path == self.info.path)


@dataclass(frozen=True, slots=True)
class SelfTest:
    """Number of self-test questions, and of those that found their document."""

    hits: int
    questions: int

    def to_json(self) -> dict[str, Any]:
        share = self.hits / self.questions if self.questions else 1.0
        return {"found": self.hits, "questions": self.questions, "share": round(share, 4)}


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The changes that one ingest made."""

    revision: str
    documents: int
    chunks: int
    added: int
    """Number of new chunks; the next three count changed, deleted and unchanged ones."""
    updated: int
    deleted: int
    unchanged: int
    embedded: int
    """Number of embedded texts: chunks with the same text share one vector."""
    seconds: float
    skipped: tuple[Skipped, ...] = ()
    failed: tuple[Skipped, ...] = ()
    """Documents that could not be embedded, with the reason."""
    warnings: tuple[str, ...] = ()
    self_test: SelfTest | None = None
    """None if the docs repo has no questions."""
    left_out: str = ""
    """Sentence about files that look like pages and were left out; empty if they are few."""

    def to_json(self) -> dict[str, Any]:
        return {
            "revision": self.revision,
            "documents": self.documents,
            "chunks": self.chunks,
            "added": self.added,
            "updated": self.updated,
            "deleted": self.deleted,
            "unchanged": self.unchanged,
            "embedded": self.embedded,
            "skipped": [{"path": s.path, "reason": s.reason} for s in self.skipped],
            "failed": [{"path": s.path, "reason": s.reason} for s in self.failed],
            "warnings": list(self.warnings),
            "self_test": self.self_test.to_json() if self.self_test else None,
            "left_out": self.left_out,
            "seconds": round(self.seconds, 3),
        }
