"""A git remote -> a bare clone of it in the data folder, at the newest commit of its branch.

The clone has the whole history; the content of files is fetched on demand, if the server supports
that. There is no work tree, so nobody can leave edits in it. A damaged or incomplete clone is
replaced; the old one stays until the new one is complete.
"""

import logging
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import DataFolderError, DocsRepoError
from ingest.repo.git import Git, Remote, algorithm_of
from ingest.repo.local import check_served, folder_of, serving

log = logging.getLogger(__name__)

# One name for every branch: a branch `a` and a branch `a/b` cannot exist side by side.
DOCS_REF = "refs/footnote/docs"


@dataclass(frozen=True)
class Clone:
    """A bare clone with the commit, and with all trees and commits before it."""

    git: Git
    branch: str
    commit: str

    def fetch_blobs(self, ids: set[str]) -> None:
        """Fetch all missing contents at once: git by itself would fetch them one by one."""
        tree = f"{self.commit}^{{tree}}"
        listing = self.git.run(
            "rev-list", "--objects", "--missing=print", "--no-object-names", tree
        )
        missing = {line[1:] for line in listing.decode().split() if line.startswith("?")} & ids
        if missing:
            _fetch(self.git, "--stdin", stdin="\n".join(sorted(missing)).encode())


def open_clone(remote: Remote, branch: str | None, data_dir: Path, timeout: float) -> Clone:
    """Update the clone to the remote's newest commit, or make it. Raises DocsRepoError."""
    folder = data_dir / "clone"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFolderError(data_dir, error.strerror) from error
    branch, commit = newest_commit(Git(data_dir, timeout, remote), branch)
    git = Git(folder, timeout, remote, git_dir=folder)
    if folder.exists():
        try:
            _update(git, commit)
            return Clone(git, branch, commit)
        except DocsRepoError as error:
            if error.kind == "timeout":
                raise
            # The remote answered a moment ago, so the clone is damaged.
            log.warning("a new clone is made: %s", error)
    _replace(folder, remote, commit, timeout)
    return Clone(git, branch, commit)


def discard(data_dir: Path) -> None:
    """Mark the clone as damaged, so that the next ingest makes a new one."""
    with suppress(OSError):
        (data_dir / "clone" / "HEAD").unlink(missing_ok=True)


def newest_commit(git: Git, branch: str | None) -> tuple[str, str]:
    """Ask the remote for the branch to read and its newest commit. Raises DocsRepoError."""
    wanted = ["HEAD", f"refs/heads/{branch}"] if branch else ["HEAD"]
    default, commits = None, {}
    check_served(git.place, git.timeout)
    listing = git.run(
        *("ls-remote", "--symref", *serving(git.place), "--", git.place, *wanted), online=True
    )
    for line in listing.decode().splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: "):
            default = value.removeprefix("ref: refs/heads/")
        else:
            commits[name] = value
    url = git.place
    if branch and (commit := commits.get(f"refs/heads/{branch}")):
        return branch, commit
    if branch:
        hint = f" (its default branch is {default})" if default else ""
        raise DocsRepoError(
            f"{url} has no branch {branch}{hint}. Set FOOTNOTE_DOCS_BRANCH.", "ref_missing"
        )
    if "HEAD" not in commits:
        raise DocsRepoError(
            f"{url} has no default branch with a commit. "
            "Push one, or name a branch in FOOTNOTE_DOCS_BRANCH.",
            "ref_missing",
        )
    return default or "HEAD", commits["HEAD"]


def _update(git: Git, commit: str) -> None:
    # Left by a git that was killed: no other process works in this data folder.
    for lock in [*git.folder.glob("*.lock"), *git.folder.glob("refs/**/*.lock")]:
        lock.unlink(missing_ok=True)
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
    git = Git(fresh, timeout, remote, git_dir=fresh)
    git.run("init", "--quiet", "--bare", f"--object-format={algorithm_of(commit)}", ".")
    git.run("config", "remote.origin.url", remote.url)
    _fetch(git, f"+{commit}:{DOCS_REF}")
    _check(git, commit)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _fetch(git: Git, *what: str, stdin: bytes | None = None) -> None:
    git.run(
        *("-c", "fetch.negotiationAlgorithm=noop") if stdin else (),
        *("fetch", "--quiet", "--no-tags", "--prune", "--force", "--no-recurse-submodules"),
        *("--no-write-fetch-head", *serving(git.place), *_extent(git.place), "origin", *what),
        stdin=stdin,
        online=True,
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
