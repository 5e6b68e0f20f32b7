"""Chroma as the store uses it: clients of a folder or a server, and what its errors mean."""

import importlib.util
import re
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from httpx import HTTPError

from ingest.errors import DataFolderError, FootnoteError, IndexDamaged, IngestError, StoreAway
from ingest.settings import IndexSettings
from ingest.store.sqlite import is_folder_trouble


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
from chromadb.api.base_http_client import BaseHTTPClient  # noqa: E402  # see above
from chromadb.api.shared_system_client import SharedSystemClient  # noqa: E402
from chromadb.config import Settings  # noqa: E402
from chromadb.errors import ChromaError, NotFoundError  # noqa: E402

__all__ = [
    "ClientAPI",
    "Collection",
    "check_file",
    "close_client",
    "open_client",
    "probe_server",
    "reading",
    "writing",
]

PROBE_SECONDS = 5.0
"""How long a server may take to say that it is there."""
SERVER_SECONDS = 60.0
"""How long it may be silent over a batch of vectors."""

# Chroma shares one system between all clients of a folder, and neither starts nor stops it safely
# when several threads open and close clients at the same time.
_opening = threading.RLock()


def open_client(folder: Path, settings: IndexSettings) -> ClientAPI:
    if settings.chroma_host is not None:
        probe_server(settings)
        with _opening:
            return _server_client(settings.chroma_host, settings.chroma_port, _access(settings))
    with _opening:
        try:
            return PersistentClient(folder, settings=_quiet())
        except BaseException:
            _forget(str(folder))
            raise


def close_client(client: ClientAPI, settings: IndexSettings) -> None:
    if settings.chroma_host is None:
        with _opening:
            client.close()  # type: ignore[attr-defined]  # on the class, not the interface


class _Access(NamedTuple):
    """What a server asks of whoever comes."""

    tenant: str
    database: str
    key: str | None

    @property
    def headers(self) -> dict[str, str]:
        key = self.key
        return {"Authorization": f"Bearer {key}", "X-Chroma-Token": key} if key else {}


def _access(settings: IndexSettings) -> _Access:
    key = settings.chroma_api_key
    return _Access(
        settings.chroma_tenant, settings.chroma_database, key.get_secret_value() if key else None
    )


@lru_cache
def _server_client(host: str, port: int, access: _Access) -> ClientAPI:
    """One for the whole process: Chroma does not close a client's connections with it."""
    tenant, database, _ = access
    try:
        client = HttpClient(
            host,
            port,
            settings=_quiet(),
            headers=access.headers,
            tenant=tenant,
            database=database,
        )
    except (ValueError, ChromaError, HTTPError) as error:
        raise StoreAway(
            f"The Chroma server does not open {tenant}/{database} ({_brief(error)}):"
            " correct CHROMA_TENANT, CHROMA_DATABASE or CHROMA_API_KEY."
        ) from error
    # Chroma waits without end for a server that is silent, and has no setting for that.
    session: httpx.Client = client._server._session  # type: ignore[attr-defined]  # as above
    session.timeout = httpx.Timeout(SERVER_SECONDS)
    return client


def _quiet() -> Settings:
    quiet: dict[str, Any] = {"anonymized_telemetry": False}
    return Settings(**quiet)


def probe_server(settings: IndexSettings) -> str:
    """That a Chroma server answers, and where. Raises StoreAway."""
    host, port = str(settings.chroma_host), settings.chroma_port
    where = host if host.startswith("http") else f"{host}:{port}"
    try:
        url = BaseHTTPClient.resolve_url(host, chroma_server_http_port=port)
        heartbeat = httpx.get(
            f"{url}/api/v2/heartbeat", headers=_access(settings).headers, timeout=PROBE_SECONDS
        )
    except (HTTPError, httpx.InvalidURL, ValueError) as error:
        raise StoreAway(
            f"No Chroma server answers at {where}: start it, or correct CHROMA_HOST."
        ) from error
    if heartbeat.status_code in (401, 403):
        raise StoreAway(f"The Chroma server at {where} asks for another CHROMA_API_KEY.")
    if heartbeat.status_code != 200 or "heartbeat" not in heartbeat.text:
        raise StoreAway(
            f"What answers at {where} is no Chroma server (status {heartbeat.status_code}):"
            " start it, or correct CHROMA_HOST and CHROMA_PORT."
        )
    return f"a Chroma server answers at {where}"


def check_file(folder: Path) -> None:
    """Raise IndexDamaged when the folder's database is not sound: Chroma finds out too late."""
    try:
        address = f"{(folder / 'chroma.sqlite3').absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if is_folder_trouble(getattr(error, "sqlite_errorcode", 0)):
            raise DataFolderError(folder, error) from error
        raise _damaged(error) from error
    if verdict != "ok":
        raise _damaged(verdict)


@contextmanager
def reading(settings: IndexSettings) -> Iterator[None]:
    """Whatever Chroma raises over data in our folder, with room on the disk, means damage."""
    try:
        yield
    except NotFoundError as error:
        raise lost() from error
    except BaseException as error:
        if isinstance(error, FootnoteError) or not _is_failure(error):
            raise
        if settings.chroma_host is not None:
            raise StoreAway(
                f"The Chroma server fails ({_brief(error)}): see whether it runs, and its log."
            ) from error
        if trouble := _folder_trouble(error):
            raise DataFolderError(settings.data_dir, trouble) from error
        raise _damaged(error) from error


@contextmanager
def writing(settings: IndexSettings) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if isinstance(error, FootnoteError) or not _is_failure(error):
            raise
        if trouble := _folder_trouble(error):
            raise DataFolderError(settings.data_dir, trouble) from error
        raise IngestError(
            f"The vectors could not be written ({_brief(error)}): check the disk, or the"
            " Chroma server, and run `footnote ingest` again."
        ) from error


def _brief(error: BaseException) -> str:
    return str(error)[:300] or type(error).__name__


def _is_failure(error: BaseException) -> bool:
    """Whether Chroma failed; a panic of its native half is no Exception."""
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def _folder_trouble(error: BaseException) -> str | None:
    """What SQLite, below Chroma, had no space or permission for; None for any other failure."""
    found = re.search(r"\(code: (\d+)\) (.+)", str(error))
    return found[2] if found and is_folder_trouble(int(found[1])) else None


def _forget(identifier: str) -> None:
    """A system that failed to start stays shared, half made: the next client would get that one."""
    if identifier not in SharedSystemClient._identifier_to_refcount:
        SharedSystemClient._identifier_to_system.pop(identifier, None)


def lost() -> IndexDamaged:
    return IndexDamaged("The index has lost its vectors")


def _damaged(reason: object) -> IndexDamaged:
    return IndexDamaged(f"The stored vectors cannot be read ({str(reason)[:300]})")
