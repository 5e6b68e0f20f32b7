"""The lock of a data folder: one process at a time owns it, and is recorded by name.

The operating system holds the lock, so it ends with its process, even after a crash.
"""

import errno
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock, Timeout

from ingest.errors import DataFolderBusy, DataFolderError

# Another process may hold the lock for a moment to check for an owner.
_PATIENCE_SECONDS = 1.0
_locks: dict[Path, FileLock] = {}
"""The locks that this process holds, by data folder."""


@dataclass(frozen=True, slots=True)
class FolderOwner:
    """The process that owns a data folder."""

    pid: int
    host: str
    command: str
    since: str

    def __str__(self) -> str:
        return f"`{self.command}` (process {self.pid} on {self.host}, since {self.since})"


@contextmanager
def own_data_folder(path: Path) -> Iterator[FolderOwner]:
    """Own the data folder, which is created if missing.

    Raises DataFolderBusy, which names the owner, and DataFolderError.
    """
    lock = _lock(path)
    owner = _own(path, lock)
    _locks[path] = lock
    try:
        yield owner
    finally:
        del _locks[path]
        with suppress(OSError):
            _record(path).unlink()
        lock.release()


def own_again(path: Path) -> bool:
    """Own a folder again that was removed under this process. Return False if it is still there.

    Raises DataFolderBusy if another process owns the folder by now, and DataFolderError.
    """
    lock = _locks.get(path)
    if lock is None or (path / "owner.lock").exists():
        return False
    lock.release()
    _own(path, lock)
    return True


def _own(path: Path, lock: FileLock) -> FolderOwner:
    try:
        path.mkdir(parents=True, exist_ok=True)
        # The folder may be inside a repository, where it should not be committed.
        (path / ".gitignore").write_text("*\n")
        lock.acquire(timeout=_PATIENCE_SECONDS)
    except Timeout:
        owner = _recorded(path)
        raise DataFolderBusy(
            f"The data folder {path} is in use by {owner or 'another process'}, which is running. "
            "Stop it first, or set FOOTNOTE_DATA_DIR to another folder.",
            owner.pid if owner else None,
        ) from None
    except OSError as error:
        raise DataFolderError(path, error.strerror) from error
    owner = _this_process()
    try:
        _record(path).write_text(json.dumps(asdict(owner)))
    except OSError as error:
        lock.release()
        raise DataFolderError(path, error.strerror) from error
    return owner


def owner_of(path: Path) -> FolderOwner | None:
    """Return the present owner of the data folder, or None."""
    if not path.is_dir():
        return None
    lock = _lock(path)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return _recorded(path)
    lock.release()
    return None


def _lock(path: Path) -> FileLock:
    # For the whole process: another thread than the owning one may release it.
    return FileLock(path / "owner.lock", thread_local=False)


def _record(path: Path) -> Path:
    return path / "owner.json"


def _recorded(path: Path) -> FolderOwner | None:
    try:
        return FolderOwner(**json.loads(_record(path).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _this_process() -> FolderOwner:
    # The subcommand only: later arguments may be addresses with a password.
    words = [Path(sys.argv[0]).name, *sys.argv[1:2]]
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return FolderOwner(os.getpid(), socket.gethostname(), " ".join(words), since)


def check_place(path: Path) -> None:
    """Raise DataFolderError if the data folder is missing and cannot be created; create nothing."""
    if path.is_dir():
        return
    above = next((folder for folder in path.absolute().parents if folder.exists()), path)
    try:
        if path.exists():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        with TemporaryDirectory(prefix=".footnote-", dir=above):
            pass
    except OSError as error:
        raise DataFolderError(path, error.strerror) from error


def probe_data_folder(path: Path) -> str:
    """Return a line about the data folder. Raises DataFolderError if it cannot be written."""
    owner = owner_of(path)
    if owner is not None:
        return f"{path}, in use by {owner}"
    with own_data_folder(path):
        return f"{path} can be written"
