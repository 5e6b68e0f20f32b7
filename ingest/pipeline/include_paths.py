"""A directive of a page -> the file of the repository that it names."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from mimetypes import guess_type

from ingest.readers.includes.shown_part import Include
from ingest.repo import Checkout
from ingest.repo.checkout import Entry
from ingest.repo.repo_paths import OUTSIDE, NotInRepo, follow, from_top, has_folder

FOLDERS = ("_includes", "includes", "_partials", "partials", "_snippets", "snippets", "examples")
"""Folders of a site, above a page, that hold what pages include."""
MOST_HEIGHTS = 20
"""Maximum number of folders above a page that are searched."""
_RESOURCE = re.compile(r"(?:[^:$]*+:)*?([^:$@]*+:)?([a-z]++)\$(.+)")
"""Antora: ``[[version@]component:][module:]family$path``."""
_FOLDER_ATTRIBUTE = re.compile(r"\{([a-z]+?)s?-?dir\}/?")
_UNSET = re.compile(r"\{[\w-]*\}/?")
_LEADING = re.compile(r"(?:\.{0,2}/)*+")
_NO_TEXT = ("image/", "audio/", "video/", "font/")


class IncludePaths:
    """Finds the included files of one checkout."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout
        self._by_name: dict[str, str] = {}
        for file in sorted(checkout.files, key=lambda file: (file.path.count("/"), file.path)):
            path = from_top(checkout, file.path)
            name = posixpath.basename(path)
            for key in (name, posixpath.splitext(name)[0]):
                self._by_name.setdefault(_folded(key).removeprefix("template:"), path)
        self._shared: dict[str, list[str]] = {}

    def entry(self, include: Include, page: str) -> Entry:
        """Return the file that a page, given from the docs root, includes. Raises NotInRepo."""
        if "://" in include.target:
            raise NotInRepo(OUTSIDE)
        kind = guess_type(include.target)[0] or ""
        if not include.is_certain and kind.startswith(_NO_TEXT):
            raise NotInRepo("it is no text")
        reason: NotInRepo | None = None
        for start, path in self._candidates(include, from_top(self._checkout, page)):
            try:
                return follow(self._checkout, path, start)
            except NotInRepo as error:
                reason = reason or error
        raise reason or NotInRepo(OUTSIDE)

    def _candidates(self, include: Include, page: str) -> Iterator[tuple[str, str]]:
        """Folders from the top of the repo, each with a path from there, likeliest first."""
        folder, target = posixpath.dirname(page), include.target
        if "$" in target or "{" in target:
            target = _FOLDER_ATTRIBUTE.sub(r"\1$", target) if "$" not in target else target
            yield from (("", path) for path in _antora(target, page))
            target = _UNSET.sub("", include.target)
        if not target.startswith("/"):
            yield folder, target
        if include.searches:
            relative = _LEADING.sub("", target, count=1)
            above = [folder, *_above(folder)]
            shared = (shared for place in above for shared in self._shared_folders(place))
            yield from ((place, relative) for place in (*above, *shared))
            path = self._by_name.get(_folded(posixpath.basename(relative)))
            if path and _ends_with(path, relative):
                yield "", path

    def _shared_folders(self, place: str) -> list[str]:
        """Folders in a place that hold what pages include."""
        if place not in self._shared:
            self._shared[place] = [
                posixpath.join(place, name)
                for name in FOLDERS
                if has_folder(self._checkout, name, place)
            ]
        return self._shared[place]


def _ends_with(path: str, end: str) -> bool:
    """Return True if a page's path ends with that of a link between notes."""
    folder = _folded(posixpath.dirname(end))
    return not folder or f"/{_folded(posixpath.dirname(path))}".endswith(f"/{folder}")


def _folded(name: str) -> str:
    """Fold what differs between the name of a wiki page and that of its file."""
    return name.casefold().replace("_", " ").replace("-", " ")


def _above(folder: str) -> Iterator[str]:
    """The nearest folders above a folder, and the top of the repo."""
    for _height in range(MOST_HEIGHTS):
        if not folder:
            return
        folder = posixpath.dirname(folder)
        yield folder
    if folder:
        yield ""


def _antora(target: str, page: str) -> Iterable[str]:
    """Paths of ``module:partial$file`` in the folders of Antora's modules."""
    match = _RESOURCE.fullmatch(target)
    before, modules, after = f"/{page}".rpartition("/modules/")
    if not match or not modules:
        return ()
    module = (match[1] or "").rstrip(":") or after.partition("/")[0]
    base, family = posixpath.join(before, "modules", module).lstrip("/"), match[2]
    folders = (f"{family}s", f"pages/_{family}s", f"_{family}s", f"assets/{family}s")
    return [posixpath.join(base, name, match[3]) for name in folders]
