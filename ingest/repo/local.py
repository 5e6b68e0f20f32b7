"""A git repository on this machine, read without its configuration.

A configuration names commands that git runs (transports, filters, monitors, hooks) and paths that
it follows, so the configuration of a docs folder's repository is ignored. Git runs once in the
folder, to check that it trusts the owner (users set ``safe.directory``) and to find HEAD and the
refs; that opens no object, with all transports off. Everything else is read through a temporary git
dir: with a configuration of ours, and links to the folder's objects and index. Objects that the
repository lacks, or borrows from another one (alternates), are missing there and never fetched.

A folder's repository is the ``.git`` in it or the nearest one above it. A ``.git`` above the
configured folder is used only if git trusts its owner and it tracks files of that folder: anybody
may put a ``.git`` into a parent that everybody may write into.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ingest.errors import DocsRepoError
from ingest.repo.git import Git

_PATHS_AT_ONCE = 200
"""Maximum number of paths in one command."""
_FACTS = ("--absolute-git-dir", "--git-common-dir", "--show-object-format", "--is-bare-repository")
_ALTERNATES = Path("objects", "info", "alternates")
_GRAPHS = ("commit-graph", "commit-graphs")

_UPLOAD_PACK = (
    "GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1"
    " git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack"
)
"""Runs in the remote repository and under its configuration, so all transports are off."""


@dataclass(frozen=True)
class Repository:
    """The places of a repository's parts."""

    folder: Path
    """The folder that holds the `.git`, or a bare repository itself."""
    timeout: float
    git_dir: Path
    common_dir: Path
    """The same as ``git_dir``, except in an added work tree (`git worktree`)."""
    object_format: str
    bare: bool

    @staticmethod
    def at(folder: Path, timeout: float) -> "Repository | None":
        """Return the repository in this folder or None; DocsRepoError if git distrusts it."""
        looking = Git(folder, timeout, git_dir=None)
        try:
            answer = looking.run("rev-parse", *_FACTS)
        except DocsRepoError as error:
            if error.kind == "no_repository":
                return None
            raise
        values = os.fsdecode(answer).removesuffix("\n").split("\n")
        if len(values) != len(_FACTS):
            raise DocsRepoError(
                f"{str(folder)!r} cannot be read by git: its path has a line break. Rename it.",
                "not_a_folder",
            )
        git_dir, common_dir, object_format, bare = values
        return Repository(
            folder=folder,
            timeout=timeout,
            git_dir=Path(git_dir),
            common_dir=(folder / common_dir).resolve(),
            # Git before 2.28 repeats the option, and only knows sha1.
            object_format="sha256" if object_format == "sha256" else "sha1",
            bare=bare == "true",
        )

    @property
    def _looking(self) -> Git:
        """Git under the repository's own configuration, used for refs only."""
        return Git(self.folder, self.timeout, git_dir=None)

    def head(self) -> str | None:
        """Id of the commit at HEAD, which may be unreadable; None before the first commit."""
        return self._looking.text("rev-parse", "--verify", "--quiet", "HEAD")

    def branch(self) -> str | None:
        return self._looking.text("symbolic-ref", "--quiet", "--short", "HEAD")

    def commit_of(self, name: str) -> str | None:
        """Id of the commit of a branch, a tag or a shortened id."""
        wanted = f"{name}^{{commit}}"
        return self._looking.text("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)

    def remote_heads(self) -> list[str]:
        """Id of the newest commit of each branch of each remote, as of the last fetch."""
        listing = ("for-each-ref", "--format=%(objectname)", "refs/remotes")
        return [line.decode() for line in self._looking.stream(*listing, separator=b"\n")]

    def origin(self) -> str | None:
        """Address of the remote `origin`, or None.

        The user's `insteadOf` applies, the repository's does not.
        """
        config = str(self.common_dir / "config")
        git = Git(self.folder, self.timeout)
        addresses = git.text("config", "--file", config, "--get-all", "remote.origin.url")
        if not addresses:
            return None
        return git.text("ls-remote", "--get-url", "--", addresses.splitlines()[0])

    @contextmanager
    def reading(self, docs: Path) -> Iterator[Git]:
        """Yield a git that works in a folder of the work tree, under our configuration."""
        with TemporaryDirectory(prefix="footnote-git-") as place:
            git_dir = Path(place)
            try:
                self._link_into(git_dir)
            except OSError as error:
                raise DocsRepoError(
                    f"{self.folder} cannot be read ({error.filename}: {error.strerror}). Correct"
                    " its permissions, or clone it again.",
                    "local_clone_corrupt",
                ) from error
            yield Git(docs, self.timeout, git_dir=git_dir, work_tree=self.folder)

    def _link_into(self, git_dir: Path) -> None:
        extensions = "\tobjectFormat = sha256\n" if self.object_format == "sha256" else ""
        (git_dir / "config").write_text(
            "[core]\n\trepositoryFormatVersion = 1\n\tbare = false\n[extensions]\n" + extensions
        )
        (git_dir / "HEAD").write_text("ref: refs/heads/none\n")
        for folder in ("refs", "info", "objects/info"):
            (git_dir / folder).mkdir(parents=True)
        os.scandir(self.common_dir / "objects").close()
        linked = [f"objects/{name}" for name in (*map("{:02x}".format, range(256)), "pack")]
        linked += [f"objects/info/{name}" for name in _GRAPHS]
        for name in (*linked, "info/exclude", "shallow"):
            _link(git_dir / name, self.common_dir / name)
        for name in ("index", *(file.name for file in self.git_dir.glob("sharedindex.*"))):
            _link(git_dir / name, self.git_dir / name)


def _link(place: Path, target: Path) -> None:
    if target.exists():
        place.symlink_to(target)


@dataclass(frozen=True)
class WorkTree:
    """The work tree that contains a docs folder."""

    repository: Repository
    git: Git
    """Git that works in the docs folder."""

    @property
    def top(self) -> Path:
        return self.repository.folder

    def files(self) -> list[str]:
        """Paths, from the docs folder, of files that are tracked or could be added."""
        listing = self.git.stream("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return [os.fsdecode(name) for name in sorted(set(listing))]

    def known(self, paths: Sequence[str]) -> set[str]:
        """Return those of these paths, from the top, that are tracked or could be added."""
        found: set[str] = set()
        for start in range(0, len(paths), _PATHS_AT_ONCE):
            part = [f":(top,literal){path}" for path in paths[start : start + _PATHS_AT_ONCE]]
            listing = ("--cached", "--others", "--exclude-standard", "--full-name", "--", *part)
            found.update(map(os.fsdecode, self.git.stream("ls-files", "-z", *listing)))
        return found

    def has_pushed(self, commit: str) -> bool:
        """Return True if a remote had this commit at the last fetch."""
        heads = self.repository.remote_heads()
        exclusions = "".join(f"^{head}\n" for head in heads).encode()
        only_here = ("rev-list", "--max-count=1", "--ignore-missing", "--stdin", commit)
        return bool(heads) and not self.git.run(*only_here, stdin=exclusions)


@contextmanager
def open_work_tree(
    docs: Path, configured: Path, timeout: float, warnings: list[str]
) -> Iterator[WorkTree | None]:
    """Yield the work tree that contains ``docs``, or None outside git.

    ``configured`` is the folder in the settings, which contains ``docs``. Problems with a
    repository above it go into ``warnings``; others raise DocsRepoError.
    """
    repository = _nearest(docs, configured, timeout, warnings)
    if repository is None:
        yield None
        return
    with repository.reading(docs) as git:
        if repository.folder.is_relative_to(configured):
            belongs = git.text("check-ignore", "--quiet", ".") is None
        else:
            belongs = bool(git.run("ls-files", "-z", "--cached"))
        yield WorkTree(repository, git) if belongs else None


def _nearest(
    docs: Path, configured: Path, timeout: float, warnings: list[str]
) -> Repository | None:
    for folder in (docs, *docs.parents):
        if not os.path.lexists(folder / ".git"):
            continue
        try:
            repository = Repository.at(folder, timeout)
        except DocsRepoError as error:
            if folder.is_relative_to(configured):
                raise
            warnings.append(f"{docs} is read without the .git above it. {error}")
            return None
        if repository and not repository.bare:
            return repository
    return None


def folder_of(address: str) -> Path | None:
    """Folder that a file address names; None for other addresses."""
    parts = urlsplit(address)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def serving(address: str) -> tuple[str, ...]:
    """Options for a command that connects to a remote."""
    return ("--upload-pack", _UPLOAD_PACK) if folder_of(address) else ()


def check_served(address: str, timeout: float) -> None:
    """Raise DocsRepoError for a local repository that git distrusts, or that borrows objects."""
    repository = _served(address, timeout)
    alternates = repository and repository.common_dir / _ALTERNATES
    if alternates and alternates.is_file() and alternates.read_bytes().strip():
        raise DocsRepoError(
            f"{folder_of(address)} borrows objects of another repository ({alternates}), which is"
            " not followed. Make a full clone of it, and give that one.",
            "not_trusted",
        )


def served_sizes(address: str, timeout: float, ids: set[str]) -> dict[str, int]:
    """Return the sizes of contents that a repository on this machine serves; empty for others."""
    repository = _served(address, timeout)
    if repository is None:
        return {}
    asked = "".join(f"{blob}\n" for blob in sorted(ids)).encode()
    with repository.reading(repository.folder) as git:
        answer = git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked)
    pairs = (line.decode().split() for line in answer.splitlines())
    return {blob: int(size) for blob, size in pairs if size.isdigit()}


def _served(address: str, timeout: float) -> Repository | None:
    folder = folder_of(address)
    if folder is None:
        return None
    # Git itself searches these places in this order.
    places = (Path(f"{folder}{suffix}") for suffix in ("/.git", "", ".git/.git", ".git"))
    served = (Repository.at(place, timeout) for place in places if place.is_dir())
    return next(filter(None, served), None)
