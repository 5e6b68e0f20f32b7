"""An index folder -> whether the last run left it as it is.

A run that has ended notes size and time of each file. A folder whose files are still the same needs
no check, which would read all of it. Everything else changes a file: a killed run, a failing disk,
a restored backup, a person.
"""

import json
from contextlib import suppress

from ingest.index.folders import IndexFolder

_NOTE = "checked.json"
_PASSING = ("-shm", "-journal")
"""Ends of the names of files that readers of a database make and delete."""


def is_as_noted(folder: IndexFolder) -> bool:
    """Return True if no file has changed since ``note``."""
    with suppress(OSError, ValueError):
        noted = json.loads((folder.path / _NOTE).read_bytes())
        return bool(noted == _files(folder))
    return False


def note(folder: IndexFolder) -> None:
    """Note the files of a folder that a run has completed and closed."""
    with suppress(OSError):  # then the next run checks the folder
        (folder.path / _NOTE).write_text(json.dumps(_files(folder)), encoding="utf-8")


def _files(folder: IndexFolder) -> dict[str, list[int]]:
    files = {}
    for file in folder.path.rglob("*"):
        if file.name == _NOTE or file.name.endswith(_PASSING) or not file.is_file():
            continue
        status = file.stat()
        if status.st_size:  # a reader makes and deletes an empty log
            place = file.relative_to(folder.path).as_posix()
            files[place] = [status.st_size, status.st_mtime_ns]
    return files
