"""The vectors, in a real Chroma collection on disk or behind a real Chroma server."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from ingest.documents import Chunk
from ingest.errors import DataFolderError, IndexDamaged
from ingest.store.vectors import open_sound_store, open_store


def chunk(number: int, text: str = "text") -> Chunk:
    return Chunk(f"pay-{number}", "pay.md", number, "Pay", (), (1, 1), text, text)


def test_vectors_come_back_by_id_with_the_hash_they_were_written_with(tmp_path: Path) -> None:
    vectors = np.eye(3, dtype=np.float32)
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        store.write([chunk(0, "a"), chunk(1, "b"), chunk(2, "c")], list(vectors))
    with open_store(tmp_path, None, "footnote") as store:
        stored = store.vectors(["pay-2", "missing-0", "pay-0"])
        assert store.hashes() == {f"pay-{n}": chunk(n, t).hash for n, t in enumerate("abc")}
        assert store.embedder == "one"
    assert stored.keys() == {"pay-0", "pay-2"}
    assert stored["pay-2"][0] == chunk(2, "c").hash
    np.testing.assert_array_equal(stored["pay-2"][1], vectors[2])


def test_writing_again_replaces_and_deleting_takes_out(tmp_path: Path) -> None:
    one, two = np.eye(2, dtype=np.float32)
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        store.write([chunk(0, "a"), chunk(1, "b")], [one, two])
        store.write([chunk(0, "changed")], [two])
        store.delete(["pay-1"])
        assert store.hashes() == {"pay-0": chunk(0, "changed").hash}


def test_more_chunks_than_chroma_takes_at_once_are_written_in_parts(tmp_path: Path) -> None:
    count = 6_000
    vectors = np.tile(np.eye(2, dtype=np.float32), (count // 2, 1))
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        store.write([chunk(number) for number in range(count)], list(vectors))
        assert len(store.hashes()) == count


def test_threads_may_open_and_close_the_same_folder_at_the_same_time(tmp_path: Path) -> None:
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        store.write([chunk(0)], [np.eye(1, dtype=np.float32)[0]])

    def read(_: int) -> int:
        with open_store(tmp_path, None, "footnote") as store:
            return len(store.hashes())

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(read, range(64))) == [1] * 64


def test_asking_for_no_ids_is_no_question(tmp_path: Path) -> None:
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        store.write([], [])
        store.delete([])
        assert store.vectors([]) == {}


def test_a_missing_collection_is_damage_with_its_cure(tmp_path: Path) -> None:
    with pytest.raises(IndexDamaged, match="footnote ingest"):
        open_store(tmp_path, None, "footnote")


def test_a_file_that_is_no_database_is_damage_with_its_cure(tmp_path: Path) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database" * 1_000)
    with pytest.raises(IndexDamaged, match="footnote ingest"):
        open_store(tmp_path, None, "footnote")


def harmed(file: Path, kind: str) -> None:
    """Damage of the kinds that disks and people do."""
    whole = bytearray(file.read_bytes())
    pages = range(4096, len(whole), 4096)
    if kind == "garbage":
        whole[:] = np.random.default_rng(0).bytes(50_000)
    elif kind == "half":
        del whole[len(whole) // 2 :]
    else:
        for page in pages if kind == "middle" else pages[:: len(pages) // 5]:
            whole[page : page + 4096] = bytes(4096)
    file.write_bytes(whole)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", ["garbage", "half", "middle", "few"])
def test_a_damaged_database_is_damage_each_time_it_is_opened(tmp_path: Path, kind: str) -> None:
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        store.write([chunk(number) for number in range(50)], list(np.eye(50, dtype=np.float32)))
    harmed(tmp_path / "chroma.sqlite3", kind)
    for _ in range(2):
        with (
            pytest.raises(IndexDamaged, match="footnote ingest") as error,
            open_store(tmp_path, None, "footnote") as store,
        ):
            store.vectors(list(store.hashes()))
        assert "\n" not in str(error.value)
    with pytest.raises(IndexDamaged):
        open_sound_store(tmp_path, None, "footnote")


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a disk with no more room than that for any file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_no_damage(tmp_path: Path) -> None:
    with files_of_at_most(100_000), pytest.raises(DataFolderError, match="free some space"):
        open_store(tmp_path / "new", None, "footnote", embedder="one")
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        size = (tmp_path / "chroma.sqlite3").stat().st_size
        with files_of_at_most(size), pytest.raises(DataFolderError, match="free some space"):
            store.write([chunk(n) for n in range(900)], list(np.eye(900, dtype=np.float32)))
    # Opened anew, as the next ingest does: a client whose write failed may wait for itself.
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        store.write([chunk(0)], [np.eye(900, dtype=np.float32)[0]])
        assert store.hashes().keys() == {"pay-0"}


def test_a_folder_that_failed_to_open_is_opened_when_it_is_mended(tmp_path: Path) -> None:
    file = tmp_path / "chroma.sqlite3"
    file.write_bytes(b"no database" * 1_000)
    with pytest.raises(IndexDamaged):
        open_store(tmp_path, None, "footnote", embedder="one")
    file.unlink()
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        assert store.hashes() == {}


def test_vectors_that_are_gone_beside_a_sound_database_are_damage(tmp_path: Path) -> None:
    count = 1_200  # from a thousand on they lie in files of their own
    with open_store(tmp_path, None, "footnote", embedder="one") as store:
        store.write([chunk(n) for n in range(count)], list(np.eye(count, 8, dtype=np.float32) + 1))
    open_sound_store(tmp_path, None, "footnote").close()
    next(tmp_path.rglob("data_level0.bin")).unlink()
    with pytest.raises(IndexDamaged, match="footnote ingest"):
        open_sound_store(tmp_path, None, "footnote")


@pytest.mark.parametrize("dotenv", [b"\xff\xfeS\x00", b"MIGRATIONS=nonsense\nIS_PERSISTENT=7\n"])
def test_chroma_does_not_read_our_settings(tmp_path: Path, dotenv: bytes) -> None:
    (tmp_path / ".env").write_bytes(dotenv)
    done = subprocess.run(
        [sys.executable, "-c", "import ingest.store.vectors"], cwd=tmp_path, check=False, timeout=60
    )
    assert done.returncode == 0
