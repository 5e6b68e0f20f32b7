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


def follow(checkout: Checkout, path: str) -> Entry:
    """Return the file at a path from the top of the repo. Raises NotInRepo."""
    if path.startswith("/"):
        raise NotInRepo(OUTSIDE)
    waiting = path.split("/")[::-1]
    place: list[str] = []
    links = steps = 0
    while waiting:
        name = waiting.pop()
        steps += 1
        if steps > _MOST_STEPS:
            break
        if name in ("", "."):
            continue
        if name == "..":
            if not place:
                raise NotInRepo(OUTSIDE)
            place.pop()
            continue
        entry = checkout.folder("/".join(place)).get(name)
        if entry is None or name.lower() == ".git":
            break
        if entry.kind == "symlink":
            links += 1
            target = checkout.link(entry)
            if links > _MOST_LINKS or target is None:
                break
            if target.startswith("/"):
                raise NotInRepo(OUTSIDE)
            waiting += target.split("/")[::-1]
        elif entry.kind == "folder":
            place.append(name)
        elif entry.kind == "file" and not any(waiting):
            return entry
        else:
            break
    raise NotInRepo(MISSING)


def from_docs_root(checkout: Checkout, path: str) -> str:
    """A path from the top of the repo -> one from the docs root, which may begin with ``../``."""
    return posixpath.relpath(path, checkout.docs_root or ".")


def from_top(checkout: Checkout, path: str) -> str:
    """A path from the docs root -> one from the top of the repo."""
    return posixpath.normpath(posixpath.join(checkout.docs_root, path))
