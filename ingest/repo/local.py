"""A repository on this machine -> what may be read of it, whoever wrote its configuration.

A configuration names commands (transports, filters, monitors, hooks) that git runs and places it
follows, so that of a docs folder's repository counts for nothing. Git is asked once, in the folder,
whether it trusts the owner (``safe.directory`` is the user's to set) and where HEAD and the refs
are; that opens no object, with all transports off. Everything else is read through a git dir of
ours: a configuration we write, with links to the folder's own objects and index. Objects that it
lacks or borrows of another repository (alternates) are missing there, and never fetched.

A folder's repository is the ``.git`` in it or nearest above it. One above the folder that somebody
named counts only where git trusts its owner and it tracks files of that folder: anybody may put a
``.git`` into a parent that everybody may write into.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ingest.errors import DocsRepoError
from ingest.repo.git import Git, records

_ASKED = ("--absolute-git-dir", "--git-common-dir", "--show-object-format", "--is-bare-repository")
_ALTERNATES = Path("objects", "info", "alternates")
_GRAPHS = ("commit-graph", "commit-graphs")

_UPLOAD_PACK = "GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1 git-upload-pack"
"""Runs in the repository that is fetched from, under its configuration: with all transports off."""


@dataclass(frozen=True)
class Repository:
    """Where a repository keeps things."""

    folder: Path
    """The one with the `.git`, or a bare repository itself."""
    timeout: float
    git_dir: Path
    common_dir: Path
    """The same, but for a further work tree of a repository."""
    object_format: str
    bare: bool

    @staticmethod
    def at(folder: Path, timeout: float) -> "Repository | None":
        """The one that lies in this folder; DocsRepoError where git does not trust it."""
        looking = Git(folder, timeout, git_dir=None)
        try:
            answer = looking.run("rev-parse", *_ASKED)
        except DocsRepoError as error:
            if error.kind == "no_repository":
                return None
            raise
        said = os.fsdecode(answer).removesuffix("\n").split("\n")
        if len(said) != len(_ASKED):
            raise DocsRepoError(
                f"{str(folder)!r} cannot be read by git: rename what has a line break in its name.",
                "not_a_folder",
            )
        git_dir, common_dir, object_format, bare = said
        return Repository(
            folder=folder,
            timeout=timeout,
            git_dir=Path(git_dir),
            common_dir=(folder / common_dir).resolve(),
            # Git before 2.28 repeats the question, and knows no other.
            object_format="sha256" if object_format == "sha256" else "sha1",
            bare=bare == "true",
        )

    @property
    def _looking(self) -> Git:
        """Git under the repository's own configuration: for refs, and nothing else."""
        return Git(self.folder, self.timeout, git_dir=None)

    def head(self) -> str | None:
        """Id of the commit; None before the first one. Whether it can be read is not known."""
        return self._looking.text("rev-parse", "--verify", "--quiet", "HEAD")

    def branch(self) -> str | None:
        return self._looking.text("symbolic-ref", "--quiet", "--short", "HEAD")

    def remote_heads(self) -> list[str]:
        """Ids of the commits that remotes were seen to have."""
        listing = self._looking.run("for-each-ref", "--format=%(objectname)", "refs/remotes")
        return listing.decode().split()

    def origin(self) -> str | None:
        """Address of the remote; the user's own `insteadOf` applies, the repository's does not."""
        config = str(self.common_dir / "config")
        git = Git(self.folder, self.timeout)
        addresses = git.text("config", "--file", config, "--get-all", "remote.origin.url")
        if not addresses:
            return None
        return git.text("ls-remote", "--get-url", "--", addresses.splitlines()[0])

    @contextmanager
    def reading(self, docs: Path) -> Iterator[Git]:
        """Git at work in a folder of the work tree, under our configuration."""
        with TemporaryDirectory(prefix="footnote-git-") as place:
            own = Path(place)
            try:
                self._link_into(own)
            except OSError as error:
                raise DocsRepoError(
                    f"{self.folder} cannot be read ({error.filename}: {error.strerror}). Correct"
                    " its permissions, or clone it anew.",
                    "local_clone_corrupt",
                ) from error
            yield Git(docs, self.timeout, git_dir=own, work_tree=self.folder)

    def _link_into(self, own: Path) -> None:
        extensions = "\tobjectFormat = sha256\n" if self.object_format == "sha256" else ""
        (own / "config").write_text(
            "[core]\n\trepositoryFormatVersion = 1\n\tbare = false\n[extensions]\n" + extensions
        )
        (own / "HEAD").write_text("ref: refs/heads/none\n")
        for folder in ("refs", "info", "objects/info"):
            (own / folder).mkdir(parents=True)
        theirs = self.common_dir / "objects"
        linked = [f"objects/{entry.name}" for entry in theirs.iterdir() if entry.name != "info"]
        linked += [f"objects/info/{name}" for name in _GRAPHS]
        for name in (*linked, "info/exclude", "shallow"):
            _link(own / name, self.common_dir / name)
        for name in ("index", *(file.name for file in self.git_dir.glob("sharedindex.*"))):
            _link(own / name, self.git_dir / name)


def _link(place: Path, target: Path) -> None:
    if target.exists():
        place.symlink_to(target)


@dataclass(frozen=True)
class WorkTree:
    """The work tree that a docs folder lies in."""

    repository: Repository
    git: Git
    """At work in the docs folder."""

    @property
    def top(self) -> Path:
        return self.repository.folder

    def files(self) -> list[str]:
        """Paths from the docs folder, of what is tracked or could be added."""
        listing = self.git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return [os.fsdecode(name) for name in sorted(set(records(listing)))]

    def has_pushed(self, commit: str) -> bool:
        """Whether a remote was seen to have a commit."""
        heads = self.repository.remote_heads()
        given = "".join(f"^{head}\n" for head in heads).encode()
        only_here = ("rev-list", "--max-count=1", "--ignore-missing", "--stdin", commit)
        return bool(heads) and not self.git.run(*only_here, given=given)


@contextmanager
def open_work_tree(
    docs: Path, named: Path, timeout: float, warnings: list[str]
) -> Iterator[WorkTree | None]:
    """The one whose part ``docs`` is; None outside git. ``named``: the folder somebody named."""
    repository = _nearest(docs, named, timeout, warnings)
    if repository is None:
        yield None
        return
    with repository.reading(docs) as git:
        if repository.folder.is_relative_to(named):
            belongs = git.text("check-ignore", "--quiet", ".") is None
        else:
            belongs = bool(git.run("ls-files", "-z", "--cached"))
        yield WorkTree(repository, git) if belongs else None


def _nearest(docs: Path, named: Path, timeout: float, warnings: list[str]) -> Repository | None:
    for folder in (docs, *docs.parents):
        if not os.path.lexists(folder / ".git"):
            continue
        try:
            repository = Repository.at(folder, timeout)
        except DocsRepoError as error:
            if folder.is_relative_to(named):
                raise
            warnings.append(f"{docs} is read without the .git above it. {error}")
            return None
        if repository and not repository.bare:
            return repository
    return None


def folder_of(address: str) -> Path | None:
    """Where a file address leads."""
    parts = urlsplit(address)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def serving(address: str) -> tuple[str, ...]:
    """Options for a command that speaks to a remote."""
    return ("--upload-pack", _UPLOAD_PACK) if folder_of(address) else ()


def check_served(address: str, timeout: float) -> None:
    """DocsRepoError for a repository on this machine that git does not trust, or that borrows."""
    folder = folder_of(address)
    if folder is None:
        return
    # In this order git itself looks where a repository may be.
    places = (Path(f"{folder}{suffix}") for suffix in ("/.git", "", ".git/.git", ".git"))
    served = (Repository.at(place, timeout) for place in places if place.is_dir())
    repository = next(filter(None, served), None)
    alternates = repository and repository.common_dir / _ALTERNATES
    if alternates and alternates.is_file() and alternates.read_bytes().strip():
        raise DocsRepoError(
            f"{folder} borrows objects of another repository ({alternates}), which is not"
            " followed. Make a full clone of it, and give that one.",
            "not_trusted",
        )
