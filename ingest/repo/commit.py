"""A commit of a clone -> a checkout, read from git's objects alone."""

import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import IO, Literal, cast

from ingest.documents import Revision, Skipped
from ingest.errors import DocsRepoError
from ingest.readers.loader import why_no_page
from ingest.repo.checkout import (
    Checkout,
    Entry,
    File,
    Selection,
    content_id,
    is_page,
    root_parts,
    too_large_to_use,
)
from ingest.repo.clone import Clone, discard, open_clone
from ingest.repo.git import Git, algorithm_of
from ingest.repo.git_address import Remote
from ingest.repo.git_process import GitProcess
from ingest.repo.last_changed import last_changes
from ingest.repo.owners import Owners
from ingest.sources import DocsSource

_SYMLINK = "120000"
_KINDS: dict[bytes, Literal["file", "symlink", "submodule", "folder", "other"]] = {
    b"100644": "file",
    b"100664": "file",
    b"100755": "file",
    b"40000": "folder",
    b"120000": "symlink",
    b"160000": "submodule",
}
"""Modes in git's own form of a folder."""
_PATHS_AT_ONCE = 200
"""Maximum number of paths in one command."""
_READ_SECONDS = 20.0
"""Maximum number of seconds for a local read: git may try to fetch a damaged object forever."""


class CommitCheckout(Checkout):
    """The docs at the newest commit of the remote's branch, or at a tag or commit."""

    def __init__(self, remote: Remote, source: DocsSource, data_dir: Path) -> None:
        clone = open_clone(remote, source.branch, data_dir, source.git_timeout)
        self.revision, self.warnings = Revision(clone.commit, clone.tip.name, remote.url), []
        self.docs_root = "/".join(root_parts(source.root))
        self._clone = clone
        self._max_bytes = source.max_file_bytes
        self._folders: dict[str, dict[str, Entry]] = {}
        self._links: dict[str, str | None] = {}
        self._blobs = _Blobs(clone.git, data_dir)
        try:
            selection = self.selection = Selection.of(source)
            entries = _entries(clone, self.docs_root)
            self._link_ids = {entry.id for entry in entries if entry.kind == "symlink"}
            taken, self.skipped = selection.split(entries)
            pages = {entry.id for entry in taken if is_page(entry)}
            huge = clone.fetch_blobs(pages, self.docs_root, source.max_file_bytes)
            # What may be a page is not worth more than one small pack.
            huge |= clone.fetch_if_small({entry.id for entry in taken} - pages, self.docs_root)
            sizes = dict.fromkeys(huge, source.max_file_bytes + 1)
            sizes |= _sizes(clone, [entry.id for entry in taken if entry.id not in huge])
            sized = [Entry(e.path, e.kind, e.id, sizes[e.id]) for e in taken]
            taken, too_large = selection.split(sized)
            self.skipped += too_large
            self.files = self._files(self._pages(taken), data_dir)
        except BaseException:  # nothing else would end the git process
            self.close()
            raise

    def _pages(self, entries: list[Entry]) -> list[Entry]:
        """Leave out what is not a page by its content."""
        pages = []
        for entry in entries:
            data = b"" if is_page(entry) else self._blobs.read(entry.id)
            if reason := why_no_page(entry.path, data):
                self.skipped.append(Skipped(entry.path, reason))
            else:
                pages.append(entry)
        return pages

    def _files(self, entries: list[Entry], data_dir: Path) -> list[File]:
        git, commit, root = self._clone.git, self._clone.commit, self.docs_root
        try:
            changes = last_changes(git, commit, root, data_dir / "dates.json")
        except DocsRepoError as error:
            if error.kind != "too_large":
                raise
            self.warnings.append(f"{error} The pages are indexed without dates.")
            changes = {}
        self._changes: dict[str, datetime] = changes
        self._owners = Owners.first(self.find)
        return [
            self._file(entry, f"{root}/{entry.path}" if root else entry.path) for entry in entries
        ]

    def _file(self, entry: Entry, path: str) -> File:
        date, owner = self._changes.get(path), self._owners.of(path)
        return File(entry.path, entry.size, entry.id, date, owner)

    def read(self, file: File) -> bytes:
        return self._blobs.read(file.fingerprint)

    def find(self, path: str) -> bytes | None:
        clone, folder = self._clone, path.rpartition("/")[0]
        entry = self._entry_at(path)
        if entry is None or entry.kind != "file":
            return None
        blob = entry.id
        if clone.fetch_blobs({blob}, folder, self._max_bytes) or (
            _sizes(clone, [blob])[blob] > self._max_bytes
        ):
            self.warnings.append(too_large_to_use(path, self._max_bytes))
            return None
        return self._blobs.read(blob)

    def _entry_at(self, path: str) -> Entry | None:
        """Return what is at a path, without following links."""
        place, names = "", path.split("/")
        for name in names[:-1]:
            entry = self.folder(place).get(name)
            if entry is None or entry.kind != "folder":
                return None
            place = entry.path
        return self.folder(place).get(names[-1])

    def folder(self, path: str) -> Mapping[str, Entry]:
        missing = [path]
        while missing[-1] and missing[-1] not in self._folders:
            missing.append(missing[-1].rpartition("/")[0])
        for folder in reversed(missing):  # from the top down
            if folder not in self._folders:
                self._folders[folder] = self._listed(folder)
        return self._folders[path]

    def _listed(self, path: str) -> dict[str, Entry]:
        above, _, name = path.rpartition("/")
        tree = self._folders[above][name].id if path else f"{self._clone.commit}^{{tree}}"
        below = f"{path}/" if path else ""
        entries = _parsed_tree(self._blobs.tree(tree), below, len(self._clone.commit) // 2)
        return {entry.path.removeprefix(below): entry for entry in entries}

    def link(self, entry: Entry) -> str | None:
        if entry.id not in self._links:
            # All at once: each fetch is a request to the remote.
            wanted = (self._link_ids | {entry.id}) - self._links.keys()
            huge = self._clone.fetch_blobs(wanted, "", self._max_bytes)
            for blob in wanted:
                text = None if blob in huge else os.fsdecode(self._blobs.read(blob))
                self._links[blob] = text
        return self._links[entry.id]

    def files_at(self, entries: Collection[Entry]) -> dict[str, File | str]:
        ids = {entry.id for entry in entries}
        if not ids:
            return {}
        root = self.docs_root
        is_below = all(entry.path.startswith(f"{root}/") for entry in entries)
        huge = self._clone.fetch_blobs(ids, root if is_below else "", self._max_bytes)
        sizes = dict.fromkeys(huge, self._max_bytes + 1) | _sizes(self._clone, list(ids - huge))
        return {
            entry.path: self.selection.too_large(sizes[entry.id])
            or self._file(replace(entry, size=sizes[entry.id]), entry.path)
            for entry in entries
        }

    def close(self) -> None:
        self._blobs.close()


class _Blobs:
    """One git process that returns contents by id."""

    def __init__(self, git: Git, data_dir: Path) -> None:
        self._git = git
        self._data_dir = data_dir
        self._lock = threading.Lock()
        self._process: GitProcess | None = None

    def read(self, blob: str) -> bytes:
        data = self._object(blob)
        if content_id(data, algorithm_of(blob)) != blob:
            raise self._damaged(f"object {blob} is corrupt")
        return data

    def tree(self, name: str) -> bytes:
        """Return git's own form of a folder."""
        return self._object(name)

    def _object(self, blob: str) -> bytes:
        with self._lock:
            process = self._process = self._process or self._git.start("cat-file", "--batch")
            timer = threading.Timer(min(self._git.timeout, _READ_SECONDS), process.kill_group)
            timer.start()
            try:
                data = self._exchange(process, blob)
            except OSError as error:
                raise self._damaged(f"object {blob} cannot be read") from error
            finally:
                timer.cancel()
        return data

    def _exchange(self, process: GitProcess, blob: str) -> bytes:
        requests, replies = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        requests.write(f"{blob}\n".encode())
        requests.flush()
        header = replies.readline().split()
        if len(header) != 3:
            raise self._damaged(b" ".join(header).decode() or f"object {blob} cannot be read")
        return replies.read(int(header[2]) + 1)[:-1]

    def _damaged(self, reason: str) -> DocsRepoError:
        discard(self._data_dir)
        return DocsRepoError(
            f"The clone in {self._data_dir} is damaged: {reason}. The next run makes a new one.",
            "local_clone_corrupt",
        )

    def close(self) -> None:
        if self._process:
            self._process.end()
            self._process = None


def _entries(clone: Clone, root: str) -> list[Entry]:
    tree = f"{clone.commit}:{root}"
    if clone.git.text("cat-file", "-t", tree) != "tree":
        raise DocsRepoError(
            f"{clone.git.place} has no folder {root} on {clone.tip.label}. Set FOOTNOTE_DOCS_ROOT.",
            "root_missing",
        )
    return tree_entries(clone.git, clone.commit, root)


def tree_entries(git: Git, commit: str, root: str) -> list[Entry]:
    """Entries below a folder of a commit, with paths from there; empty without such a folder."""
    below = f"{root}/" if root else ""
    listing = git.stream("ls-tree", "-r", "-z", "--full-tree", commit, "--", *filter(None, [below]))
    return [_entry(record, below) for record in listing]


def tree_files(git: Git, commit: str, paths: Sequence[str]) -> Iterator[Entry]:
    """Yield the files at these paths of a commit; others are left out."""
    for start in range(0, len(paths), _PATHS_AT_ONCE):
        part = paths[start : start + _PATHS_AT_ONCE]
        yield from map(_entry, git.stream("ls-tree", "-z", "--full-tree", commit, "--", *part))


def _entry(record: bytes, below: str = "") -> Entry:
    about, _, name = record.partition(b"\t")
    mode, kind, blob = about.decode().split()
    path = name.decode(errors="surrogateescape").removeprefix(below)
    if mode == _SYMLINK:
        return Entry(path, "symlink", blob)
    return Entry(path, "file" if kind == "blob" else "submodule", blob)


def _parsed_tree(data: bytes, below: str, id_size: int) -> Iterator[Entry]:
    """Git's form of a folder -> what is in it."""
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        at = end + 1 + id_size
        kind = _KINDS.get(mode, "other")
        yield Entry(below + os.fsdecode(name), kind, data[end + 1 : at].hex())


def _sizes(clone: Clone, ids: list[str]) -> dict[str, int]:
    listing = "".join(f"{blob}\n" for blob in ids).encode()
    lines = clone.git.run("cat-file", "--batch-check=%(objectsize)", stdin=listing).splitlines()
    if len(lines) != len(ids) or not all(line.isdigit() for line in lines):
        raise DocsRepoError("the clone lacks objects", "local_clone_corrupt")
    return dict(zip(ids, map(int, lines), strict=True))
