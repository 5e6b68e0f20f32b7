"""Documents that were read for their words -> a temporary file -> the same, for their vectors.

Reading a document takes about a tenth of the time that its vectors take. The file has no name, so
that it is gone when the run ends, however it ends.
"""

import pickle
import tempfile
from pathlib import Path
from typing import Generic, TypeVar

from ingest.errors import DataFolderError

T = TypeVar("T")


class Spool(Generic[T]):
    """Values by name, in a file: each is put in once and taken out once."""

    def __init__(self, folder: Path) -> None:
        """Raises DataFolderError."""
        self._folder = folder
        self._places: dict[str, tuple[int, int]] = {}
        """Offset and length by name."""
        self._end = 0
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # closed by close()
        except OSError as error:
            raise DataFolderError(folder, error.strerror) from error

    def put(self, name: str, value: T) -> None:
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        try:
            self._file.seek(self._end)
            self._file.write(data)
        except OSError as error:
            raise DataFolderError(self._folder, error.strerror) from error
        self._places[name] = (self._end, len(data))
        self._end += len(data)

    def take(self, name: str) -> T | None:
        """Return the value of this name, or None."""
        place = self._places.pop(name, None)
        if place is None:
            return None
        try:
            self._file.seek(place[0])
            value: T = pickle.loads(self._file.read(place[1]))  # noqa: S301  # written above
        except OSError as error:
            raise DataFolderError(self._folder, error.strerror) from error
        return value

    def close(self) -> None:
        self._file.close()
