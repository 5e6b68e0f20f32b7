"""A git remote -> a bare clone of it in the data folder, at the commit to read.

The clone has the whole history; the content of files is fetched on demand, if the server supports
that. There is no work tree, so nobody can leave edits in it. A damaged or incomplete clone is
replaced; the old one stays until the new one is complete.
"""

import logging
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from ingest.errors import DataFolderError, DocsRepoError
from ingest.repo.git import Git, algorithm_of
from ingest.repo.git_address import Remote
from ingest.repo.local import folder_of, served_sizes, serving
from ingest.repo.tip import Tip, newest_commit

log = logging.getLogger(__name__)

# One name for all of them: a branch `a` and a branch `a/b` cannot exist side by side.
DOCS_REF = "refs/footnote/docs"

SMALL_PACK = 20_000_000
"""Bytes of a pack that is fetched without a look at the sizes of its contents."""

_REFUSED = re.compile(
    r"not our ref|unadvertised object|remote error: want [0-9a-f]{1,64}+ not valid"
)

_MOST_OBJECTS = 10_000_000
_MOST_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Clone:
    """A bare clone with the commit, and with all trees and commits before it."""

    git: Git
    tip: Tip

    @property
    def commit(self) -> str:
        return self.tip.commit

    def fetch_blobs(self, ids: set[str], root: str, most: int) -> set[str]:
        """Fetch missing contents, and return the ids of those with more than ``most`` bytes.

        Git by itself would fetch them one by one. ``root`` is a folder that has them all. A remote
        server does not tell sizes, and leaves out no content that is asked for by its id. So the
        pack has a limit; if it would be larger, the folder is asked for without large contents.
        """
        huge = HugeContents.read(self.git.folder, most)
        missing = self._missing(ids - huge.ids, root)
        sizes = served_sizes(self.git.place, self.git.timeout, missing) if missing else {}
        if left_out := {blob for blob in missing if sizes.get(blob, 0) > most}:
            huge.add(left_out)
            missing -= left_out
        if not missing:
            return ids & huge.ids
        wanted = "\n".join(sorted(missing)).encode()
        try:
            _fetch(self.git, "--stdin", stdin=wanted, most_written=max(most, SMALL_PACK))
        except DocsRepoError as error:
            if error.kind != "too_large":
                raise
            _delete_leftovers(self.git.folder)
            missing = self._fetch_small(missing, root, most, wanted)
            huge.add(missing)
        return ids & huge.ids

    def fetch_if_small(self, ids: set[str], root: str) -> set[str]:
        """Fetch missing contents if they are small together; return those that are missing."""
        missing = self._missing(ids, root) if ids else set()
        if not missing:
            return missing
        sizes = served_sizes(self.git.place, self.git.timeout, missing)
        if sum(sizes.values()) <= SMALL_PACK:
            wanted = "\n".join(sorted(missing)).encode()
            try:
                _fetch(self.git, "--stdin", stdin=wanted, most_written=SMALL_PACK)
            except DocsRepoError as error:
                if error.kind != "too_large":
                    raise
                _delete_leftovers(self.git.folder)
        return self._missing(missing, root)

    def _fetch_small(self, missing: set[str], root: str, most: int, wanted: bytes) -> set[str]:
        """Fetch what has up to ``most`` bytes, and return the others."""
        tree = self.git.text("rev-parse", "--verify", f"{self.commit}:{root}") or ""
        try:
            # Git would not ask for a folder that it has, so it asks as for a new clone.
            small = ("--refetch", f"--filter=blob:limit={most + 1}")
            _fetch(self.git, "--stdin", stdin=tree.encode(), extent=small)
        except DocsRepoError as error:
            if error.kind == "timeout":
                raise
            log.info("the docs repo serves no folders: %s", error)
            _fetch(self.git, "--stdin", stdin=wanted)
        return self._missing(missing, root)

    def _missing(self, ids: set[str], root: str) -> set[str]:
        listing = self.git.stream(
            *("rev-list", "--objects", "--missing=print", "--no-object-names"),
            f"{self.commit}:{root}",
            separator=b"\n",
            most=_MOST_OBJECTS,
            most_bytes=_MOST_BYTES,
        )
        return {line[1:].decode() for line in listing if line.startswith(b"?")} & ids


@dataclass(frozen=True)
class HugeContents:
    """Ids of contents that were not fetched because of their size: stored, or asked for again."""

    file: Path
    most: int
    ids: set[str]

    @staticmethod
    def read(clone: Path, most: int) -> "HugeContents":
        """Read the ids of contents that have more than ``most`` bytes for sure."""
        file = clone / "huge.json"
        try:
            stored = _Huge.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            stored = _Huge(most=most, ids=set())
        return HugeContents(file, most, stored.ids if stored.most >= most else set())

    def add(self, ids: set[str]) -> None:
        """Store more ids."""
        self.ids.update(ids)
        stored = _Huge(most=self.most, ids=self.ids)
        try:
            self.file.write_text(stored.model_dump_json())
        except OSError as error:
            raise DataFolderError(self.file, error.strerror) from error


class _Huge(BaseModel):
    most: int
    ids: set[str]


def open_clone(remote: Remote, name: str | None, data_dir: Path, timeout: float) -> Clone:
    """Update the clone to the commit of a branch, a tag or an id, or make it.

    Raises DocsRepoError.
    """
    folder = data_dir / "clone"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFolderError(data_dir, error.strerror) from error
    tip = newest_commit(Git(data_dir, timeout, remote, fresh=True), name, folder)
    git = Git(folder, timeout, remote, git_dir=folder)
    if folder.exists():
        try:
            _update(git, tip.commit)
            return Clone(git, tip)
        except DocsRepoError as error:
            if error.kind in ("timeout", "too_large"):
                raise
            # The remote answered a moment ago, so the clone is damaged.
            log.warning("a new clone is made: %s", error)
    try:
        _replace(folder, remote, tip.commit, timeout)
    except DocsRepoError as error:
        if tip.kind != "commit" or not _REFUSED.search(str(error)):
            raise
        raise DocsRepoError(
            f"{remote.url} does not hand out commit {tip.name}: it has none, or gives commits by"
            " branch and tag only. Name a branch or a tag in FOOTNOTE_DOCS_BRANCH.",
            "ref_missing",
        ) from error
    return Clone(git, tip)


def discard(data_dir: Path) -> None:
    """Mark the clone as damaged, so that the next ingest makes a new one."""
    with suppress(OSError):
        (data_dir / "clone" / "HEAD").unlink(missing_ok=True)


def _update(git: Git, commit: str) -> None:
    # Left by a git that was killed: no other process works in this data folder.
    _delete_leftovers(git.folder)
    url = git.text("config", "remote.origin.url")
    if url != git.place:
        raise DocsRepoError(f"it is not a clone of {git.place}", "local_clone_corrupt")
    if git.text("rev-parse", "--verify", "--quiet", DOCS_REF) != commit:
        _fetch(git, f"+{commit}:{DOCS_REF}")
    _check(git, commit)


def _replace(folder: Path, remote: Remote, commit: str, timeout: float) -> None:
    fresh, old = folder.with_name("clone.new"), folder.with_name("clone.old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
    except OSError as error:
        raise DataFolderError(fresh, error.strerror) from error
    git = Git(fresh, timeout, remote, git_dir=fresh, fresh=True)
    git.run("init", "--quiet", "--bare", f"--object-format={algorithm_of(commit)}", ".")
    git.run("config", "remote.origin.url", remote.url)
    _fetch(git, f"+{commit}:{DOCS_REF}")
    _check(git, commit)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _delete_leftovers(clone: Path) -> None:
    """Delete locks and unfinished packs of a git that was killed.

    No git lives here: each ends with its process, and one process owns the data folder.
    """
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/tmp_*"):
        for leftover in clone.glob(pattern):
            leftover.unlink(missing_ok=True)


def _fetch(
    git: Git,
    *what: str,
    stdin: bytes | None = None,
    extent: tuple[str, ...] | None = None,
    most_written: int | None = None,
) -> None:
    git.run(
        *("-c", "fetch.negotiationAlgorithm=noop") if stdin else (),
        *("fetch", "--quiet", "--no-tags", "--prune", "--force", "--no-recurse-submodules"),
        *("--no-write-fetch-head", *serving(git.place), *(extent or _extent(git.place))),
        *("origin", *what),
        stdin=stdin,
        online=True,
        most_written=most_written,
    )


def _extent(place: str) -> tuple[str, ...]:
    """Options that leave out contents; not for a shallow remote, which git would search forever."""
    folder = folder_of(place)
    if folder and any((folder / name).is_file() for name in ("shallow", ".git/shallow")):
        return ("--update-shallow",)
    return ("--filter=blob:none",)


def _check(git: Git, commit: str) -> None:
    """Raise DocsRepoError unless all trees of the commit can be read."""
    git.run("rev-list", "--objects", "--missing=print", "--quiet", f"{commit}^{{tree}}")
