"""A pattern of CODEOWNERS -> a regular expression whose matches take no backtracking over stars.

A star takes the shortest text that lets the next piece match (``(?>…)``): a longer one cannot help
where another star follows. So the time for a path does not explode with the number of stars.
"""

import re
from itertools import groupby

_CHARACTERS = re.compile(r"\\.|\[[!^]?\]?[^][]*\]|\*|[^\\*]|\\", re.DOTALL)
_END = r"(?=/|\Z)"


def owner_glob(pattern: str) -> re.Pattern[str] | None:
    """Return the expression for ``match`` on paths from the top of the repo.

    It is None for a pattern that matches nothing. Raises re.error for a malformed set.
    """
    is_folder = pattern.endswith("/")
    parts = pattern.strip("/").split("/")
    if parts == [""]:
        return None
    # Without a slash before its end, a pattern matches at any depth.
    if "/" not in pattern.rstrip("/"):
        parts = ["**", *parts]
    below_only = is_folder or parts[-1] == "**"
    while parts and parts[-1] == "**":
        parts.pop()
    if not parts:
        parts, below_only = ["*"], is_folder
    # `docs/*` names the files in a folder, not those below it, as on the code hosts.
    end = r"\Z" if pattern.endswith("/*") else "/" if below_only else _END
    return re.compile(_path(parts, end))


def _path(parts: list[str], end: str) -> str:
    pieces: list[str] = []
    depth_is_free = False
    runs = [(free, list(run)) for free, run in groupby(parts, key=lambda part: part == "**")]
    for number, (is_free, run) in enumerate(runs):
        if is_free:
            depth_is_free = True
            continue
        chunk = "/".join(map(_part, run))
        last = number == len(runs) - 1
        if not depth_is_free:
            pieces.append(chunk + (end if last else "/"))
        elif last:
            pieces.append(f"(?:[^/]+/)*?{chunk}{end}")
        else:
            pieces.append(f"(?>(?:[^/]+/)*?{chunk}/)")
        depth_is_free = False
    return "".join(pieces)


def _part(glob: str) -> str:
    """Expression for one part of a path."""
    pieces = [""]
    for character in _CHARACTERS.findall(glob):
        if character == "*":
            pieces.append("")
        else:
            pieces[-1] += _character(character)
    first, *more = pieces
    if not more:
        return first
    *middle, last = (piece for number, piece in enumerate(more) if piece or number == len(more) - 1)
    some = "[^/]+" if pieces == ["", ""] else "[^/]*"
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + f"{some}{last}{_END}"


def _character(character: str) -> str:
    if character == "?":
        return "[^/]"
    if len(character) > 2 and character[0] == "[":
        is_negated = character[1] in "!^"
        body = character[2 if is_negated else 1 : -1]
        # Python reads `--`, `&&`, `||` and `~~` in a set as operators of its own.
        body = re.sub(r"[\\&|~]", r"\\\g<0>", re.sub("--+", "-", body))
        return f"(?!/)[{'^' if is_negated else ''}{body}]"
    return re.escape(character[1:] if len(character) == 2 and character[0] == "\\" else character)
