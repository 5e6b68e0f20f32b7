"""A docs repo of any size and shape is read, or refused in one line, within fixed limits."""

import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.errors import DocsRepoError
from ingest.repo import clone as clones
from ingest.repo import folder as folders
from ingest.repo import git as gits
from ingest.settings import IndexSettings
from tests.ingest.repo.checkouts import (
    PAY,
    docs_settings,
    open_docs,
    paths,
    problem,
    reasons,
    texts,
)
from tests.ingest.repo.remotes import DocsRemote, git, ssh_stand_in

LIMIT = 50_000
HUGE = 400_000


@pytest.fixture(params=["file", "ssh", "ssh without filters"])
def served(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[DocsRemote, IndexSettings]:
    """A docs repo with a huge page, whatever its server can do."""
    monkeypatch.setattr(clones, "SMALL_PACK", 2 * LIMIT)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh_stand_in(tmp_path)))
    remote = DocsRemote(tmp_path, filters=request.param == "ssh")
    remote.write("docs/pay.md", PAY)
    remote.write("docs/huge.md", secrets.token_hex(HUGE // 2))
    remote.write("CODEOWNERS", f"* {secrets.token_hex(HUGE // 2)}")
    remote.commit(date="2024-05-01T10:00:00Z")
    address = remote.url if request.param == "file" else f"git@docs.example:{remote.bare}"
    return remote, docs_settings(tmp_path, address, max_file_bytes=LIMIT)


def stored(tmp_path: Path) -> int:
    return sum(f.stat().st_size for f in (tmp_path / "data" / "clone").rglob("*") if f.is_file())


def test_a_huge_page_is_left_where_it_is_and_named_in_every_run(
    served: tuple[DocsRemote, IndexSettings], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    remote, options = served
    for text in (PAY, PAY, "# Pay\n\nLater.\n"):
        if text != PAY:
            remote.write("docs/pay.md", text)
            remote.commit(date="2024-06-01T10:00:00Z")
        with open_docs(options) as checkout:
            assert texts(checkout) == {"pay.md": text}
            assert reasons(checkout) == {"huge.md": "huge"}
            assert checkout.files[0].updated_at
            assert [w for w in checkout.warnings if w.startswith("CODEOWNERS is ignored")]
        if "without" not in request.node.name:
            assert stored(tmp_path) < HUGE / 4
    with open_docs(options.model_copy(update={"max_file_bytes": 2 * HUGE})) as checkout:
        assert paths(checkout) == ["huge.md", "pay.md"]
        assert len(texts(checkout)["huge.md"]) == HUGE


def test_settings_of_any_size_in_a_folder_are_left_out_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "pay.md").write_text(PAY)
    (tmp_path / "plain" / "CODEOWNERS").write_text("* @team" + " " * LIMIT)
    options = docs_settings(tmp_path, str(tmp_path / "plain"), docs_root="", max_file_bytes=LIMIT)
    with open_docs(options) as checkout:
        assert checkout.files[0].owner is None
        assert checkout.warnings == [
            "CODEOWNERS is ignored: it has more than 50000 bytes (FOOTNOTE_MAX_FILE_BYTES)."
        ]


def test_the_number_of_files_outside_the_docs_root_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gits, "MOST_ENTRIES", 5)
    remote = DocsRemote(tmp_path)
    remote.write("docs/pay.md", PAY)
    remote.write("CODEOWNERS", "* @team")
    for number in range(20):
        remote.write(f"src/{number}.md", f"{number}")
    remote.commit()
    for address in (remote.url, str(remote.work)):
        with open_docs(docs_settings(tmp_path, address)) as checkout:
            assert [(file.path, file.owner) for file in checkout.files] == [("pay.md", "@team")]
            assert checkout.warnings == []


def mktree(repo: Path, *entries: str) -> str:
    made = subprocess.run(
        ["git", "mktree"], cwd=repo, input="\n".join(entries), text=True, capture_output=True
    )
    made.check_returncode()
    return made.stdout.strip()


def nested(repo: Path, blob: str) -> str:
    """A tree of ten million paths, in a few objects."""
    tree = mktree(repo, *(f"100644 blob {blob}\tp{n}.md" for n in range(10)))
    for _ in range(6):
        tree = mktree(repo, *(f"040000 tree {tree}\td{n}" for n in range(10)))
    return tree


def flat(repo: Path, blob: str) -> str:
    return mktree(repo, *(f"100644 blob {blob}\t{n}.md" for n in range(5_001)))


def commit(remote: DocsRemote, make: Callable[[Path, str], str], *parents: str) -> str:
    remote.write("page.md", PAY)
    blob = git(remote.work, "hash-object", "-w", "page.md")
    tree = mktree(remote.work, f"040000 tree {make(remote.work, blob)}\tdocs")
    more = [part for parent in parents for part in ("-p", parent)]
    made = git(remote.work, "commit-tree", tree, "-m", "docs", *more)
    git(remote.work, "update-ref", "refs/heads/main", made)
    return made


@pytest.mark.parametrize("make", [nested, flat])
@pytest.mark.parametrize("address", ["remote", "folder"])
def test_a_small_pack_of_any_number_of_paths_is_not_listed_to_its_end(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path, str], str],
    address: str,
) -> None:
    monkeypatch.setattr(gits, "MOST_ENTRIES", 5_000)
    remote = DocsRemote(tmp_path)
    commit(remote, make)
    remote.push()
    (remote.work / "docs").mkdir()
    (remote.work / "docs" / "pay.md").write_text(PAY)
    options = docs_settings(tmp_path, remote.url if address == "remote" else str(remote.work))
    if address == "folder":
        with open_docs(options) as checkout:
            assert texts(checkout) == {"pay.md": PAY}
            assert "without dates" in checkout.warnings[0]
    else:
        with pytest.raises(DocsRepoError, match="FOOTNOTE_DOCS_ROOT") as error:
            open_docs(options)
        assert problem(error) == "too_large"


def test_a_page_deeper_than_a_file_system_takes_is_left_out(tmp_path: Path) -> None:
    def deep(repo: Path, blob: str) -> str:
        tree = mktree(repo, f"100644 blob {blob}\tp.md")
        for _ in range(20):
            tree = mktree(repo, f"040000 tree {tree}\t{'d' * 250}", f"100644 blob {blob}\ta.md")
        return tree

    remote = DocsRemote(tmp_path)
    commit(remote, deep)
    remote.push()
    with open_docs(docs_settings(tmp_path, remote.url)) as checkout:
        assert len(checkout.files) == 17
        assert set(reasons(checkout).values()) == {"unsupported"}
        assert all(len(skipped.path) <= 4_096 for skipped in checkout.skipped)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_history_that_git_has_no_memory_for_costs_the_dates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gits, "MOST_MEMORY", 150_000_000)
    remote = DocsRemote(tmp_path)
    bomb = commit(remote, nested)
    commit(remote, lambda repo, blob: mktree(repo, f"100644 blob {blob}\tpay.md"), bomb)
    remote.push()
    with open_docs(docs_settings(tmp_path, remote.url)) as checkout:
        assert texts(checkout) == {"pay.md": PAY}
        assert "without dates" in checkout.warnings[0]
        assert checkout.files[0].updated_at is None


def test_a_server_that_dies_of_deep_folders_is_not_asked_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\necho 'error: git-pack-objects died of signal 11' >&2\nexit 128\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    with pytest.raises(DocsRepoError, match="too deep") as error:
        open_docs(docs_settings(tmp_path, "git@docs.example:docs.git"))
    assert problem(error) == "too_large"


@pytest.mark.parametrize("tracked", [True, False])
def test_a_folder_of_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tracked: bool
) -> None:
    for module in (gits, folders):
        monkeypatch.setattr(module, "MOST_ENTRIES", 50)
    docs = tmp_path / "plain"
    docs.mkdir()
    if tracked:
        git(docs, "init", "--quiet")
    for number in range(60):
        (docs / f"{number}").mkdir()
        (docs / f"{number}" / "page.md").write_text(PAY)
    with pytest.raises(DocsRepoError, match="FOOTNOTE_DOCS_ROOT") as error:
        open_docs(docs_settings(tmp_path, str(docs), docs_root=""))
    assert problem(error) == "too_large"


def test_deep_folders_and_loops_of_links_do_not_stop_the_reading(tmp_path: Path) -> None:
    docs = tmp_path / "plain"
    docs.mkdir()
    (docs / "pay.md").write_text(PAY)
    (docs / "loop").symlink_to(docs)
    place = os.open(docs, os.O_RDONLY)
    for _ in range(3_000):  # longer than the longest path
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    with open_docs(docs_settings(tmp_path, str(docs), docs_root="")) as checkout:
        assert texts(checkout) == {"pay.md": PAY}
        assert reasons(checkout)["loop"] == "symlink"
        assert "unreadable" in reasons(checkout).values()
    subprocess.run(["rm", "-rf", str(docs)], check=True)


@pytest.mark.parametrize("name", ["HEAD", "config", "index"])
def test_a_pipe_among_the_files_of_git_is_not_blamed_on_the_network(
    remote: DocsRemote, tmp_path: Path, name: str
) -> None:
    (remote.work / ".git" / name).unlink()
    os.mkfifo(remote.work / ".git" / name)
    with pytest.raises(DocsRepoError) as error:
        open_docs(docs_settings(tmp_path, str(remote.work), git_timeout=0.5))
    assert problem(error) == "timeout"
    assert "network" not in str(error.value)
