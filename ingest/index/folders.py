"""Index folders in the data folder, and the pointer that says which of them answers.

           start             make_live              make_live of another
    none ────────> unfinished ────────> live ─────────────────────────────> replaced
     ^                │    ^             │                                     │
     │     remove     │    └─────────────┘ pointer damaged                     │
     └────────────────┴────────────────────────────────────────────────────────┘

live        The pointer ``current`` names it; searches read it. A run writes into it as long as it
            is sound and of the identity (embedder, chunker, schema) that the settings ask for.
            Otherwise it stays live until a complete folder takes its place, in one rename.
unfinished  A folder beside the live one, of a run that was cut off or whose self-test failed. The
            next run that needs another folder continues it if it is sound and of that identity.
replaced    The folder that was live before. Its vectors are used again until the pointer changes.

A complete run removes every folder beside the live one; a run that needs another folder removes
those that it does not continue. Removal is the only way to get Chroma's disk space back.
"""

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ingest.data_folder import check_place
from ingest.errors import DataFolderError, IndexDamaged

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
    """The folder that answers; None when nothing was ever completed.

    Raises IndexDamaged when the pointer leads nowhere, DataFolderError when no index can be there.
    """
    try:
        name = (data_dir / POINTER).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        check_place(data_dir)
        return None
    except IsADirectoryError:
        name = ""
    except OSError as error:
        raise DataFolderError(data_dir, error.strerror) from error
    folder = IndexFolder(data_dir / name)
    if not _NAME.fullmatch(name) or not folder.path.is_dir():
        raise IndexDamaged(f"{data_dir / POINTER} does not name an index")
    return folder


def sound_live(data_dir: Path) -> IndexFolder | None:
    """The same for whoever replaces it: None, too, when the pointer is damaged."""
    try:
        return live(data_dir)
    except IndexDamaged:
        return None


def unfinished(data_dir: Path) -> list[IndexFolder]:
    """Folders beside the live one: left by a run that did not come to its end."""
    current = sound_live(data_dir)
    return [folder for folder in _all(data_dir) if current is None or folder.path != current.path]


def start(data_dir: Path) -> IndexFolder:
    """Make the next folder."""
    numbers = [int(folder.name.removeprefix("index-")) for folder in _all(data_dir)]
    folder = IndexFolder(data_dir / f"index-{max(numbers, default=0) + 1}")
    try:
        folder.path.mkdir(parents=True)
    except OSError as error:
        raise DataFolderError(data_dir, error.strerror) from error
    return folder


def make_live(data_dir: Path, folder: IndexFolder) -> None:
    """Point searches at this folder, from one moment to the next."""
    pointer, draft = data_dir / POINTER, data_dir / f"{POINTER}.new"
    try:
        if pointer.is_dir():  # whoever made it, nothing could take its place
            shutil.rmtree(pointer)
        with draft.open("w", encoding="utf-8") as file:
            file.write(folder.name)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(pointer)
    except OSError as error:
        raise DataFolderError(data_dir, error.strerror) from error


def remove(folder: IndexFolder) -> None:
    # First what reading begins with: whoever opens the folder now finds all of it, or none.
    with suppress(OSError):
        folder.pages.unlink()
    shutil.rmtree(folder.path, ignore_errors=True)


def _all(data_dir: Path) -> list[IndexFolder]:
    if not data_dir.is_dir():
        return []
    return [IndexFolder(path) for path in data_dir.iterdir() if _NAME.fullmatch(path.name)]
