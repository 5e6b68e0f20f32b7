"""Index folders in the data folder, and the pointer that says which of them answers.

``current`` holds the name of the live one. Another is built beside it and takes its place in one
rename; only then the old folder goes, which is the only way to get Chroma's disk space back.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import DataFolderError

POINTER = "current"
_NAME = re.compile(r"index-(\d+)")


@dataclass(frozen=True, slots=True)
class IndexFolder:
    """Where the two halves of one index lie."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def chroma(self) -> Path:
        return self.path / "chroma"

    @property
    def pages(self) -> Path:
        return self.path / "pages.sqlite"


def live(data_dir: Path) -> IndexFolder | None:
    """The folder that answers; None when nothing was ever completed."""
    try:
        name = (data_dir / POINTER).read_text(encoding="utf-8", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    folder = IndexFolder(data_dir / name)
    return folder if _NAME.fullmatch(name) and folder.path.is_dir() else None


def unfinished(data_dir: Path) -> list[IndexFolder]:
    """Folders beside the live one: left by a run that did not come to its end."""
    current = live(data_dir)
    return [folder for folder in _all(data_dir) if current is None or folder.path != current.path]


def start(data_dir: Path) -> IndexFolder:
    """Make the next folder."""
    numbers = [int(folder.name.removeprefix("index-")) for folder in _all(data_dir)]
    folder = IndexFolder(data_dir / f"index-{max(numbers, default=0) + 1}")
    try:
        folder.path.mkdir(parents=True)
    except OSError as error:
        raise DataFolderError(
            f"The data folder {data_dir} cannot be written ({error.strerror}): "
            "correct its permissions, or set FOOTNOTE_DATA_DIR."
        ) from error
    return folder


def make_live(data_dir: Path, folder: IndexFolder) -> None:
    """Point searches at this folder, from one moment to the next."""
    draft = data_dir / f"{POINTER}.new"
    with draft.open("w", encoding="utf-8") as file:
        file.write(folder.name)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(data_dir / POINTER)


def remove(folder: IndexFolder) -> None:
    shutil.rmtree(folder.path, ignore_errors=True)


def _all(data_dir: Path) -> list[IndexFolder]:
    if not data_dir.is_dir():
        return []
    return [IndexFolder(path) for path in data_dir.iterdir() if _NAME.fullmatch(path.name)]
