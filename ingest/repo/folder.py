"""A local folder -> a checkout of its files as they lie, with what git says about them."""

import os
import stat
from pathlib import Path

from ingest.documents import Revision, Skipped
from ingest.errors import DocsRepoError
from ingest.repo.checkout import Checkout, Entry, File, Selection, content_id, root_parts
from ingest.repo.commit import tree_entries
from ingest.repo.git import Git, Remote, algorithm_of, records
from ingest.repo.history import last_changes
from ingest.repo.owners import Owners
from ingest.settings import IndexSettings


class FolderCheckout(Checkout):
    """A folder, inside git or not."""

    def __init__(self, folder: Path, settings: IndexSettings) -> None:
        self._docs = _docs_folder(folder, settings.docs_root)
        git = Git(self._docs, settings.git_timeout)
        top, commit = _work_tree(git)
        self._top = top or folder.resolve()
        self.docs_root = self._docs.relative_to(self._top).as_posix().removeprefix(".")
        self._selection = Selection.of(settings)
        names = _listed(git) if top else _walked(self._docs)
        found = [entry for name in names if (entry := _entry(self._docs, name))]
        own = settings.data_dir.resolve()
        found = [e for e in found if not (self._docs / e.path).is_relative_to(own)]
        taken, self.skipped = self._selection.split(found)
        taken = self._identified(taken, algorithm_of(commit))
        self.revision, changes = Revision(None), {}
        if commit:
            git = Git(self._top, settings.git_timeout)
            committed = self._committed(git, commit)
            dirty = committed != {entry.path: entry.id for entry in taken}
            self.revision = _revision(git, commit, settings.docs_branch, dirty)
            times = last_changes(git, commit, self.docs_root, settings.data_dir / "dates.json")
            # The time of a commit says nothing about a file that was edited since.
            unedited = [e.path for e in taken if committed.get(e.path) == e.id]
            changes = {path: times.get(self._from_top(path)) for path in unedited}
        elif settings.docs_branch:
            raise DocsRepoError(
                f"{folder} has no commit of git, so it is on no branch {settings.docs_branch}."
                " Leave FOOTNOTE_DOCS_BRANCH out.",
                "ref_missing",
            )
        owners = Owners.first(self.find)
        self.files = [
            File(e.path, e.size, e.id, changes.get(e.path), owners.of(self._from_top(e.path)))
            for e in taken
        ]

    def read(self, file: File) -> bytes:
        place = self._docs / file.path
        try:
            data = place.read_bytes()
        except OSError as error:
            raise _moving(place, "went away") from error
        if content_id(data, algorithm_of(file.fingerprint)) != file.fingerprint:
            raise _moving(place, "changed")  # else the index would hold one text under another's id
        return data

    def find(self, path: str) -> bytes | None:
        file = self._top / path
        try:
            return file.read_bytes() if file.is_file() and not file.is_symlink() else None
        except OSError:
            return None

    def close(self) -> None:
        """Nothing is held open."""

    def _from_top(self, path: str) -> str:
        return f"{self.docs_root}/{path}" if self.docs_root else path

    def _identified(self, entries: list[Entry], algorithm: str) -> list[Entry]:
        """Entries with the id of their content; what cannot be read is skipped."""
        readable = []
        for entry in entries:
            try:
                data = (self._docs / entry.path).read_bytes()
            except OSError as error:
                self.skipped.append(Skipped(entry.path, f"unreadable: {error.strerror}"))
            else:
                readable.append(Entry(entry.path, "file", content_id(data, algorithm), len(data)))
        return readable

    def _committed(self, git: Git, commit: str) -> dict[str, str]:
        """Path -> content id of the files that would be read at HEAD."""
        tree = f"{commit}:{self.docs_root}"
        if git.text("cat-file", "-t", tree) != "tree":
            return {}
        taken, _ = self._selection.split(tree_entries(git, tree))
        left_out = {skipped.path for skipped in self.skipped if skipped.reason.startswith("huge")}
        return {entry.path: entry.id for entry in taken if entry.path not in left_out}


def _moving(place: Path, how: str) -> DocsRepoError:
    return DocsRepoError(f"{place} {how} while it was read. Run the ingest again.", "fetch_failed")


def _docs_folder(folder: Path, docs_root: str) -> Path:
    top = folder.resolve()
    docs = top.joinpath(*root_parts(docs_root)).resolve()
    if not docs.is_dir() or not docs.is_relative_to(top):
        raise DocsRepoError(
            f"{folder} has no folder {docs_root} inside. Set FOOTNOTE_DOCS_ROOT.", "root_missing"
        )
    return docs


def _work_tree(git: Git) -> tuple[Path | None, str | None]:
    """Top and HEAD of the work tree the folder is in; None outside, and where git ignores it."""
    top = git.text("rev-parse", "--show-toplevel")
    if not top or git.text("check-ignore", "--quiet", ".") is not None:
        return None, None
    return Path(top).resolve(), git.text("rev-parse", "--verify", "--quiet", "HEAD^{commit}")


def _listed(git: Git) -> list[str]:
    listing = git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return [os.fsdecode(name) for name in sorted(set(records(listing)))]


def _walked(folder: Path) -> list[str]:
    names = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        names += [(Path(place) / name).relative_to(folder).as_posix() for name in files + links]
    return names


def _entry(folder: Path, name: str) -> Entry | None:
    try:
        status = (folder / name).lstat()
    except OSError:
        return None  # deleted here, but still listed by git
    if stat.S_ISLNK(status.st_mode):
        return Entry(name, "symlink")
    if stat.S_ISDIR(status.st_mode):
        return Entry(name.rstrip("/"), "submodule")
    if not stat.S_ISREG(status.st_mode):
        return Entry(name, "other")
    return Entry(name, "file", size=status.st_size)


def _revision(git: Git, commit: str, wanted: str | None, dirty: bool) -> Revision:
    branch = git.text("symbolic-ref", "--quiet", "--short", "HEAD")
    if wanted and branch != wanted:
        raise DocsRepoError(
            f"{git.folder} is on {branch or 'no branch'}, not on {wanted}. A folder is read as it "
            "lies: switch the branch there, or give its address as file://….",
            "ref_missing",
        )
    remote = git.text("remote", "get-url", "origin")
    # A commit that was never pushed cannot be opened at the remote.
    pushed = git.text("for-each-ref", "--count=1", "--contains", commit, "refs/remotes")
    return Revision(commit, branch, _public(remote) if remote and pushed else None, dirty)


def _public(address: str) -> str | None:
    try:
        return Remote.parse(address).url
    except DocsRepoError:
        return None
