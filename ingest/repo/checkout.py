"""The Checkout: files of the docs repo at one revision, and files left out, with reasons."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal, Self

from ingest.documents import Revision, Skipped
from ingest.errors import SettingsError
from ingest.globs import Spec, spec
from ingest.readers.kinds.recognition import LARGEST, MOST, form_of, precedence
from ingest.readers.loader import without_reader
from ingest.shorten import shorten_end
from ingest.sources import DocsSource

_LONGEST_PATH = 4096
LINK = "symlink: it leads to no file of the repository that is read"
_TOO_LARGE = "huge"
"""First word of the reason for skipping a document that is too large."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to index."""

    path: str
    """Relative to the docs root, with ``/`` between parts."""
    size: int
    fingerprint: str
    """Git's id of the content: equal for equal bytes."""
    updated_at: datetime | None = None
    """Time (UTC) of the last commit that touched the file; None if it was edited since."""
    owner: str | None = None
    """From CODEOWNERS."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something below the docs root whose content was not read yet."""

    path: str
    kind: Literal["file", "symlink", "submodule", "folder", "other"]
    id: str = ""
    size: int = 0


class Checkout(ABC):
    """The docs at one revision. Close it, or use it as a context manager."""

    revision: Revision
    docs_root: str
    """Path from the top of the repo, without slashes at its ends; empty for the top itself."""
    selection: "Selection"
    files: list[File]
    skipped: list[Skipped]
    warnings: list[str]
    """Problems for which no document was left out."""

    @abstractmethod
    def read(self, file: File) -> bytes:
        """Return the file's bytes. Thread-safe."""

    @abstractmethod
    def find(self, path: str) -> bytes | None:
        """Return the bytes of any file by its path from the top of the repo, or None."""

    @abstractmethod
    def folder(self, path: str) -> Mapping[str, Entry]:
        """Return what is in a folder of the repo, by name; paths are from the top of the repo."""

    @abstractmethod
    def link(self, entry: Entry) -> str | None:
        """Return the path that a symbolic link holds, or None."""

    @abstractmethod
    def files_at(self, entries: Collection[Entry]) -> dict[str, "File | str"]:
        """Return files of the repo that ``folder`` names, by path from its top.

        A reason stands for a file that is not to be read. ``revision`` says afterwards whether one
        of them differs from its commit.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the files and processes that ``read`` uses."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Selection:
    """The rules by which entries become documents."""

    include: Spec
    exclude: Spec
    max_bytes: int

    @staticmethod
    def of(source: DocsSource) -> "Selection":
        return Selection(spec(source.include), spec(source.exclude), source.max_file_bytes)

    def split(self, entries: Iterable[Entry]) -> tuple[list[Entry], list[Skipped]]:
        """Return the entries to read, and the others with their reasons."""
        ordered = sorted(entries, key=lambda entry: entry.path)
        reasons = {entry.path: self._reason_against(entry) for entry in ordered}
        opened = self._opened(path for path, reason in reasons.items() if reason is None)
        taken, skipped = [], []
        for entry in ordered:
            reason = reasons[entry.path] or self._size_reason(entry)
            if reason is None and not is_page(entry) and entry.path not in opened:
                reason = without_reader(entry.path)
            if reason:
                # A name that is not text cannot be stored or shown as it is.
                short = shorten_end(entry.path, _LONGEST_PATH)
                name = short.encode(errors="surrogateescape").decode(errors="replace")
                skipped.append(Skipped(name, reason))
            else:
                taken.append(entry)
        return taken, skipped

    def may_show(self, path: str) -> bool:
        """Return True unless settings leave out a file that a page includes."""
        return _is_text(path) and not self.exclude.match_file(path)

    def too_large(self, size: int, most: int | None = None) -> str | None:
        """Return the reason against a file of this size, or None."""
        limit = self.max_bytes if most is None else min(most, self.max_bytes)
        return f"{_TOO_LARGE}: more than {limit} bytes" if size > limit else None

    def _reason_against(self, entry: Entry) -> str | None:
        checks = (
            (entry.kind == "symlink", LINK),
            (entry.kind == "submodule", "submodule: another repository"),
            (entry.kind == "other", "unsupported: not a regular file"),
            (
                len(entry.path) > _LONGEST_PATH,
                "unsupported: its path is too long",
            ),
            (not _is_text(entry.path), "encoding: the file's name is not UTF-8"),
            (is_hidden(entry.path), "hidden: its path has a dot name"),
            (
                (bool(self.include.patterns) and not self.include.match_file(entry.path))
                or self.exclude.match_file(entry.path),
                "excluded: by FOOTNOTE_DOCS_INCLUDE or FOOTNOTE_DOCS_EXCLUDE",
            ),
        )
        reason = next((reason for applies, reason in checks if applies), None)
        if reason is None and form_of(entry.path) == "other":
            return without_reader(entry.path)
        return reason

    def is_page_link(self, skipped: Skipped) -> bool:
        """Return True for a link that would be a page if it were a file."""
        return skipped.reason == LINK and self._reason_against(Entry(skipped.path, "file")) is None

    def _size_reason(self, entry: Entry) -> str | None:
        return self.too_large(entry.size, None if is_page(entry) else LARGEST)

    @staticmethod
    def _opened(paths: Iterable[str]) -> set[str]:
        """Choose the files that are opened to see whether they are pages."""
        opened: set[str] = set()
        by_form: dict[str, list[str]] = {"interface": [], "unnamed": []}
        for path in paths:
            by_form.get(form_of(path), []).append(path)
        for candidates in by_form.values():
            opened.update(sorted(candidates, key=precedence)[:MOST])
        return opened


def is_hidden(path: str) -> bool:
    """Return True if a file or a folder on the path has a dot name."""
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def is_page(entry: Entry) -> bool:
    """Return True if the name alone makes a file a page."""
    return form_of(entry.path) == "page"


def root_parts(docs_root: str) -> tuple[str, ...]:
    """Split the docs root into names of folders. Raises SettingsError for one outside the repo."""
    path = PurePosixPath(docs_root.strip().strip("/"))
    if ".." in path.parts:
        raise SettingsError(f"FOOTNOTE_DOCS_ROOT: {docs_root} leads out of the docs repo.")
    return path.parts


def is_too_large(skipped: Skipped) -> bool:
    """Return True if the file was left out because of its size."""
    return skipped.reason.startswith(_TOO_LARGE)


def too_large_to_use(path: str, most: int) -> str:
    """Return the warning for a file of settings that is too large."""
    return f"{path} is ignored: it has more than {most} bytes (FOOTNOTE_MAX_FILE_BYTES)."


def content_id(data: bytes, algorithm: str = "sha1") -> str:
    """Return the id that git gives to a file with this content."""
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
