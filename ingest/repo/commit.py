"""A commit of a clone -> a checkout, read from git's objects alone."""

import threading
from pathlib import Path
from typing import IO, cast

from ingest.documents import Revision
from ingest.errors import DocsRepoError
from ingest.repo.checkout import (
    Checkout,
    Entry,
    File,
    Selection,
    content_id,
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
        self._blobs = _Blobs(clone.git, data_dir)
        try:
            selection = Selection.of(source)
            taken, self.skipped = selection.split(_entries(clone, self.docs_root))
            huge = clone.fetch_blobs(
                {entry.id for entry in taken}, self.docs_root, source.max_file_bytes
            )
            sizes = dict.fromkeys(huge, source.max_file_bytes + 1)
            sizes |= _sizes(clone, [entry.id for entry in taken if entry.id not in huge])
            sized = [Entry(e.path, e.kind, e.id, sizes[e.id]) for e in taken]
            taken, too_large = selection.split(sized)
            self.skipped += too_large
            self.files = self._files(taken, data_dir)
        except BaseException:  # nothing else would end the git process
            self.close()
            raise

    def _files(self, entries: list[Entry], data_dir: Path) -> list[File]:
        git, commit, root = self._clone.git, self._clone.commit, self.docs_root
        try:
            changes = last_changes(git, commit, root, data_dir / "dates.json")
        except DocsRepoError as error:
            if error.kind != "too_large":
                raise
            self.warnings.append(f"{error} The pages are indexed without dates.")
            changes = {}
        owners = Owners.first(self.find)
        files = []
        for entry in entries:
            path = f"{root}/{entry.path}" if root else entry.path
            files.append(File(entry.path, entry.size, entry.id, changes.get(path), owners.of(path)))
        return files

    def read(self, file: File) -> bytes:
        return self._blobs.read(file.fingerprint)

    def find(self, path: str) -> bytes | None:
        clone = self._clone
        listing = clone.git.stream("ls-tree", "-z", "--full-tree", clone.commit, "--", path)
        entries = [entry for entry in map(_entry, listing) if entry.kind == "file"]
        if not entries:
            return None
        blob, folder = entries[0].id, path.rpartition("/")[0]
        if clone.fetch_blobs({blob}, folder, self._max_bytes) or (
            _sizes(clone, [blob])[blob] > self._max_bytes
        ):
            self.warnings.append(too_large_to_use(path, self._max_bytes))
            return None
        return self._blobs.read(blob)

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
        if content_id(data, algorithm_of(blob)) != blob:
            raise self._damaged(f"object {blob} is corrupt")
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


def _entry(record: bytes, below: str = "") -> Entry:
    about, _, name = record.partition(b"\t")
    mode, kind, blob = about.decode().split()
    path = name.decode(errors="surrogateescape").removeprefix(below)
    if mode == _SYMLINK:
        return Entry(path, "symlink", blob)
    return Entry(path, "file" if kind == "blob" else "submodule", blob)


def _sizes(clone: Clone, ids: list[str]) -> dict[str, int]:
    listing = "".join(f"{blob}\n" for blob in ids).encode()
    lines = clone.git.run("cat-file", "--batch-check=%(objectsize)", stdin=listing).splitlines()
    if len(lines) != len(ids) or not all(line.isdigit() for line in lines):
        raise DocsRepoError("the clone lacks objects", "local_clone_corrupt")
    return dict(zip(ids, map(int, lines), strict=True))
