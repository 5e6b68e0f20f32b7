"""What becomes a link, a pipe or a device once it is listed is neither followed nor waited for."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.errors import DocsRepoError
from ingest.repo.beneath import read_beneath
from tests.ingest.repo.checkouts import docs_settings, open_docs, reasons, texts
from tests.ingest.repo.remotes import DocsRemote


def to_file(place: Path, outside: Path) -> None:
    place.unlink()
    place.symlink_to(outside / place.name)


def to_folder(place: Path, outside: Path) -> None:
    shutil.rmtree(place.parent)
    place.parent.symlink_to(outside)


def to_pipe(place: Path, outside: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def to_device(place: Path, outside: Path) -> None:
    place.unlink()
    place.symlink_to("/dev/zero")


SWAPS = [to_file, to_folder, to_pipe, to_device]
Swap = Callable[[Path, Path], None]


@pytest.fixture
def repo(tmp_path: Path) -> DocsRemote:
    """A work tree, and a folder outside of it with the same names and texts."""
    repo = DocsRemote(tmp_path)
    repo.write("docs/team/pay.md", "# Pay\n")
    repo.write("docs/team/part.inc", "Words.\n")
    repo.write("docs/home.md", "# Home\n")
    repo.commit("start")
    shutil.copytree(repo.work / "docs/team", tmp_path / "outside")
    return repo


@pytest.mark.parametrize("swap", SWAPS)
def test_a_file_that_becomes_something_else_after_it_was_listed_is_not_read(
    tmp_path: Path, repo: DocsRemote, swap: Swap
) -> None:
    checkout = open_docs(docs_settings(tmp_path, str(repo.work)))
    [page] = [file for file in checkout.files if file.path == "team/pay.md"]
    part = checkout.folder("docs/team")["part.inc"]
    [shown] = checkout.files_at([part]).values()
    assert not isinstance(shown, str)

    swap(repo.work / "docs/team/part.inc", tmp_path / "outside")
    if swap is not to_folder:
        swap(repo.work / "docs/team/pay.md", tmp_path / "outside")

    for file in (page, shown):
        with pytest.raises(DocsRepoError):
            checkout.read(file)
    assert isinstance(checkout.files_at([part])[part.path], str)
    assert checkout.find("docs/team/pay.md") is None


def test_a_folder_that_is_a_link_now_has_no_page_of_git(tmp_path: Path, repo: DocsRemote) -> None:
    (tmp_path / "outside/pay.md").write_text("# Not of this repository\n")
    to_folder(repo.work / "docs/team/pay.md", tmp_path / "outside")
    checkout = open_docs(docs_settings(tmp_path, str(repo.work)))
    assert texts(checkout) == {"home.md": "# Home\n"}
    assert reasons(checkout)["team/pay.md"] == "symlink"


@pytest.mark.parametrize("path", ["", ".", "..", "../top/a", "a/../a", "/etc/passwd", "a", "f/a"])
def test_no_path_is_read_but_that_of_a_file_below_the_folder(tmp_path: Path, path: str) -> None:
    (tmp_path / "top/f").mkdir(parents=True)
    (tmp_path / "a").write_text("outside")
    (tmp_path / "top/a").symlink_to("../a")
    (tmp_path / "top/f/b").write_text("inside")
    assert read_beneath(tmp_path / "top", "f/b", 3) == b"ins"
    with pytest.raises(OSError, match="Errno"):
        read_beneath(tmp_path / "top", path)
