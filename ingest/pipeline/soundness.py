"""An index folder -> whether the last run left it as it is.

A run that has ended notes size and time of each file, and the last write into the vectors. A folder
that is still the same needs no check, which would read all of it. Everything else leaves a trace: a
killed run, a restored backup, a person.
"""

import json
from contextlib import suppress
from typing import Any

from ingest.index.folders import IndexFolder
from ingest.store.chroma import last_write

_NOTE = "checked.json"
_PASSING = ("-shm", "-journal", "chroma.sqlite3")
"""Ends of the names of files that change when somebody reads."""


def is_as_noted(folder: IndexFolder) -> bool:
    """Return True if nothing was written into the folder since ``note``."""
    with suppress(OSError, ValueError):
        noted = json.loads((folder.path / _NOTE).read_bytes())
        return bool(noted == _traces(folder))
    return False


def note(folder: IndexFolder) -> None:
    """Note the state of a folder that a run has completed and closed."""
    with suppress(OSError):  # then the next run checks the folder
        (folder.path / _NOTE).write_text(json.dumps(_traces(folder)), encoding="utf-8")


def _traces(folder: IndexFolder) -> dict[str, Any]:
    files = {}
    for file in folder.path.rglob("*"):
        if file.name == _NOTE or file.name.endswith(_PASSING) or not file.is_file():
            continue
        status = file.stat()
        if status.st_size:  # a reader makes and deletes an empty log
            place = file.relative_to(folder.path).as_posix()
            # Chroma writes a small graph again whenever it opens one.
            is_graph = file.suffix == ".bin"
            files[place] = [status.st_size, 0 if is_graph else status.st_mtime_ns]
    # On a server the number of vectors has to do.
    return {"files": files, "vectors": last_write(folder.chroma) if folder.chroma.is_dir() else 0}
