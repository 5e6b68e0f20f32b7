"""Checkout and stored documents -> the files to read, and the documents to delete.

No file is read here. Only files with changed bytes, date or owner are planned, and those whose
document is stored in part.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ingest.chunks.chunker import chunk_prefix
from ingest.documents import Skipped
from ingest.errors import LargeDeletion
from ingest.readers.loader import Showing
from ingest.repo import Checkout, File

INCLUDED = "+"
"""Follows the fingerprint in the signature of a document that is indexed for being shown."""
SMALL_DELETION = 5
"""Fewer documents than this may always be deleted, unless they are all of them."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file to read, with the values that its document is stored with."""

    file: File
    prefix: str
    """Prefix of its chunk ids."""
    signature: str
    showing: Showing | None = None
    """The way in which pages show it; None for a page."""


@dataclass(slots=True)
class Plan:
    """The difference between the docs and the index."""

    files: int = 0
    """Number of files of the docs."""
    new: list[PlannedFile] = field(default_factory=list)
    """Files of documents that are not stored."""
    changed: list[PlannedFile] = field(default_factory=list)
    """Files of stored documents that have to be written again."""
    without_vectors: list[PlannedFile] = field(default_factory=list)
    """Files of documents whose rows are right, but some of whose vectors are missing."""
    missing: list[str] = field(default_factory=list)
    """Paths of stored documents that have no file."""
    skipped: list[Skipped] = field(default_factory=list)

    def add(
        self, planned: PlannedFile, before: tuple[str, str] | None, *, has_vectors: bool
    ) -> None:
        """Compare a file with the prefix and signature of its stored document."""
        if before is None:
            self.new.append(planned)
        elif before != (planned.prefix, planned.signature):
            self.changed.append(planned)
        elif not has_vectors:
            self.without_vectors.append(planned)

    def extend(self, other: "Plan") -> None:
        """Add the files of another plan."""
        self.new += other.new
        self.changed += other.changed
        self.without_vectors += other.without_vectors

    @property
    def is_empty(self) -> bool:
        return not (self.new or self.changed or self.without_vectors or self.missing)


def make_plan(
    checkout: Checkout, stored: Mapping[str, tuple[str, str]], without_vectors: Collection[str]
) -> Plan:
    """Compare the files with the stored documents.

    ``stored``: their prefix and signature, by path. ``without_vectors``: paths of stored documents
    with a chunk whose vector is missing.
    """
    prefixes = _prefixes([file.path for file in checkout.files])
    plan = Plan(len(checkout.files), skipped=list(checkout.skipped))
    for file in checkout.files:
        planned = PlannedFile(file, prefixes[file.path], signature_of(file))
        has_vectors = file.path not in without_vectors
        plan.add(planned, stored.get(file.path), has_vectors=has_vectors)
    plan.missing = [path for path in stored if path not in prefixes]
    return plan


def signature_of(file: File) -> str:
    """A text that changes whenever the stored rows of a file have to."""
    return f"{file.fingerprint} {file.updated_at} {file.owner}"


def is_included(signature: str) -> bool:
    """Return True for the signature of a document that is no page by itself."""
    return INCLUDED in signature.partition(" ")[0]


def _prefixes(paths: Collection[str]) -> dict[str, str]:
    """Prefix of the chunk ids of each document, by path.

    ``limits.txt.md`` beside ``limits.txt`` keeps its suffix, or both would have the same ids.
    """
    names = set(paths)
    return {path: path if (prefix := chunk_prefix(path)) in names else prefix for path in paths}


def refuse_large_deletion(
    checkout: Checkout,
    unreadable: Collection[str],
    answering: Mapping[str, tuple[str, str]],
    largest_share: float,
) -> None:
    """Raise LargeDeletion if a mistake in repo or settings is likelier than a clean-up.

    ``unreadable``: paths of files that are no documents any more. ``answering``: prefix and
    signature of the documents of the live index, by path.
    """
    remaining = {file.path for file in checkout.files}.difference(unreadable)
    moved = {file.fingerprint for file in checkout.files if file.path not in answering}
    pages = {path: own for path, (_prefix, own) in answering.items() if not is_included(own)}
    lost = [
        path
        for path, signature in pages.items()
        if path not in remaining and signature.split()[0] not in moved
    ]
    if not lost or (len(lost) < SMALL_DELETION and remaining):
        return
    if len(lost) > largest_share * len(pages):
        raise LargeDeletion(
            f"This run would delete {len(lost)} of {len(pages)} pages, so nothing was changed:"
            " check the docs repo, its branch and root, and what is included, or run"
            " `footnote ingest --confirm-large-deletion`.",
            deleted=len(lost),
            stored=len(pages),
        )
