"""Git history -> date of the last change of each file, in one pass that later runs continue."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from ingest.errors import DataFolderError
from ingest.repo.git import MOST_ENTRIES, Git

_MOST_RECORDS = 10_000_000
_MOST_BYTES = 1_000_000_000
_COMMIT = re.compile(rb"\x01([0-9a-f]{40,64}) (\d{1,20})\n?")


class _Memory(BaseModel):
    """Content of the memory file, which may be cut off or from another program."""

    root: str
    commit: str = Field(pattern=r"^[0-9a-f]{40,64}$")
    times: dict[str, int]


def last_changes(git: Git, commit: str, root: str, memory: Path) -> dict[str, datetime]:
    """Return the time of the newest commit that touched each file, by path from the top.

    The file ``memory`` stores the result, so that the next run reads only the commits since.
    """
    last, times = _recall(memory, root)
    reachable = last and git.text("merge-base", "--is-ancestor", last, commit) is not None
    if not reachable:
        last, times = None, {}
    if last != commit:
        span = f"{last}..{commit}" if last else commit
        for path, time in _changes(git, span, root).items():
            times[path] = max(time, times.get(path, 0))
        _remember(memory, root, commit, times)
    return {path: moment for path, time in times.items() if (moment := _moment(time))}


def _moment(time: int) -> datetime | None:
    """Time as a date; None outside the years that a date can have."""
    try:
        return datetime.fromtimestamp(time, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _changes(git: Git, span: str, root: str) -> dict[str, int]:
    # In a shallow history the oldest commits seem to add every file: their dates are wrong.
    shallow_file = git.folder / (git.text("rev-parse", "--git-path", "shallow") or "shallow")
    cut = set(shallow_file.read_bytes().split()) if shallow_file.is_file() else set()
    # Finding renames would need the content of files, which is fetched on demand.
    log = git.stream(
        *("log", "-z", "--name-only", "--no-renames", "--no-show-signature", "--no-ext-diff"),
        *("--format=%x01%H %ct", span, "--", *([f":(top,literal){root}"] if root else [])),
        most=_MOST_RECORDS,
        most_bytes=_MOST_BYTES,
    )
    times: dict[str, int] = {}
    time, true = 0, True
    for record in log:
        path = record.lstrip(b"\n")
        if commit := _COMMIT.match(path):
            time, true = int(commit[2]), commit[1] not in cut
            path = path[commit.end() :]
        if path and true:
            name = path.decode(errors="replace")  # no file with such a name is indexed
            times[name] = max(time, times.get(name, 0))
            if len(times) > MOST_ENTRIES:
                raise git.too_large("log")
    return times


def _recall(memory: Path, root: str) -> tuple[str | None, dict[str, int]]:
    try:
        stored = _Memory.model_validate_json(memory.read_bytes())
    except (OSError, ValidationError):
        return None, {}  # dates are read again from history
    return (stored.commit, stored.times) if stored.root == root else (None, {})


def _remember(memory: Path, root: str, commit: str, times: dict[str, int]) -> None:
    draft = memory.with_suffix(".draft")
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({"root": root, "commit": commit, "times": times}))
        draft.replace(memory)
    except OSError as error:
        raise DataFolderError(memory, error.strerror) from error
