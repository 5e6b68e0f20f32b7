"""A path as a page writes it -> the file that it names in the repository, through links.

Each part of the path is looked up in the folder that the parts before it name, so no path and no
link can lead out of the repository.
"""

import posixpath

from ingest.repo.checkout import Checkout, Entry

_MOST_STEPS = 1_000
_MOST_LINKS = 20


class NotInRepo(Exception):
    """A path that names no file of the repository; the reason is its text."""


MISSING = "there is no such file"
OUTSIDE = "outside the repository"


def follow(checkout: Checkout, path: str, start: str = "") -> Entry:
    """Return the file at a path from ``start``, a folder of the repo. Raises NotInRepo."""
    if entry := _Walk(checkout, start).to_end(path):
        return entry
    raise NotInRepo(MISSING)


def has_folder(checkout: Checkout, name: str, start: str) -> bool:
    """Return True if a name in ``start``, a folder of the repo, is that of a folder."""
    try:
        return _Walk(checkout, start).to_end(name) is None
    except NotInRepo:
        return False


class _Walk:
    """A place in the repository, and the names that lead on from there."""

    def __init__(self, checkout: Checkout, start: str) -> None:
        self._checkout = checkout
        self._place = start
        self._links = 0
        self._waiting: list[str] = []

    def to_end(self, path: str) -> Entry | None:
        """Follow a path; return its file, None if it names a folder. Raises NotInRepo."""
        self._add(path)
        for _step in range(_MOST_STEPS):
            if not self._waiting:
                return None
            if entry := self._step():
                return entry
        raise NotInRepo(MISSING)

    def _add(self, path: str) -> None:
        """Put the names of a path before those that wait. Raises NotInRepo."""
        if path.startswith("/"):
            raise NotInRepo(OUTSIDE)
        self._waiting += path.split("/")[::-1]

    def _step(self) -> Entry | None:
        """Follow one name; return the file that the last one names. Raises NotInRepo."""
        name = self._waiting.pop()
        if name == "..":
            if not self._place:
                raise NotInRepo(OUTSIDE)
            self._place = self._place.rpartition("/")[0]
        elif name not in ("", "."):
            return self._enter(name)
        return None

    def _enter(self, name: str) -> Entry | None:
        entry = self._checkout.folder(self._place).get(name)
        if entry is None or name.lower() == ".git":
            raise NotInRepo(MISSING)
        if entry.kind == "symlink":
            self._links += 1
            target = self._checkout.link(entry)
            if self._links > _MOST_LINKS or target is None:
                raise NotInRepo(MISSING)
            self._add(target)
        elif entry.kind == "folder":
            self._place = entry.path
        elif entry.kind == "file" and not any(self._waiting):
            return entry
        else:
            raise NotInRepo(MISSING)
        return None


def from_docs_root(checkout: Checkout, path: str) -> str:
    """A path from the top of the repo -> one from the docs root, which may begin with ``../``."""
    return posixpath.relpath(path, checkout.docs_root or ".")


def from_top(checkout: Checkout, path: str) -> str:
    """A path from the docs root -> one from the top of the repo."""
    return posixpath.normpath(posixpath.join(checkout.docs_root, path))
