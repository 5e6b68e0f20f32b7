"""A local folder -> a checkout of its files as they are, with dates and revision from git."""

import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ingest.documents import Revision, Skipped
from ingest.errors import DocsRepoError
from ingest.readers.kinds.recognition import form_of
from ingest.readers.loader import why_no_page
from ingest.repo.beneath import is_behind_link, read_beneath
from ingest.repo.checkout import (
    LINK,
    Checkout,
    Entry,
    File,
    Selection,
    content_id,
    is_hidden,
    is_too_large,
    root_parts,
    too_large_to_use,
)
from ingest.repo.commit import tree_entries, tree_files
from ingest.repo.git import MOST_ENTRIES, Git, algorithm_of
from ingest.repo.git_address import Remote
from ingest.repo.last_changed import last_changes
from ingest.repo.local import WorkTree, open_work_tree
from ingest.repo.owners import Owners
from ingest.repo.repo_paths import from_top
from ingest.shorten import shorten_end
from ingest.sources import DocsSource

_SHOWN = 500
"""Maximum number of characters of the path of a folder that cannot be read."""


class FolderCheckout(Checkout):
    """The docs in a local folder, inside git or not."""

    def __init__(self, folder: Path, source: DocsSource, data_dir: Path) -> None:
        configured = self._configured = folder.resolve()
        self._data_dir, self._timeout = data_dir.resolve(), source.git_timeout
        self._folders: dict[str, dict[str, Entry]] = {}
        self._docs = _docs_folder(folder, source.root)
        self.selection = Selection.of(source)
        self.revision, self.warnings = Revision(None), []
        changes: dict[str, datetime | None] = {}
        self._times: dict[str, datetime] = {}
        with open_work_tree(self._docs, configured, source.git_timeout, self.warnings) as tree:
            self._top = tree.top if tree else configured
            self.docs_root = "/".join(self._docs.relative_to(self._top).parts)
            taken = self._taken(tree, self._data_dir)
            commit = tree.repository.head() if tree else None
            if tree and commit:
                branch = _branch(tree, source.branch, commit)
                try:
                    committed = self._committed(tree.git, commit)
                    dirty = committed != {entry.path: entry.id for entry in taken}
                    self.revision = Revision(commit, branch, _public(tree, commit), dirty)
                    memory = data_dir / "dates.json"
                    times = self._times = last_changes(tree.git, commit, self.docs_root, memory)
                    # The time of a commit says nothing about a file that was edited since.
                    unedited = [e.path for e in taken if committed.get(e.path) == e.id]
                    changes = {path: times.get(self._from_top(path)) for path in unedited}
                except DocsRepoError as error:
                    if error.kind == "timeout":
                        raise
                    # The files are readable even if git lacks objects.
                    lost = "dates" if self.revision.commit else "dates and links"
                    self.warnings.append(f"{error} The pages are indexed without {lost}.")
            elif source.branch:
                raise DocsRepoError(
                    f"{folder} has no commit of git, so it is not on branch {source.branch}."
                    " Leave FOOTNOTE_DOCS_BRANCH out.",
                    "ref_missing",
                )
        self._owners = owners = Owners.first(self.find)
        self.files = [
            File(e.path, e.size, e.id, changes.get(e.path), owners.of(self._from_top(e.path)))
            for e in taken
        ]

    def read(self, file: File) -> bytes:
        place = self._docs / file.path
        try:
            data = read_beneath(self._top, from_top(self, file.path))
        except OSError as error:
            raise _moving(place, "went away") from error
        if content_id(data, algorithm_of(file.fingerprint)) != file.fingerprint:
            raise _moving(
                place, "changed"
            )  # or the index would hold one text under the id of another
        return data

    def find(self, path: str) -> bytes | None:
        try:
            data = read_beneath(self._top, path, self.selection.max_bytes + 1)
        except OSError:
            return None
        if len(data) > self.selection.max_bytes:
            self.warnings.append(too_large_to_use(path, self.selection.max_bytes))
            return None
        return data

    def folder(self, path: str) -> Mapping[str, Entry]:
        if path not in self._folders:
            self._folders[path] = self._listed(path)
        return self._folders[path]

    def _listed(self, path: str) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        try:
            places = list((self._top / path).iterdir())
        except OSError:
            return found
        for place in places:
            name = place.name
            entry = _entry(str(place), f"{path}/{name}".lstrip("/"))
            # The index is not part of the docs.
            if entry is None or place.is_relative_to(self._data_dir):
                continue
            if entry.kind == "submodule" and not os.path.lexists(place / ".git"):
                entry = replace(entry, kind="folder")
            found[name] = entry
        return found

    def link(self, entry: Entry) -> str | None:
        try:
            return str((self._top / entry.path).readlink())
        except OSError:
            return None

    def files_at(self, entries: Collection[Entry]) -> dict[str, File | str]:
        found: dict[str, File | str] = {}
        if not entries:
            return found
        with open_work_tree(self._docs, self._configured, self._timeout, []) as tree:
            paths = [entry.path for entry in entries]
            listed = tree.known(paths) if tree else set(paths)
            algorithm = tree.repository.object_format if tree else "sha1"
            commit = self.revision.commit if tree else None
            committed = (
                {e.path: e.id for e in tree_files(tree.git, commit, paths)}
                if tree and commit
                else {}
            )
            for entry in entries:
                if reason := self.selection.too_large(entry.size):
                    found[entry.path] = reason
                elif entry.path not in listed:
                    found[entry.path] = "git ignores it"
                elif is_hidden(entry.path) and entry.path not in committed:
                    found[entry.path] = "its path has a dot name, and no commit has it"
                else:
                    found[entry.path] = self._included(entry, algorithm, committed)
        return found

    def _included(self, entry: Entry, algorithm: str, committed: Mapping[str, str]) -> File | str:
        try:
            data = read_beneath(self._top, entry.path)
        except OSError as error:
            return f"unreadable: {error.strerror}"
        id_ = content_id(data, algorithm)
        is_edited = committed.get(entry.path) != id_
        if self.revision.commit and is_edited:
            self.revision = replace(self.revision, dirty=True)
        date = None if is_edited else self._times.get(entry.path)
        return File(entry.path, len(data), id_, date, self._owners.of(entry.path))

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _from_top(self, path: str) -> str:
        return f"{self.docs_root}/{path}" if self.docs_root else path

    def _taken(self, tree: WorkTree | None, data_dir: Path) -> list[Entry]:
        """Entries to read; the others go into ``skipped``."""
        unreadable: list[Skipped] = []
        names = tree.files() if tree else _walked(self._docs, unreadable)
        entries = [entry for name in names if (entry := _entry(self._place(name), name))]
        # The index is not part of the docs.
        data = f"{data_dir}/"
        entries = [e for e in entries if not f"{self._place(e.path)}/".startswith(data)]
        taken, self.skipped = self.selection.split(entries)
        self.skipped += unreadable
        return self._identified(taken, tree.repository.object_format if tree else "sha1")

    def _identified(self, entries: list[Entry], algorithm: str) -> list[Entry]:
        """Add the id of its content to each entry; unreadable files go into ``skipped``."""
        readable = []
        for entry in entries:
            try:
                data = read_beneath(self._docs, entry.path)
            except OSError as error:
                why = LINK if is_behind_link(error) else f"unreadable: {error.strerror}"
                self.skipped.append(Skipped(entry.path, why))
                continue
            if reason := why_no_page(entry.path, data):
                self.skipped.append(Skipped(entry.path, reason))
            else:
                readable.append(Entry(entry.path, "file", content_id(data, algorithm), len(data)))
        return readable

    def _place(self, path: str) -> str:
        """Return the place of a file as a text: a path object costs more than the file itself."""
        return f"{self._docs}/{path}"

    def _committed(self, git: Git, commit: str) -> dict[str, str]:
        """Content id by path, of the files that would be read at HEAD."""
        entries = tree_entries(git, commit, self.docs_root)
        taken, _ = self.selection.split(entries)
        left_out = {
            skipped.path
            for skipped in self.skipped
            if is_too_large(skipped) or form_of(skipped.path) != "page"
        }
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


def _walked(folder: Path, skipped: list[Skipped]) -> list[str]:
    """Paths of files and links below a folder; folders that cannot be read go into ``skipped``."""
    names: list[str] = []
    waiting = [""]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(folder / place) as entries:
                for entry in entries:
                    name = f"{place}{entry.name}"
                    if not entry.is_dir(follow_symlinks=False):
                        names.append(name)
                    elif entry.name != ".git":
                        waiting.append(f"{name}/")
                    if len(names) + len(waiting) > MOST_ENTRIES:
                        raise DocsRepoError(
                            f"{folder} has more than {MOST_ENTRIES} files and folders. Name a"
                            " smaller folder in FOOTNOTE_DOCS_ROOT.",
                            "too_large",
                        )
        except OSError as error:
            name = shorten_end(place.rstrip("/"), _SHOWN)
            skipped.append(Skipped(name, f"unreadable: {error.strerror}"))
    return names


def _entry(place: str, name: str) -> Entry | None:
    try:
        status = os.lstat(place)
    except OSError:
        return None  # deleted here, but still listed by git
    if stat.S_ISLNK(status.st_mode):
        return Entry(name, "symlink")
    if stat.S_ISDIR(status.st_mode):
        return Entry(name.rstrip("/"), "submodule")
    if not stat.S_ISREG(status.st_mode):
        return Entry(name, "other")
    return Entry(name, "file", size=status.st_size)


def _branch(tree: WorkTree, wanted: str | None, commit: str) -> str | None:
    branch = tree.repository.branch()
    if wanted in (None, branch) or (wanted and tree.repository.commit_of(wanted) == commit):
        return branch or wanted
    raise DocsRepoError(
        f"{tree.top} is on {branch or 'no branch'}, not on {wanted}. A folder is read as it "
        "is: check that out there, or give its address as file://….",
        "ref_missing",
    )


def _public(tree: WorkTree, commit: str) -> str | None:
    """The remote's address; None for a commit never pushed, which cannot be opened there."""
    address = tree.repository.origin()
    if not address or not tree.has_pushed(commit):
        return None
    try:
        return Remote.parse(address).url
    except DocsRepoError:
        return None
