"""A path below a folder -> the bytes of the file there, without following any link.

Each part of the path is opened in the folder before it. So what becomes a link, a pipe or a device
after it was listed is not followed, and not waited for.
"""

import errno
import os
import stat
from pathlib import Path, PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def read_beneath(top: Path | str, path: str, most: int | None = None) -> bytes:
    """Return the bytes of a regular file, ``most`` at most. Raises OSError."""
    *folders, name = PurePosixPath(path).parts or ("",)
    place = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            below = _opened(folder, _FOLDER, place)
            os.close(place)
            place = below
        file = _opened(name, _FILE, place)
    finally:
        os.close(place)
    with open(file, "rb") as opened:  # noqa: PTH123  # it is open already
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        return opened.read() if most is None else opened.read(most)


def is_behind_link(error: OSError) -> bool:
    """Return True for the error of a path that leads through a link."""
    return error.errno in (errno.ELOOP, errno.ENOTDIR)


def _opened(name: str, flags: int, folder: int) -> int:
    if name == ".." or name.startswith("/"):
        raise OSError(errno.EINVAL, "outside the folder", name)
    return os.open(name, flags, dir_fd=folder)
