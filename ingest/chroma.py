"""Chroma as the store uses it: clients of a folder or a server, and what its errors mean."""

import importlib.util
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from httpx import TransportError

from ingest.errors import FootnoteError, IndexDamaged, IngestError
from ingest.settings import IndexSettings


def _leave_dotenv_alone() -> None:
    """Chroma reads the `.env` of the working folder as soon as it is imported; that one is ours.

    Its settings are therefore loaded first, and told to read none.
    """
    name, package = "chromadb.config", importlib.util.find_spec("chromadb")
    if name in sys.modules or package is None or not package.submodule_search_locations:
        return
    file = Path(package.submodule_search_locations[0], "config.py")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        return
    config = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(config)
    config.Settings.model_config["env_file"] = None


_leave_dotenv_alone()

from chromadb import Collection, HttpClient, PersistentClient  # noqa: E402  # see above
from chromadb.api import ClientAPI  # noqa: E402
from chromadb.api.shared_system_client import SharedSystemClient  # noqa: E402
from chromadb.config import Settings  # noqa: E402
from chromadb.errors import NotFoundError  # noqa: E402

__all__ = [
    "ClientAPI",
    "Collection",
    "check_file",
    "close_client",
    "open_client",
    "reading",
    "writing",
]

# Chroma shares one system between all clients of a folder, and neither starts nor stops it safely
# when several threads open and close clients at the same time.
_opening = threading.RLock()


def open_client(folder: Path, settings: IndexSettings) -> ClientAPI:
    quiet: dict[str, Any] = {"anonymized_telemetry": False}
    with _opening:
        if settings.chroma_host is None:
            try:
                return PersistentClient(folder, settings=Settings(**quiet))
            except BaseException:
                _forget(str(folder))
                raise
        try:
            return HttpClient(
                settings.chroma_host, settings.chroma_port, settings=Settings(**quiet)
            )
        except ValueError as error:
            where = f"{settings.chroma_host}:{settings.chroma_port}"
            raise IngestError(
                f"No Chroma server answers at {where}: start it, or correct CHROMA_HOST."
            ) from error


def close_client(client: ClientAPI) -> None:
    with _opening:
        client.close()  # type: ignore[attr-defined]  # on the class, not the interface


def check_file(folder: Path) -> None:
    """Raise IndexDamaged when the folder's database is not sound: Chroma finds out too late."""
    try:
        address = f"{(folder / 'chroma.sqlite3').absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        raise _damaged(error) from error
    if verdict != "ok":
        raise _damaged(verdict)


@contextmanager
def reading() -> Iterator[None]:
    """Whatever Chroma raises over stored data means that they are damaged."""
    try:
        yield
    except NotFoundError as error:
        raise lost() from error
    except BaseException as error:
        if isinstance(error, FootnoteError) or not _is_failure(error):
            raise
        if isinstance(error, TransportError):
            raise IngestError("The Chroma server went away: start it, and try again.") from error
        raise _damaged(error) from error


@contextmanager
def writing() -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if isinstance(error, FootnoteError) or not _is_failure(error):
            raise
        raise IngestError(
            f"The vectors could not be written ({str(error)[:300]}): check the disk, or the"
            " Chroma server, and run `footnote ingest` again."
        ) from error


def _is_failure(error: BaseException) -> bool:
    """Whether Chroma failed; a panic of its native half is no Exception."""
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def _forget(identifier: str) -> None:
    """A system that failed to start stays shared, half made: the next client would get that one."""
    if identifier not in SharedSystemClient._identifier_to_refcount:
        SharedSystemClient._identifier_to_system.pop(identifier, None)


def lost() -> IndexDamaged:
    return IndexDamaged("The index has lost its vectors: run `footnote ingest` to rebuild them.")


def _damaged(reason: object) -> IndexDamaged:
    return IndexDamaged(
        f"The stored vectors cannot be read ({str(reason)[:300]}):"
        " run `footnote ingest` to rebuild them."
    )
