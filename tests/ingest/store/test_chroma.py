"""Vectors behind a real Chroma server: away, silent, another program, restarted, emptied."""

import gc
import shutil
import socket
import subprocess
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from ingest.documents import Chunk, IngestReport
from ingest.errors import IndexDamaged, IngestError, StoreAway
from ingest.index import Index, folders, open_index, snapshot
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from ingest.sources import ChromaServer
from ingest.store import chroma
from ingest.store.chroma import probe_server
from ingest.store.vectors import open_store
from tests.cases import Json, Unmet, one_of
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.reports import reports
from tests.waiting import PATIENCE, free_port, wait_for


class Server:
    """``chroma run``, which may end and come back at the same place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = at(free_port())
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Until it answers; one that runs already goes on."""
        if self._process is not None:
            return
        command = shutil.which("chroma", path=sysconfig.get_path("scripts"))
        assert command
        place = ["--path", str(self.folder), "--port", str(self.address.port)]
        self._process = subprocess.Popen(
            [command, "run", *place], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for(self._is_there)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _is_there(self) -> bool:
        with suppress(StoreAway):
            return bool(probe_server(self.address))
        return False


def at(port: int, **more: Any) -> ChromaServer:
    return replace(ChromaServer("127.0.0.1", port, "default_tenant", "default_database"), **more)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on a slow machine is not away."""
    monkeypatch.setattr(chroma, "PROBE_SECONDS", PATIENCE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()


@pytest.fixture
def server(place: Server) -> Server:
    place.start()
    return place


class Docs:
    """A page, and its index with the vectors at the server."""

    def __init__(self, folder: Path, server: ChromaServer) -> None:
        self.page = folder / "docs" / "pay.md"
        self.page.parent.mkdir()
        self.page.write_text("# Pay\n\nRestart the payout worker first.\n")
        at_server = {"CHROMA_HOST": server.host, "CHROMA_PORT": server.port}
        more = {"docs_repo": str(self.page.parent), "data_dir": folder / "data"}
        self.settings = IndexSettings.model_validate(at_server | more)
        self.embedder = HashingEmbedder()

    def ingest(self) -> IngestReport:
        index = self.opened()
        try:
            return run_ingest(self.settings, index, self.embedder)
        finally:
            index.close()

    def opened(self) -> Index:
        return open_index(self.settings, self.embedder)


@pytest.fixture
def docs(tmp_path: Path, server: Server) -> Docs:
    return Docs(tmp_path, server.address)


def chunk(number: int) -> Chunk:
    return Chunk(f"pay-{number}", "pay.md", number, "Pay", (), (1, 1), "text", "text")


def test_a_server_holds_the_vectors_in_place_of_the_folder(tmp_path: Path, server: Server) -> None:
    one, two = np.eye(2, dtype=np.float32)
    with open_store(tmp_path / "unused", server.address, "footnote-a", embedder="one") as store:
        store.write([chunk(0), chunk(1)], [one, two])
        store.delete(["pay-1"])
        assert store.hashes() == {"pay-0": chunk(0).hash}
        np.testing.assert_array_equal(store.vectors(["pay-0"])["pay-0"][1], one)
        store.drop()
    with pytest.raises(IndexDamaged):
        open_store(tmp_path / "unused", server.address, "footnote-a")
    assert not (tmp_path / "unused").exists()


# What Chroma's client opened before it fails is left to the garbage collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_tenant_or_database_that_is_not_there_is_named(tmp_path: Path, server: Server) -> None:
    elsewhere = at(server.address.port, tenant="acme", database="docs")
    with pytest.raises(StoreAway, match=r"does not open acme/docs .*CHROMA_TENANT"):
        open_store(tmp_path, elsewhere, "footnote-a")
    gc.collect()


def test_while_the_server_is_away_words_are_searched_and_then_meaning_again(
    server: Server, docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "RETRY_SECONDS", 0.0)
    docs.ingest()
    server.stop()
    index = docs.opened()
    [before] = index.search("payout").passages
    server.start()
    [after] = index.search("payout").passages
    assert after.distance < before.distance
    index.close()


def test_an_ingest_without_its_server_fails_in_one_line_and_changes_nothing(
    server: Server, docs: Docs
) -> None:
    docs.ingest()
    server.stop()
    docs.page.write_text("# Pay\n\nRestart nothing.\n")
    with pytest.raises(StoreAway, match="No Chroma server answers"):
        docs.ingest()
    index = docs.opened()
    assert "payout worker" in index.search("restart").passages[0].text
    index.close()
    server.start()
    assert docs.ingest().embedded == 1


def test_a_first_ingest_without_its_server_leaves_no_folder(tmp_path: Path) -> None:
    docs = Docs(tmp_path, at(1))
    with pytest.raises(StoreAway):
        docs.ingest()
    assert folders.unfinished(docs.settings.data_dir) == []


def test_a_server_that_lost_its_data_gets_them_again(server: Server, docs: Docs) -> None:
    docs.ingest()
    server.stop()
    shutil.rmtree(server.folder)
    server.start()
    report = docs.ingest()
    assert "has lost its vectors" in report.warnings[0]
    index = docs.opened()
    assert index.search("payout").passages
    index.close()


@pytest.mark.parametrize("case", reports("server"))
def test_a_lost_collection_is_searched_as_its_report_says(
    case: Json, server: Server, docs: Docs
) -> None:
    for step in case["steps"]:
        one_of(step.split()[0], "ingest", "delete", "footnote")
    docs.ingest()
    index = docs.opened()
    try:
        name = index.status().collection
        assert name
        with open_store(docs.settings.data_dir, docs.settings.chroma_server, name) as store:
            store.drop()
        assert index.search("payout worker").passages
    except IngestError as error:
        raise Unmet(str(error)) from error
    finally:
        index.close()


def test_a_server_that_is_silent_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma, "PROBE_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(IngestError, match=rf"No Chroma server answers at 127\.0\.0\.1:{port}"):
            open_store(tmp_path, at(port), "footnote-a")


@pytest.fixture
def another() -> Iterator[HTTPServer]:
    """A program that is no Chroma server; it wants a token, and remembers what it was given."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(dict(self.headers))
            self.send_response(404 if self.headers.get("X-Chroma-Token") == "sesame" else 401)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    seen: list[dict[str, str]] = []
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_key_that_is_not_taken_and_a_port_of_another_program_are_named(
    another: HTTPServer,
) -> None:
    with pytest.raises(StoreAway, match="asks for another CHROMA_API_KEY") as refused:
        probe_server(at(another.server_port, key=SecretStr("wrong-key")))
    assert "wrong-key" not in str(refused.value)
    with pytest.raises(StoreAway, match=r"is not a Chroma server \(status 404\).*CHROMA_PORT"):
        probe_server(at(another.server_port, key=SecretStr("sesame")))


@pytest.mark.parametrize("host", ["no host", "http://", "https://127.0.0.1:1", "nowhere.invalid"])
def test_an_address_that_leads_nowhere_is_one_line(host: str) -> None:
    with pytest.raises(StoreAway, match="start it, or correct CHROMA_HOST") as refused:
        probe_server(replace(at(1), host=host))
    assert "\n" not in str(refused.value)
