"""Globs in the syntax of .gitignore, relative to the docs root."""

import re
from collections.abc import Iterable

from pathspec import PathSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

Spec = PathSpec[GitIgnoreSpecPattern]


def checked_glob(glob: str) -> str:
    """Return the glob. Raises ValueError, with the cure, for one that cannot match any file."""
    try:
        is_valid = all(pattern.include is not None for pattern in spec([glob]).patterns)
    except (ValueError, re.error):
        is_valid = False
    if not is_valid or not glob.strip() or ".." in glob.split("/"):
        raise ValueError(
            f"{glob!r} is not a glob: write it as in .gitignore, such as runbooks/** or *.txt"
        )
    return glob


def spec(globs: Iterable[str]) -> Spec:
    """Compile globs. The last match of a path decides; ``!`` excludes, folders too."""
    return PathSpec.from_lines(GitIgnoreSpecPattern, globs)
