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
    walk = _Walk(checkout, start)
    walk.add(path)
    for _step in range(_MOST_STEPS):
        if not walk.waiting:
            break
        if entry := walk.step():
            return entry
    raise NotInRepo(MISSING)


class _Walk:
    """A place in the repository, and the names that lead on from there."""

    def __init__(self, checkout: Checkout, start: str) -> None:
        self._checkout = checkout
        self._place = start
        self._links = 0
        self.waiting: list[str] = []

    def add(self, path: str) -> None:
        """Put the names of a path before those that wait. Raises NotInRepo."""
        if path.startswith("/"):
            raise NotInRepo(OUTSIDE)
        self.waiting += path.split("/")[::-1]

    def step(self) -> Entry | None:
        """Follow one name; return the file that the last one names. Raises NotInRepo."""
        name = self.waiting.pop()
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
            self.add(target)
        elif entry.kind == "folder":
            self._place = entry.path
        elif entry.kind == "file" and not any(self.waiting):
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
