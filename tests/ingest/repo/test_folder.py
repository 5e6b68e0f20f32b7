"""A local folder is read as its files lie, with what git says about them."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.errors import DocsRepoError
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
from tests.ingest.repo.remotes import DocsRemote, git


def test_a_clean_folder_is_at_its_commit(remote: DocsRemote, tmp_path: Path) -> None:
    git(remote.work, "remote", "set-url", "origin", "https://u:p@github.com/acme/docs.git")
    git(remote.work, "update-ref", "refs/remotes/origin/main", "HEAD")
    with open_docs(docs_settings(tmp_path, str(remote.work))) as checkout:
        assert texts(checkout)["pay.md"] == PAY
        revision = checkout.revision
        assert (revision.commit, revision.branch, revision.dirty) == (remote.head, "main", False)
        assert revision.remote == "https://github.com/acme/docs.git"
        assert checkout.files[1].updated_at == datetime(2024, 5, 1, 10, tzinfo=UTC)


def test_a_commit_that_was_never_pushed_has_no_remote(remote: DocsRemote, tmp_path: Path) -> None:
    git(remote.work, "remote", "set-url", "origin", "https://github.com/acme/docs.git")
    git(remote.work, "commit", "--quiet", "--allow-empty", "-m", "not pushed")
    with open_docs(docs_settings(tmp_path, str(remote.work))) as checkout:
        assert checkout.revision.remote is None


def test_edits_additions_and_deletions_mark_the_revision(
    remote: DocsRemote, tmp_path: Path
) -> None:
    (remote.work / ".gitignore").write_text("*.draft.md\n")
    remote.commit(date="2024-05-02T10:00:00Z")
    options = docs_settings(tmp_path, str(remote.work))
    remote.write("docs/notes.draft.md", "ignored\n")
    remote.write("src/main.md", "outside the docs\n")
    with open_docs(options) as checkout:
        assert not checkout.revision.dirty
    remote.write("docs/pay.md", "# Pay\n\nEdited.\n")
    with open_docs(options) as checkout:
        assert checkout.revision.dirty
        assert texts(checkout)["pay.md"] == "# Pay\n\nEdited.\n"
        assert {file.path: file.updated_at for file in checkout.files} == {
            "oncall/README.md": datetime(2024, 5, 1, 10, tzinfo=UTC),
            "pay.md": None,
        }
    remote.write("docs/pay.md", PAY)
    remote.write("docs/new.md", "# New\n\nUntracked.\n")
    with open_docs(options) as checkout:
        assert checkout.revision.dirty
        assert "new.md" in paths(checkout)
    remote.delete("docs/new.md")
    remote.delete("docs/pay.md")
    with open_docs(options) as checkout:
        assert checkout.revision.dirty
        assert paths(checkout) == ["oncall/README.md"]


@pytest.mark.parametrize("kind", ["plain", "ignored", "part"])
def test_a_folder_is_read_wherever_it_lies(remote: DocsRemote, tmp_path: Path, kind: str) -> None:
    if kind == "plain":
        folder, commit, root = tmp_path / "plain", None, ""
        shutil.copytree(remote.work / "docs", folder)
    elif kind == "ignored":
        folder, commit, root = remote.work / "ignored", None, ""
        shutil.copytree(remote.work / "docs", folder)
        (remote.work / ".gitignore").write_text("ignored/\n")
    else:
        folder, commit, root = remote.work / "docs", remote.head, "docs"
    with open_docs(docs_settings(tmp_path, str(folder), docs_root="")) as checkout:
        assert paths(checkout) == ["oncall/README.md", "pay.md"]
        assert checkout.revision.commit == commit
        assert checkout.docs_root == root


@pytest.mark.parametrize(
    "kind", ["work tree", "submodule", "split index", "sparse", "blobless", "shared with a group"]
)
def test_a_folder_of_any_make_is_at_its_commit(
    remote: DocsRemote, tmp_path: Path, kind: str
) -> None:
    git(remote.bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    allowed = ("-c", "protocol.file.allow=always")
    folder = tmp_path / "more"
    match kind:
        case "work tree":
            git(remote.work, "worktree", "add", "--quiet", "-b", "more", str(folder))
        case "submodule":
            outer = tmp_path / "outer"
            git(tmp_path, "init", "--quiet", str(outer))
            git(outer, *allowed, "submodule", "--quiet", "add", remote.url, "more")
            folder = outer / "more"
        case "blobless":
            filtered = ("clone", "--quiet", "--filter=blob:none")
            git(tmp_path, *filtered, remote.url, str(folder))
        case _:
            git(tmp_path, "clone", "--quiet", remote.url, str(folder))
    match kind:
        case "split index":
            git(folder, "update-index", "--split-index")
        case "sparse":
            git(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "docs/oncall")
        case "shared with a group":
            git(folder, "config", "core.sharedRepository", "group")
            git(folder, "pack-refs", "--all")
    with open_docs(docs_settings(tmp_path, str(folder))) as checkout:
        assert checkout.warnings == []
        assert (checkout.revision.commit, checkout.revision.dirty) == (remote.head, False)
        assert {file.updated_at for file in checkout.files} == {
            datetime(2024, 5, 1, 10, tzinfo=UTC)
        }
        assert paths(checkout) == ["oncall/README.md", "pay.md"]
    (folder / "docs" / "new.md").write_text("# New\n\nNew.\n")
    with open_docs(docs_settings(tmp_path, str(folder))) as checkout:
        assert checkout.revision.dirty
        assert "new.md" in paths(checkout)


def test_a_clone_that_lacks_old_trees_is_indexed_without_dates(
    remote: DocsRemote, tmp_path: Path
) -> None:
    remote.write("docs/new.md", "# New\n\nNew.\n")
    remote.commit()
    folder = tmp_path / "treeless"
    git(tmp_path, "clone", "--quiet", "--filter=tree:0", remote.url, str(folder))
    with open_docs(docs_settings(tmp_path, str(folder))) as checkout:
        assert (checkout.revision.commit, checkout.revision.dirty) == (remote.head, False)
        assert paths(checkout) == ["new.md", "oncall/README.md", "pay.md"]
        assert {file.updated_at for file in checkout.files} == {None}
        [warning] = checkout.warnings
        assert "without dates" in warning
        assert "\n" not in warning


def test_links_are_not_followed_out_of_a_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("text")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "links").symlink_to(outside)
    os.mkfifo(folder / "pipe.md")
    options = docs_settings(tmp_path, str(folder), docs_root="")
    with open_docs(options) as checkout:
        assert paths(checkout) == ["a.md"]
        assert reasons(checkout) == {
            "link.md": "symlink",
            "links": "symlink",
            "pipe.md": "unsupported",
        }
    with pytest.raises(DocsRepoError) as error:
        open_docs(docs_settings(tmp_path, str(folder), docs_root="links"))
    assert problem(error) == "root_missing"


def test_the_index_is_not_part_of_the_docs_it_is_made_from(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "index").mkdir(parents=True)
    (folder / "index" / "note.md").write_text("text")
    (folder / "a.md").write_text("text")
    options = IndexSettings(docs_repo=str(folder), data_dir=folder / "index")
    with open_docs(options) as checkout:
        assert paths(checkout) == ["a.md"]
        assert checkout.skipped == []


def test_a_file_that_changes_while_the_folder_is_read_is_not_taken_for_what_it_was(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("before")
    with open_docs(docs_settings(tmp_path, str(folder), docs_root="")) as checkout:
        (folder / "a.md").write_text("after")
        with pytest.raises(DocsRepoError, match=r"a\.md changed while it was read"):
            checkout.read(checkout.files[0])


def test_a_folder_on_another_branch_than_configured_is_refused(
    remote: DocsRemote, tmp_path: Path
) -> None:
    with pytest.raises(DocsRepoError, match="is on main, not on release") as error:
        open_docs(docs_settings(tmp_path, str(remote.work), docs_branch="release"))
    assert problem(error) == "ref_missing"


def test_a_folder_may_stand_on_the_tag_or_commit_that_is_configured(
    remote: DocsRemote, tmp_path: Path
) -> None:
    git(remote.work, "tag", "-m", "a release", "v1")
    git(remote.work, "checkout", "--quiet", "--detach")
    for name in ("v1", remote.head, remote.head[:9]):
        with open_docs(docs_settings(tmp_path, str(remote.work), docs_branch=name)) as checkout:
            assert checkout.revision.commit == remote.head
            assert checkout.revision.branch == name
    with open_docs(docs_settings(tmp_path, str(remote.work))) as checkout:
        assert checkout.revision.branch is None


def test_a_folder_outside_git_is_on_no_branch(tmp_path: Path) -> None:
    (tmp_path / "plain" / "docs").mkdir(parents=True)
    with pytest.raises(DocsRepoError, match="is not on branch release") as error:
        open_docs(docs_settings(tmp_path, str(tmp_path / "plain"), docs_branch="release"))
    assert problem(error) == "ref_missing"


def test_a_bare_repository_is_read_like_a_remote(remote: DocsRemote, tmp_path: Path) -> None:
    with open_docs(docs_settings(tmp_path, str(remote.bare))) as checkout:
        assert texts(checkout)["pay.md"] == PAY
        assert checkout.revision.commit == remote.head


def test_a_shallow_history_gives_no_false_dates(remote: DocsRemote, tmp_path: Path) -> None:
    remote.write("docs/new.md", "# New\n\nNew.\n")
    remote.commit(date="2024-06-01T10:00:00Z")
    remote.write("docs/newer.md", "# Newer\n\nNewer.\n")
    remote.commit(date="2024-07-01T10:00:00Z")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=2", remote.url, str(shallow))
    with open_docs(docs_settings(tmp_path, str(shallow))) as checkout:
        assert {file.path: file.updated_at for file in checkout.files} == {
            "new.md": None,
            "newer.md": datetime(2024, 7, 1, 10, tzinfo=UTC),
            "oncall/README.md": None,
            "pay.md": None,
        }
