"""Docs repo and index -> what an ingest would do, without embedding or writing anything.

It works beside a process that owns the data folder: it reads the live index, and works with a
temporary copy of the clone, whose contents are links to the same files. Numbers of chunks are
estimates, from the sizes of files.
"""

import os
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ingest.documents import Skipped
from ingest.errors import IndexDamaged
from ingest.index import folders
from ingest.pipeline.left_out import NO_PAGES, left_out
from ingest.pipeline.plan import is_included
from ingest.readers.decoding import decode
from ingest.readers.kinds.recognition import suffix_of
from ingest.readers.parsed_file import UnreadableDocument
from ingest.repo import Checkout, File, open_checkout
from ingest.settings import IndexSettings
from ingest.sources import DocsSource
from ingest.store.document_tables import DocumentTables

BYTES_OF_A_CHUNK = 500
"""Average size of a chunk in a file, over the pages of nine docs repos."""
SECONDS_OF_A_CHUNK = 0.02
"""Time to embed a chunk, if no report of this index tells another."""
LOOK_SECONDS = 5.0
"""Time for a look into the files that are new or changed; the others count as readable."""
_EXAMPLES = 5


def dry_run(settings: IndexSettings, seconds_of_a_chunk: float | None = None) -> dict[str, Any]:
    """Return the expected report as JSON. Raises IngestError and SettingsError."""
    started = time.monotonic()
    before = _stored(settings.data_dir)
    with (
        _place(settings.data_dir) as place,
        open_checkout(_without_data(settings), place) as checkout,
    ):
        changed = [f for f in checkout.files if before.get(f.path) != f.fingerprint]
        unreadable, unseen = _unreadable(checkout, changed)
        skipped = [*checkout.skipped, *unreadable]
        lost = {file.path for file in unreadable}
        files = [file for file in checkout.files if file.path not in lost]
        revision, warnings = checkout.revision.name, list(checkout.warnings)
    paths = {file.path for file in files}
    written = [file for file in changed if file.path in paths]
    to_embed = sum(map(_chunks, written))
    sentence = left_out(skipped, len(files))
    empty = None if files else NO_PAGES
    return {
        "dry_run": True,
        "revision": revision,
        "documents": len(files),
        "chunks": sum(map(_chunks, files)),
        "added": sum(file.path not in before for file in written),
        "changed": sum(file.path in before for file in written),
        "deleted": sum(path not in paths for path in before),
        "unchanged": len(files) - len(written),
        "to_embed": to_embed,
        "expected_seconds": round(to_embed * (seconds_of_a_chunk or SECONDS_OF_A_CHUNK), 1),
        "formats": _formats(files),
        "reasons": _reasons(skipped),
        "skipped": [{"path": s.path, "reason": s.reason} for s in skipped],
        "not_looked_into": unseen,
        "left_out": sentence,
        "warnings": [*warnings, *filter(None, [sentence, empty])],
        "seconds": round(time.monotonic() - started, 3),
    }


def _without_data(settings: IndexSettings) -> DocsSource:
    """Return the source without the data folder, which may lie in a folder of docs."""
    source = settings.docs_source
    docs = Path(source.address or "").expanduser().joinpath(source.root).resolve()
    data = settings.data_dir.resolve()
    if not data.is_relative_to(docs) or data == docs:
        return source
    escaped = re.sub(r"([*?\[\]!#\\ ])", r"\\\1", data.relative_to(docs).as_posix())
    return replace(source, exclude=(*source.exclude, f"/{escaped}/"))


def _chunks(file: File) -> int:
    return max(1, round(file.size / BYTES_OF_A_CHUNK))


def _stored(data_dir: Path) -> dict[str, str]:
    """Return git's id of the content of each page in the live index.

    A damaged index would be built anew, so nothing of it counts. Files that pages include are found
    when the pages are read, which a dry run does not.
    """
    with suppress(IndexDamaged):
        folder = folders.live(data_dir) if data_dir.is_dir() else None
        if folder is not None and folder.database.is_file():
            with closing(DocumentTables(folder.database)) as tables:
                return {
                    path: signature.split()[0]
                    for path, (_prefix, signature) in tables.signatures().items()
                    if not is_included(signature)
                }
    return {}


@contextmanager
def _place(data_dir: Path) -> Iterator[Path]:
    """Yield a temporary data folder with a copy of the clone; it takes no room for contents."""
    with TemporaryDirectory(prefix="footnote-dry-run-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        with suppress(OSError):
            shutil.copy2(data_dir / "dates.json", place / "dates.json")
        if (data_dir / "clone" / "HEAD").is_file():
            try:
                shutil.copytree(data_dir / "clone", place / "clone", copy_function=_linked)
            except (OSError, shutil.Error):  # the owner has just replaced it: a new one is made
                shutil.rmtree(place / "clone", ignore_errors=True)
        yield place


def _linked(source: str, target: str) -> None:
    """Link a file of git's objects, which never change, and copy all others."""
    if f"{os.sep}objects{os.sep}" in source:
        with suppress(OSError):  # another file system
            os.link(source, target)
            return
    shutil.copy2(source, target)


def _unreadable(checkout: Checkout, files: Sequence[File]) -> tuple[list[Skipped], int]:
    """Return files that are not text, and the number of files that there was no time to open."""
    found: list[Skipped] = []
    deadline = time.monotonic() + LOOK_SECONDS
    for index, file in enumerate(files):
        if time.monotonic() > deadline:
            return found, len(files) - index
        try:
            decode(checkout.read(file))
        except UnreadableDocument as error:
            found.append(Skipped(file.path, error.reason))
    return found, 0


def _formats(files: Sequence[File]) -> dict[str, dict[str, int]]:
    """Return the numbers of each suffix, the most frequent first."""
    by_suffix = defaultdict(list)
    for file in files:
        by_suffix[suffix_of(file.path)].append(file)
    return {
        suffix: {
            "files": len(same),
            "bytes": sum(file.size for file in same),
            "chunks": sum(map(_chunks, same)),
        }
        for suffix, same in sorted(by_suffix.items(), key=lambda item: (-len(item[1]), item[0]))
    }


def _reasons(skipped: Sequence[Skipped]) -> list[dict[str, Any]]:
    """Return each reason with its number of files and some of them, the most frequent first."""
    by_reason = defaultdict(list)
    for file in skipped:
        by_reason[file.reason].append(file.path)
    ordered = sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        {"reason": reason, "files": len(paths), "examples": paths[:_EXAMPLES]}
        for reason, paths in ordered
    ]
