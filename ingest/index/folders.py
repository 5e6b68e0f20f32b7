"""Index folders in the data folder, and the pointer to the one that searches read.

           start             make_live              make_live of another
    none ────────> unfinished ────────> live ─────────────────────────────> replaced
     ^                │    ^             │                                     │
     │     remove     │    └─────────────┘ pointer damaged                     │
     └────────────────┴────────────────────────────────────────────────────────┘

live        The pointer ``current`` names this folder, and searches read it. A run writes into it if
            it is sound and has the identity (embedder, chunker, schema) that the settings ask for.
            Otherwise it stays live until a complete folder replaces it, in one rename. Where no
            sound folder is live, the new one is live from its first document on: searches read
            what there is, and its metadata lack the facts of a completed ingest. A search
            that cannot read it leaves a file ``damaged`` in it: then no run takes it for sound.
unfinished  A folder beside the live one, left by a run that was cut off or whose self-test failed.
            The next run that needs a new folder continues it if it is sound and has its identity.
replaced    The folder that was live before. Its vectors are reused until the pointer changes.

A complete run removes every folder beside the live one. A run that needs a new folder removes those
that it does not continue. Chroma frees disk space only when its folder is removed.
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
    """The places of one index's vectors and tables."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def chroma(self) -> Path:
        return self.path / "chroma"

    @property
    def damage(self) -> Path:
        """File with the words of an error: a search cannot read this folder."""
        return self.path / "damaged"

    @property
    def database(self) -> Path:
        """SQLite file with documents, chunks and words."""
        return self.path / "pages.sqlite"


def live(data_dir: Path) -> IndexFolder | None:
    """Return the folder that searches read, or None before the first ingest.

    Raises IndexDamaged if the pointer names no index, DataFolderError if the folder is unusable.
    """
    name = _pointer(data_dir)
    while name is not None:
        folder = IndexFolder(data_dir / name)
        if _NAME.fullmatch(name) and folder.path.is_dir():
            return folder
        before, name = name, _pointer(data_dir)
        if name == before:  # else a run has just replaced and removed that folder
            raise IndexDamaged(f"{data_dir / POINTER} does not name an index")
    return None


def _pointer(data_dir: Path) -> str | None:
    """Return the content of the pointer, empty if it is a folder; None if it does not exist."""
    try:
        return (data_dir / POINTER).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        check_place(data_dir)
        return None
    except IsADirectoryError:
        return ""
    except OSError as error:
        raise DataFolderError(data_dir, error.strerror) from error


def note_damage(folder: IndexFolder, cause: str) -> None:
    """Tell the next run that a search cannot read this folder: a check may find it sound."""
    with suppress(OSError):  # a folder that cannot be written is not rebuilt either
        folder.damage.write_text(cause, encoding="utf-8")


def noted_damage(folder: IndexFolder) -> str | None:
    """Return the words that ``note_damage`` left, or None."""
    with suppress(OSError):
        return folder.damage.read_text(encoding="utf-8", errors="replace")
    return None


def sound_live(data_dir: Path) -> IndexFolder | None:
    """Like ``live``, but None if the pointer is damaged, for a run that replaces the index."""
    try:
        return live(data_dir)
    except IndexDamaged:
        return None


def unfinished(data_dir: Path) -> list[IndexFolder]:
    """Folders beside the live one, left by runs that did not finish."""
    current = sound_live(data_dir)
    return [folder for folder in all_of(data_dir) if current is None or folder.path != current.path]


def start(data_dir: Path) -> IndexFolder:
    """Create the next folder."""
    numbers = [int(folder.name.removeprefix("index-")) for folder in all_of(data_dir)]
    folder = IndexFolder(data_dir / f"index-{max(numbers, default=0) + 1}")
    try:
        folder.path.mkdir(parents=True)
    except OSError as error:
        raise DataFolderError(data_dir, error.strerror) from error
    return folder


def make_live(data_dir: Path, folder: IndexFolder) -> None:
    """Point searches at this folder, in one atomic step."""
    pointer, draft = data_dir / POINTER, data_dir / f"{POINTER}.new"
    try:
        if pointer.is_dir():  # a folder of this name would block the file
            shutil.rmtree(pointer)
        with draft.open("w", encoding="utf-8") as file:
            file.write(folder.name)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(pointer)
    except OSError as error:
        raise DataFolderError(data_dir, error.strerror) from error


def remove(folder: IndexFolder) -> None:
    """Delete the folder, its database first."""
    # Readers open the database first: they find the whole index or none of it.
    with suppress(OSError):
        folder.database.unlink()
    shutil.rmtree(folder.path, ignore_errors=True)


def all_of(data_dir: Path) -> list[IndexFolder]:
    """All index folders, the live one and those beside it."""
    if not data_dir.is_dir():
        return []
    return [IndexFolder(path) for path in data_dir.iterdir() if _NAME.fullmatch(path.name)]
