"""Errors of building and reading the index, and the root of all errors that people see.

Every package imports ``FootnoteError``, so the module is at the bottom of the import layers and
imports nothing of Footnote. ``agent`` and ``bot`` derive their errors from it.

FootnoteError            root of all errors that a person may see: one line, cause and cure
├── SettingsError        a setting is missing or malformed (exit code 2)
└── IngestError
    ├── DocsRepoError    the docs repo cannot be read; ``kind`` names the case
    ├── LargeDeletion    a run would delete a large share of the documents
    ├── SelfTestFailed   a rebuilt index does worse in the self-test than the live one
    ├── IndexMissing     nothing was ingested yet
    ├── IndexDamaged     stored data cannot be read
    ├── IndexLocked      another program holds a file of the index
    ├── StoreAway        the Chroma server cannot be reached, or fails
    ├── DataFolderError  the data folder cannot be written
    ├── DataFolderBusy   another process owns the data folder
    ├── UnknownCollection  a collection that is not configured (exit code 2)
    └── EmbedderError    the embedding model cannot be loaded or fails
"""

from pathlib import Path
from typing import Literal

DocsRepoProblem = Literal[
    "fetch_failed",
    "auth_failed",
    "timeout",
    "ref_missing",
    "root_missing",
    "local_clone_corrupt",
    "no_repository",
    "not_trusted",
    "not_a_folder",
    "transport_refused",
    "too_large",
]


class FootnoteError(Exception):
    """An error for people: ``str()`` is one line that names the cause and the cure."""

    exit_code = 1

    def __str__(self) -> str:
        """Return one line: causes quoted from libraries may have several."""
        return " ".join(super().__str__().split())


class SettingsError(FootnoteError):
    """A setting is missing or malformed."""

    exit_code = 2


class IngestError(FootnoteError):
    """The index could not be built or read."""

    spoken = "The index of the docs cannot be read."
    """Sentence for people in Slack, without places or names."""


class DocsRepoError(IngestError):
    """The docs repo could not be read. The index is unchanged."""

    def __init__(self, message: str, kind: DocsRepoProblem) -> None:
        super().__init__(message)
        self.kind = kind


class LargeDeletion(IngestError):
    """A run would delete a large share of the documents, so it stopped before any change."""

    def __init__(self, message: str, deleted: int, stored: int) -> None:
        super().__init__(message)
        self.deleted = deleted
        self.stored = stored


class SelfTestFailed(IngestError):
    """A rebuilt index does worse in the self-test, so the old one stays live."""


class IndexMissing(IngestError):
    """Nothing was ingested into this data folder yet."""

    spoken = "No docs are indexed yet."


class IndexDamaged(IngestError):
    """Stored data cannot be read."""

    def __init__(self, cause: str, *, is_rebuilt: bool = False) -> None:
        """``is_rebuilt``: this process rebuilds the index by itself."""
        cure = "it is being rebuilt" if is_rebuilt else "run `footnote ingest` to rebuild it"
        super().__init__(f"{cause}: {cure}.")
        self.cause = " ".join(cause.split())
        if is_rebuilt:
            self.spoken = "The index of the docs cannot be read; it is being rebuilt."


class VectorsLost(IndexDamaged):
    """The vectors are gone. Documents and words can still be read."""

    def __init__(self) -> None:
        super().__init__("The index has lost its vectors")


class IndexLocked(IngestError):
    """Another program, such as a backup, holds a file of the index. Its data is sound."""

    spoken = "The index of the docs cannot be read: another program holds it."

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"Another program, such as a backup, holds {path}: close it, or try again later."
        )


class StoreAway(IngestError):
    """The Chroma server cannot be reached, or fails. Its data may be intact."""


class DataFolderError(IngestError):
    """The data folder cannot be created, read or written. Its content may be sound."""

    def __init__(self, place: Path, reason: object) -> None:
        super().__init__(
            f"The data folder cannot be used ({place}: {reason}): free some space, correct its"
            " permissions, or set FOOTNOTE_DATA_DIR to a folder that can be written."
        )


class DataFolderBusy(IngestError):
    """Another process owns the data folder."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message)
        self.pid = pid


class UnknownCollection(IngestError):
    """A collection that is not configured."""

    exit_code = 2


class EmbedderError(IngestError):
    """The embedding model cannot be loaded, or fails on a text."""
