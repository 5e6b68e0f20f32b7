"""Globs as in .gitignore, from the docs root: which paths a list of them matches."""

import re
from collections.abc import Iterable

from pathspec import PathSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

Spec = PathSpec[GitIgnoreSpecPattern]


def checked_glob(glob: str) -> str:
    """The glob; raises ValueError, with the cure, for one that cannot match a page."""
    try:
        fits = all(pattern.include is not None for pattern in spec([glob]).patterns)
    except (ValueError, re.error):
        fits = False
    if not fits or not glob.strip() or ".." in glob.split("/"):
        raise ValueError(
            f"{glob!r} is no glob of pages: write it as in .gitignore, such as runbooks/** or *.txt"
        )
    return glob


def spec(globs: Iterable[str]) -> Spec:
    """Of the globs that match a path the last decides: ``!`` takes out again, folders too."""
    return PathSpec.from_lines(GitIgnoreSpecPattern, globs)
