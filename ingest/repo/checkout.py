"""What a docs repo looks like to the rest: files at a revision, and what was left out and why."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal, Self

from ingest.documents import Revision, Skipped
from ingest.errors import SettingsError
from ingest.globs import Spec, spec
from ingest.readers.loader import READERS
from ingest.settings import IndexSettings


@dataclass(frozen=True, slots=True)
class File:
    """A file that is to be indexed."""

    path: str
    """Relative to the docs root, with ``/`` between parts."""
    size: int
    fingerprint: str
    """Git's id of the content: the same fingerprint is the same bytes."""
    updated_at: datetime | None = None
    """Time (UTC) of the last commit that touched it, where that is its present state."""
    owner: str | None = None
    """From CODEOWNERS."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something found below the docs root, before anything is known of its content."""

    path: str
    kind: Literal["file", "symlink", "submodule", "other"]
    id: str = ""
    size: int = 0


class Checkout(ABC):
    """The docs at one revision. Close it, or use it in a ``with``."""

    revision: Revision
    docs_root: str
    """From the top of the repo, without slashes at the ends; empty for the top itself."""
    files: list[File]
    skipped: list[Skipped]
    warnings: list[str]
    """What is not as it should be, and costs no page."""

    @abstractmethod
    def read(self, file: File) -> bytes:
        """The file's bytes. Thread-safe."""

    @abstractmethod
    def find(self, path: str) -> bytes | None:
        """Bytes of any file by its path from the top of the repo; None if there is none."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what reading needed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Selection:
    """Which entries are documents to be."""

    include: Spec
    exclude: Spec
    max_bytes: int

    @staticmethod
    def of(settings: IndexSettings) -> "Selection":
        return Selection(
            spec(settings.docs_include), spec(settings.docs_exclude), settings.max_file_bytes
        )

    def split(self, entries: Iterable[Entry]) -> tuple[list[Entry], list[Skipped]]:
        """Entries to be read, and the others with the reason."""
        taken, skipped = [], []
        for entry in sorted(entries, key=lambda entry: entry.path):
            if reason := self._reason_against(entry):
                # A name that is no text cannot be stored or shown as it is.
                shown = entry.path.encode(errors="surrogateescape").decode(errors="replace")
                skipped.append(Skipped(shown, reason))
            else:
                taken.append(entry)
        return taken, skipped

    def _reason_against(self, entry: Entry) -> str | None:
        path = PurePosixPath(entry.path)
        checks = (
            (entry.kind == "symlink", "symlink: links are not followed"),
            (entry.kind == "submodule", "submodule: a repository of its own"),
            (entry.kind == "other", "unsupported: not a regular file"),
            (not _is_text(entry.path), "encoding: the file's name is not UTF-8"),
            (any(part.startswith(".") for part in path.parts), "hidden: its path has a dot name"),
            (
                (bool(self.include.patterns) and not self.include.match_file(entry.path))
                or self.exclude.match_file(entry.path),
                "excluded: by FOOTNOTE_DOCS_INCLUDE or FOOTNOTE_DOCS_EXCLUDE",
            ),
            (
                path.suffix.lower() not in READERS,
                f"unsupported: no reader for {path.suffix or 'files without a suffix'}",
            ),
            (entry.size > self.max_bytes, f"huge: more than {self.max_bytes} bytes"),
        )
        return next((reason for applies, reason in checks if applies), None)


def root_parts(docs_root: str) -> tuple[str, ...]:
    """The docs root as names of folders."""
    path = PurePosixPath(docs_root.strip().strip("/"))
    if ".." in path.parts:
        raise SettingsError(f"FOOTNOTE_DOCS_ROOT: {docs_root} leads out of the docs repo.")
    return path.parts


def content_id(data: bytes, algorithm: str = "sha1") -> str:
    """The id that git gives to a file with this content."""
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
