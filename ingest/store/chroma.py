"""Chroma clients for a folder or a server, and Chroma's errors as errors of ours."""

import importlib.util
import re
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx
from httpx import HTTPError

from ingest.errors import (
    FootnoteError,
    IndexDamaged,
    IndexLocked,
    IngestError,
    StoreAway,
    VectorsLost,
)
from ingest.sources import ChromaServer
from ingest.store.sqlite import LOCK_SECONDS, sound_trouble


def _leave_dotenv_alone() -> None:
    """Keep Chroma from reading the `.env` of the working folder, which belongs to Footnote.

    Chroma reads it as soon as it is imported, so its settings module is loaded first and changed.
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

from chromadb import Collection as ChromaCollection  # noqa: E402  # see above
from chromadb import HttpClient, PersistentClient  # noqa: E402
from chromadb.api import ClientAPI  # noqa: E402
from chromadb.api.base_http_client import BaseHTTPClient  # noqa: E402  # see above
from chromadb.api.collection_configuration import CreateHNSWConfiguration  # noqa: E402
from chromadb.api.shared_system_client import SharedSystemClient  # noqa: E402
from chromadb.config import Settings  # noqa: E402
from chromadb.errors import ChromaError, NotFoundError  # noqa: E402

__all__ = [
    "ChromaCollection",
    "ClientAPI",
    "CreateHNSWConfiguration",
    "check_file",
    "close_client",
    "last_write",
    "open_client",
    "probe_server",
    "reading_errors",
    "writing_errors",
]

PROBE_SECONDS = 5.0
"""Seconds until a server has to answer that it is running."""
SERVER_SECONDS = 60.0
"""Seconds that a server may take for one batch of vectors."""

# Chroma shares one system between all clients of a folder, and neither starts nor stops it safely
# when several threads open and close clients at the same time.
_opening = threading.RLock()


def open_client(folder: Path, server: ChromaServer | None) -> ClientAPI:
    """Open a client of the server, or of the folder without one. Raises IndexLocked."""
    if server is not None:
        probe_server(server)
        with _opening:
            return _server_client(server)
    with _opening:
        if not SharedSystemClient._identifier_to_refcount.get(str(folder)):
            _wait_for_lock(folder)
        try:
            return PersistentClient(folder, settings=_quiet())
        except BaseException:
            _forget(str(folder))
            raise


def close_client(client: ClientAPI, server: ChromaServer | None) -> None:
    """Close a folder's client. A server's client is shared and stays open."""
    if server is None:
        with _opening:
            client.close()  # type: ignore[attr-defined]  # on the class, not the interface


def _headers(server: ChromaServer) -> dict[str, str]:
    key = server.key.get_secret_value() if server.key else ""
    return {"Authorization": f"Bearer {key}", "X-Chroma-Token": key} if key else {}


@lru_cache
def _server_client(server: ChromaServer) -> ClientAPI:
    """One client for the whole process: Chroma never closes a client's connections."""
    try:
        client = HttpClient(
            server.host,
            server.port,
            settings=_quiet(),
            headers=_headers(server),
            tenant=server.tenant,
            database=server.database,
        )
    except (ValueError, ChromaError, HTTPError) as error:
        raise StoreAway(
            f"The Chroma server does not open {server.tenant}/{server.database} ({_brief(error)}):"
            " correct CHROMA_TENANT, CHROMA_DATABASE or CHROMA_API_KEY."
        ) from error
    # Chroma waits for a silent server forever, and has no setting for that.
    session: httpx.Client = client._server._session  # type: ignore[attr-defined]  # as above
    session.timeout = httpx.Timeout(SERVER_SECONDS)
    return client


def _quiet() -> Settings:
    quiet: dict[str, Any] = {"anonymized_telemetry": False}
    return Settings(**quiet)


def probe_server(server: ChromaServer) -> str:
    """Return a line that says where a Chroma server answers. Raises StoreAway."""
    host, port = server.host, server.port
    where = host if host.startswith("http") else f"{host}:{port}"
    try:
        url = BaseHTTPClient.resolve_url(host, chroma_server_http_port=port)
        heartbeat = httpx.get(
            f"{url}/api/v2/heartbeat", headers=_headers(server), timeout=PROBE_SECONDS
        )
    except (HTTPError, httpx.InvalidURL, ValueError) as error:
        raise StoreAway(
            f"No Chroma server answers at {where}: start it, or correct CHROMA_HOST."
        ) from error
    if heartbeat.status_code in (401, 403):
        raise StoreAway(f"The Chroma server at {where} asks for another CHROMA_API_KEY.")
    if heartbeat.status_code != 200 or "heartbeat" not in heartbeat.text:
        raise StoreAway(
            f"{where} answers, but it is not a Chroma server (status {heartbeat.status_code}):"
            " start one there, or correct CHROMA_HOST and CHROMA_PORT."
        )
    return f"a Chroma server answers at {where}"


def check_file(folder: Path) -> None:
    """Raise IndexDamaged when the folder's database is damaged: Chroma notices it too late."""
    try:
        with closing(_database(folder, "ro")) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0)
        raise (sound_trouble(folder, code, error) or _damaged(error)) from error
    if verdict != "ok":
        raise _damaged(verdict)


def last_write(folder: Path) -> int | None:
    """Return the number of the newest write into the folder's collection, None if it is unknown.

    The time of the file says nothing: Chroma also writes when it opens a folder.
    """
    numbers = "SELECT seq_id FROM max_seq_id UNION ALL SELECT seq_id FROM embeddings_queue"
    with suppress(sqlite3.DatabaseError), closing(_database(folder, "ro")) as db:
        (number,) = db.execute(f"SELECT max(seq_id) FROM ({numbers})").fetchone()  # noqa: S608  # only literals
        return int(number or 0)
    return None


def _wait_for_lock(folder: Path) -> None:
    """Wait until no other program holds the folder's database. Raises IndexLocked after a while.

    Chroma itself would wait forever. The system drops a process's locks on a file when the process
    closes it, so this must not run while a client of the folder is open.
    """
    try:
        with closing(_database(folder, "rw")) as db:
            db.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as error:
        trouble = sound_trouble(folder, getattr(error, "sqlite_errorcode", 0), error)
        if isinstance(trouble, IndexLocked):
            raise trouble from error  # Chroma has better words for every other error


def _database(folder: Path, mode: str) -> sqlite3.Connection:
    address = f"{(folder / 'chroma.sqlite3').absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=LOCK_SECONDS)


@contextmanager
def reading_errors(folder: Path, server: ChromaServer | None) -> Iterator[None]:
    """Turn Chroma's errors while reading into ours.

    An error about a local folder means that its data is damaged, unless the disk or the permissions
    are to blame.
    """
    try:
        yield
    except NotFoundError as error:
        raise VectorsLost from error
    except BaseException as error:
        if isinstance(error, FootnoteError) or not _is_failure(error):
            raise
        if server is not None:
            raise StoreAway(
                f"The Chroma server failed ({_brief(error)}): check that it runs, and read its log."
            ) from error
        raise (_trouble(folder, error) or _damaged(error)) from error


@contextmanager
def writing_errors(folder: Path) -> Iterator[None]:
    """Turn Chroma's errors while writing into ours."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, FootnoteError) or not _is_failure(error):
            raise
        if trouble := _trouble(folder, error):
            raise trouble from error
        raise IngestError(
            f"The vectors could not be written ({_brief(error)}): check the disk, or the"
            " Chroma server, and run `footnote ingest` again."
        ) from error


def _brief(error: BaseException) -> str:
    return str(error)[:300] or type(error).__name__


def _is_failure(error: BaseException) -> bool:
    """Return True for an error of Chroma. A panic in its native half is not an Exception."""
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def _trouble(folder: Path, error: BaseException) -> IngestError | None:
    """Return the error for sound data that cannot be used, by SQLite's code; None for any other."""
    code = re.search(r"\(code: (\d+)\) (.+)", str(error))
    return sound_trouble(folder, int(code[1]), code[2]) if code else None


def _forget(identifier: str) -> None:
    """Drop a system that failed to start, or Chroma would hand it to the next client."""
    if identifier not in SharedSystemClient._identifier_to_refcount:
        SharedSystemClient._identifier_to_system.pop(identifier, None)


def _damaged(reason: object) -> IndexDamaged:
    return IndexDamaged(f"The stored vectors cannot be read ({str(reason)[:300]})")
