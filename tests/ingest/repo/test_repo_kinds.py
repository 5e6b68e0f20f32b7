"""Docs repos that are made in another way, or whose history holds odd things."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.ingest.repo.checkouts import PAY, docs_settings, open_docs, paths, texts
from tests.ingest.repo.remotes import DocsRemote, git


def test_a_remote_whose_history_ends_early_is_read(remote: DocsRemote, tmp_path: Path) -> None:
    remote.write("docs/new.md", "# New\n\nNew.\n")
    remote.commit(date="2024-06-01T10:00:00Z")
    shallow = tmp_path / "shallow.git"
    git(tmp_path, "clone", "--quiet", "--bare", "--depth=1", remote.url, str(shallow))
    for text in ("# Later\n\nLater.\n", "# Last\n\nLast.\n"):
        with open_docs(docs_settings(tmp_path, shallow.as_uri())) as checkout:
            assert texts(checkout)["pay.md"] == PAY
            assert checkout.revision.commit == git(shallow, "rev-parse", "main")
        remote.write("docs/new.md", text)
        remote.commit()
        git(shallow, "fetch", "--quiet", "--depth=1", remote.url, "+main:main")


@pytest.mark.parametrize("kind", ["remote", "folder"])
def test_a_repo_with_long_ids_is_read(tmp_path: Path, kind: str) -> None:
    work = tmp_path / "work"
    git(tmp_path, "init", "--quiet", "--object-format=sha256", str(work))
    (work / "docs").mkdir()
    (work / "docs" / "pay.md").write_text(PAY)
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "-m", "docs", GIT_COMMITTER_DATE="2024-05-01T10:00:00Z")
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(work), str(bare))
    address = bare.as_uri() if kind == "remote" else str(work)
    with open_docs(docs_settings(tmp_path, address)) as checkout:
        assert texts(checkout) == {"pay.md": PAY}
        assert checkout.files[0].updated_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
        assert not checkout.revision.dirty


@pytest.mark.parametrize("seconds", [99_999_999_999_999, -5])
def test_a_commit_of_no_possible_time_gives_no_date(tmp_path: Path, seconds: int) -> None:
    remote = DocsRemote(tmp_path)
    remote.write("docs/pay.md", PAY)
    git(remote.work, "add", "--all")
    who = f"Writer <writer@example.com> {seconds} +0000"
    commit = f"tree {git(remote.work, 'write-tree')}\nauthor {who}\ncommitter {who}\n\ndocs\n"
    made = subprocess.run(
        ("git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin"),
        cwd=remote.work,
        input=commit.encode(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    git(remote.work, "update-ref", "refs/heads/main", made.strip())
    remote.push()
    with open_docs(docs_settings(tmp_path, remote.url)) as checkout:
        assert paths(checkout) == ["pay.md"]
        date = checkout.files[0].updated_at
        assert date is None or date.year <= 1970


@pytest.mark.parametrize(
    "kept",
    [
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"root": "docs", "commit": 3, "times": {}}',
        b'{"root": "docs", "commit": "--all", "times": {}}',
        b'{"root": "docs", "commit": "%s", "times": {"docs/pay.md": "long ago"}}' % (b"1" * 40),
    ],
)
def test_dates_that_were_kept_badly_are_read_again(
    remote: DocsRemote, tmp_path: Path, kept: bytes
) -> None:
    options = docs_settings(tmp_path, remote.url)
    options.data_dir.mkdir()
    (options.data_dir / "dates.json").write_bytes(kept)
    with open_docs(options) as checkout:
        assert checkout.files[1].updated_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
