"""A git remote is read at its newest commit, straight from git's objects."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.errors import DocsRepoError, SettingsError
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


def test_a_commit_is_read_with_its_dates_and_revision(remote: DocsRemote, tmp_path: Path) -> None:
    with open_docs(docs_settings(tmp_path, remote.url)) as checkout:
        assert paths(checkout) == ["oncall/README.md", "pay.md"]
        assert texts(checkout)["pay.md"] == PAY
        assert checkout.files[1].updated_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
        assert checkout.revision.commit == remote.head
        assert checkout.revision.branch == "main"
        assert checkout.revision.remote == remote.url
        assert checkout.docs_root == "docs"


@pytest.mark.parametrize("filters", [True, False])
def test_each_run_sees_the_newest_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filters: bool
) -> None:
    remote = DocsRemote(tmp_path, filters=filters)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh_stand_in(tmp_path)))
    remote.write("docs/pay.md", PAY)
    remote.commit(date="2024-05-01T10:00:00Z")
    # An address of ssh is served as its own configuration says.
    options = docs_settings(tmp_path, f"deploy@docs.example:{remote.bare}")
    with open_docs(options) as before:
        old = before.files[0]
    remote.write("docs/new.md", "# New\n\nNew.\n")
    remote.commit(date="2024-06-01T10:00:00Z")
    with open_docs(options) as after:
        new, same = after.files
        assert texts(after) == {"new.md": "# New\n\nNew.\n", "pay.md": PAY}
    assert same.fingerprint == old.fingerprint
    assert same.updated_at == old.updated_at
    assert new.updated_at == datetime(2024, 6, 1, 10, tzinfo=UTC)


def test_content_is_fetched_on_demand_and_history_is_kept(tmp_path: Path) -> None:
    remote = DocsRemote(tmp_path)
    remote.write("docs/pay.md", "# Pay\n\nOld text.\n")
    remote.commit()
    old_blob = git(remote.work, "rev-parse", "HEAD:docs/pay.md")
    remote.write("docs/pay.md", PAY)
    remote.write("src/big.bin", "x" * 100_000)
    remote.commit()
    with open_docs(docs_settings(tmp_path, remote.url)) as checkout:
        assert texts(checkout) == {"pay.md": PAY}
    clone = tmp_path / "data" / "clone"
    assert git(clone, "rev-list", "--count", remote.head) == "2"
    missing = git(clone, "rev-list", "--objects", "--all", "--missing=print")
    assert f"?{old_blob}" in missing
    assert "?" + git(remote.work, "rev-parse", "HEAD:src/big.bin") in missing


def test_every_file_left_out_is_named_with_its_reason(tmp_path: Path) -> None:
    remote = DocsRemote(tmp_path)
    for path in ("a.md", ".hidden/b.md", ".env.md", "pic.png", "Makefile", "drafts/c.md"):
        remote.write(f"docs/{path}", "text\n")
    remote.write("docs/big.md", "x" * 2_000)
    (remote.work / "docs/link.md").symlink_to("a.md")
    git(remote.work, "add", "--all")
    commit = "1" * 40
    git(remote.work, "update-index", "--add", "--cacheinfo", f"160000,{commit},docs/sub")
    git(remote.work, "commit", "--quiet", "-m", "all kinds")
    remote.push()
    options = docs_settings(tmp_path, remote.url, docs_exclude=("drafts/**",), max_file_bytes=1_000)
    with open_docs(options) as checkout:
        assert paths(checkout) == ["a.md"]
        assert reasons(checkout) == {
            ".hidden/b.md": "hidden",
            ".env.md": "hidden",
            "pic.png": "unsupported",
            "Makefile": "unsupported",
            "drafts/c.md": "excluded",
            "big.md": "huge",
            "link.md": "symlink",
            "sub": "submodule",
        }


def test_only_included_files_are_read(remote: DocsRemote, tmp_path: Path) -> None:
    with open_docs(docs_settings(tmp_path, remote.url, docs_include=("oncall/**",))) as checkout:
        assert paths(checkout) == ["oncall/README.md"]
        assert reasons(checkout) == {"pay.md": "excluded"}


def test_names_of_any_kind_and_twins_by_case_are_kept_apart(tmp_path: Path) -> None:
    names = ["運用/再起動.md", "Incident Guide.md", 'the "old" way.md', "README.md", "Readme.md"]
    remote = DocsRemote(tmp_path)
    for name in names:
        remote.write(f"docs/{name}", f"# {name}\n\nText.\n")
    undecodable = os.fsencode(remote.work / "docs") + b"/caf\xe9.md"
    Path(os.fsdecode(undecodable)).write_text("x")
    remote.commit()
    with open_docs(docs_settings(tmp_path, remote.url)) as checkout:
        assert sorted(paths(checkout)) == sorted(names)
        assert reasons(checkout) == {"caf�.md": "encoding"}
        assert all(text == f"# {path}\n\nText.\n" for path, text in texts(checkout).items())


@pytest.mark.parametrize("place", [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"])
def test_the_last_line_that_matches_names_the_owner(tmp_path: Path, place: str) -> None:
    remote = DocsRemote(tmp_path)
    for path in ("a.md", "pay/b.md", "pay/deep/c.md", "free/d.md"):
        remote.write(f"docs/{path}", "text\n")
    remote.write(
        place,
        "# who owns what\n*  @acme/docs\n/docs/pay/ @acme/pay @sam # payments\n"
        "docs/pay/deep/* @kim\n/docs/free/\n",
    )
    remote.commit()
    with open_docs(docs_settings(tmp_path, remote.url)) as checkout:
        assert {file.path: file.owner for file in checkout.files} == {
            "a.md": "@acme/docs",
            "pay/b.md": "@acme/pay @sam",
            "pay/deep/c.md": "@kim",
            "free/d.md": None,
        }


def test_the_default_branch_is_followed_when_it_is_renamed(
    remote: DocsRemote, tmp_path: Path
) -> None:
    options = docs_settings(tmp_path, remote.url)
    open_docs(options).close()
    git(remote.work, "branch", "-m", "main", "trunk")
    remote.write("docs/pay.md", "# Pay\n\nOn trunk.\n")
    remote.commit()
    git(remote.bare, "symbolic-ref", "HEAD", "refs/heads/trunk")
    git(remote.bare, "update-ref", "-d", "refs/heads/main")
    with open_docs(options) as checkout:
        assert checkout.revision.branch == "trunk"
        assert texts(checkout)["pay.md"] == "# Pay\n\nOn trunk.\n"


def test_a_branch_that_is_not_there_is_named(remote: DocsRemote, tmp_path: Path) -> None:
    with pytest.raises(DocsRepoError, match=r"no branch release .*default branch is main") as error:
        open_docs(docs_settings(tmp_path, remote.url, docs_branch="release"))
    assert problem(error) == "ref_missing"


def test_a_missing_name_is_answered_with_those_there_are(
    remote: DocsRemote, tmp_path: Path
) -> None:
    git(remote.work, "tag", "release-1")
    git(remote.work, "push", "--quiet", "origin", "release-1")
    with pytest.raises(DocsRepoError, match=r"It has release-1, main\.") as error:
        open_docs(docs_settings(tmp_path, remote.url, docs_branch="release1"))
    assert problem(error) == "ref_missing"


def test_the_default_branch_of_a_clone_is_its_own(remote: DocsRemote, tmp_path: Path) -> None:
    clone = tmp_path / "clone-of-it"
    git(tmp_path, "clone", "--quiet", remote.url, str(clone))
    git(clone, "checkout", "--quiet", "-b", "trunk")
    with open_docs(docs_settings(tmp_path, clone.as_uri())) as checkout:
        assert checkout.revision.branch == "trunk"
    with pytest.raises(DocsRepoError, match=r"\(its default branch is trunk\)"):
        open_docs(docs_settings(tmp_path, clone.as_uri(), docs_branch="nosuch"))


@pytest.mark.parametrize("kind", ["annotated", "light", "tag of a tag"])
def test_a_tag_is_read_at_its_commit_and_followed_when_it_moves(
    remote: DocsRemote, tmp_path: Path, kind: str
) -> None:
    def tag() -> str:
        options = ["--force"] if kind == "light" else ["--force", "-m", "a release"]
        git(remote.work, "tag", *options, "v1", "HEAD")
        if kind == "tag of a tag":
            git(remote.work, "tag", *options, "v1", "v1")
        git(remote.work, "push", "--quiet", "--force", "origin", "v1")
        return remote.head

    options = docs_settings(tmp_path, remote.url, docs_branch="v1")
    first = tag()
    remote.write("docs/pay.md", "# Pay\n\nLater.\n")
    remote.commit()
    with open_docs(options) as checkout:
        assert checkout.revision.commit == first
        assert checkout.revision.branch == "v1"
        assert texts(checkout)["pay.md"] == PAY
    moved = tag()
    with open_docs(options) as checkout:
        assert checkout.revision.commit == moved
        assert texts(checkout)["pay.md"] == "# Pay\n\nLater.\n"


def test_a_branch_goes_before_a_tag_of_its_name(remote: DocsRemote, tmp_path: Path) -> None:
    git(remote.work, "tag", "v1")
    remote.write("docs/pay.md", "# Pay\n\nOn the branch.\n")
    remote.commit()
    git(remote.work, "push", "--quiet", "origin", "refs/tags/v1", "HEAD:refs/heads/v1")
    with open_docs(docs_settings(tmp_path, remote.url, docs_branch="v1")) as checkout:
        assert checkout.revision.commit == remote.head


@pytest.mark.parametrize("length", [40, 9])
@pytest.mark.parametrize("has_clone", [True, False])
def test_a_commit_is_read_by_its_id(
    remote: DocsRemote, tmp_path: Path, length: int, has_clone: bool
) -> None:
    first = remote.head
    remote.write("docs/pay.md", "# Pay\n\nLater.\n")
    remote.commit()
    if has_clone:
        open_docs(docs_settings(tmp_path, remote.url)).close()
    options = docs_settings(tmp_path, remote.url, docs_branch=first[:length].upper())
    for _ in range(2):
        with open_docs(options) as checkout:
            assert checkout.revision.commit == first
            assert texts(checkout)["pay.md"] == PAY


def test_a_commit_that_the_host_does_not_have_is_named(remote: DocsRemote, tmp_path: Path) -> None:
    for id_ in ("0123456789" * 4, "0123456789"):
        with pytest.raises(DocsRepoError, match=rf"{id_}.*FOOTNOTE_DOCS_BRANCH") as error:
            open_docs(docs_settings(tmp_path, remote.url, docs_branch=id_))
        assert problem(error) == "ref_missing"


def test_a_remote_without_a_commit_is_said_to_be_empty(tmp_path: Path) -> None:
    remote = DocsRemote(tmp_path)
    with pytest.raises(DocsRepoError, match="no default branch with a commit") as error:
        open_docs(docs_settings(tmp_path, remote.url))
    assert problem(error) == "ref_missing"


def test_a_docs_root_that_is_not_there_is_named(remote: DocsRemote, tmp_path: Path) -> None:
    with pytest.raises(DocsRepoError, match="no folder handbook on branch main") as error:
        open_docs(docs_settings(tmp_path, remote.url, docs_root="handbook"))
    assert problem(error) == "root_missing"
    with pytest.raises(SettingsError, match="FOOTNOTE_DOCS_ROOT"):
        open_docs(docs_settings(tmp_path, remote.url, docs_root="../other"))


def test_rewritten_history_is_followed(remote: DocsRemote, tmp_path: Path) -> None:
    options = docs_settings(tmp_path, remote.url)
    open_docs(options).close()
    remote.replace_history({"docs/only.md": "# Only\n\nOther history.\n"})
    remote.collect_garbage()
    with open_docs(options) as checkout:
        assert texts(checkout) == {"only.md": "# Only\n\nOther history.\n"}


def test_any_file_of_the_repo_can_be_found(remote: DocsRemote, tmp_path: Path) -> None:
    remote.write(".footnote/questions.jsonl", "{}\n")
    remote.commit()
    for address in (remote.url, str(remote.work)):
        with open_docs(docs_settings(tmp_path, address)) as checkout:
            assert checkout.find(".footnote/questions.jsonl") == b"{}\n"
            assert checkout.find("footnote.toml") is None
            assert checkout.find("docs") is None
