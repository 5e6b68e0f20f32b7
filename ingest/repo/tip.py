"""A branch, a tag or a commit of a git remote, as people name it -> the commit to read."""

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal

from ingest.errors import DocsRepoError
from ingest.repo.git import Git, algorithm_of
from ingest.repo.local import check_served, serving

_ID = re.compile(r"[0-9a-f]{7,64}")
_FULL_LENGTHS = (40, 64)
_NAMED = 5
"""Maximum number of branches and tags that an error names."""
_MOST_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class Tip:
    """The commit to read, and the name under which it was asked for."""

    kind: Literal["branch", "tag", "commit"]
    name: str
    commit: str

    @property
    def label(self) -> str:
        """``branch main``, ``tag v1.2`` or ``commit 1a2b3c4``."""
        return f"{self.kind} {self.name}"


def newest_commit(git: Git, name: str | None, clone: Path | None = None) -> Tip:
    """Ask the remote for the commit of a name, or of its default branch. Raises DocsRepoError.

    A branch goes before a tag of the same name. ``clone`` is a clone of earlier runs, in which a
    shortened id of a commit is looked up first.
    """
    check_served(git.place, git.timeout)
    names = [f"refs/heads/{name}", f"refs/tags/{name}", f"refs/tags/{name}^{{}}"] if name else []
    default, commits = _listed(git, ["HEAD", *names])
    if name is None:
        if "HEAD" not in commits:
            raise DocsRepoError(
                f"{git.place} has no default branch with a commit. "
                "Push one, or name a branch in FOOTNOTE_DOCS_BRANCH.",
                "ref_missing",
            )
        return Tip("branch", default or "HEAD", commits["HEAD"])
    branch, tag, tagged = (commits.get(ref) for ref in names)
    if branch:
        return Tip("branch", name, branch)
    if commit := tagged or tag:  # an annotated tag is an object of its own, before its commit
        return Tip("tag", name, commit)
    if commit := _by_id(git, name.lower(), clone, commits.get("HEAD")):
        return Tip("commit", name, commit)
    hint = f" (its default branch is {default})" if default else ""
    raise DocsRepoError(
        f"{git.place} has no branch {name} and no such tag or commit{hint}.{_existing(git, name)}"
        " Set FOOTNOTE_DOCS_BRANCH.",
        "ref_missing",
    )


def _listed(git: Git, patterns: Iterable[str]) -> tuple[str | None, dict[str, str]]:
    """Return the name of the default branch, and ids by the name of their ref."""
    default, ids = None, {}
    listing = git.stream(
        *("ls-remote", "--symref", *serving(git.place), "--", git.place, *patterns),
        separator=b"\n",
        most_bytes=_MOST_BYTES,
        online=True,
    )
    for line in listing:
        value, _, ref = line.decode(errors="replace").partition("\t")
        if not value.startswith("ref: "):
            ids[ref] = value
        elif ref == "HEAD":  # a clone as remote also tells the HEAD of its own remote
            default = value.removeprefix("ref: refs/heads/")
    return default, ids


def _by_id(git: Git, name: str, clone: Path | None, other: str | None) -> str | None:
    """Return the commit with this id, or with one that begins like this."""
    if not _ID.fullmatch(name):
        return None
    if len(name) in _FULL_LENGTHS:
        return name
    if clone and clone.is_dir():
        known = Git(clone, git.timeout, git.remote, git_dir=clone)
        if commit := _looked_up(known, name):
            return commit
    return _looked_up_remotely(git, name, other)


def _looked_up(git: Git, name: str) -> str | None:
    return git.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


def _looked_up_remotely(git: Git, name: str, other: str | None) -> str | None:
    """Fetch all commits without their files, which is the only way to look up a shortened id."""
    if git.remote is None:
        return None
    folder = Path(mkdtemp(prefix="footnote-ids-"))
    try:
        looking = Git(folder, git.timeout, git.remote, git_dir=folder, fresh=True)
        looking.run("init", "--quiet", "--bare", f"--object-format={algorithm_of(other)}", ".")
        looking.run(
            *("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--filter=tree:0"),
            *(*serving(git.place), git.place, "+refs/heads/*:refs/heads/*"),
            "+refs/tags/*:refs/tags/*",
            online=True,
        )
        return _looked_up(looking, name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _existing(git: Git, name: str) -> str:
    """Return a sentence with the branches and tags of the remote, the most similar ones first."""
    _default, ids = _listed(git, ["refs/heads/*", "refs/tags/*"])
    named = [ref.split("/", 2)[2] for ref in ids if ref.startswith(("refs/heads/", "refs/tags/"))]
    names = sorted({each for each in named if each.isprintable() and not each.endswith("^{}")})
    close = get_close_matches(name, names, _NAMED)
    shown = list(dict.fromkeys((*close, *names)))[:_NAMED]
    more = f" and {len(names) - len(shown)} others" if len(names) > len(shown) else ""
    return f" It has {', '.join(shown)}{more}." if shown else ""
