"""A docs repo that brings commands along is read, or refused in one line, and nothing of it runs.

Each trap is sprung by plain git first: what is not sprung by anybody would prove nothing.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.doctor import examine
from ingest.documents import IngestReport
from ingest.errors import DocsRepoError
from ingest.index import open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.ingest.repo.remotes import IDENTITY, git, https_server
from tests.waiting import PATIENCE

NOBODY = 65534

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")


@dataclass(frozen=True)
class Trap:
    """A docs repo, and a command that leaves a mark when anybody runs it."""

    docs: Path
    command: Path
    mark: Path

    def set(self, key: str, value: object) -> None:
        git(self.docs, "config", key, str(value))

    def set_later(self, key: str, value: object) -> None:
        """The same where git would already run it."""
        git(self.docs, "config", "--file", str(self.docs / ".git" / "config"), key, str(value))

    def forget_commit(self) -> None:
        """HEAD names a commit that is not there."""
        head = git(self.docs, "rev-parse", "HEAD")
        (self.docs / ".git" / "objects" / head[:2] / head[2:]).unlink()

    def promise(self, url: str, **more: str) -> None:
        """What is missing is to be had from a remote."""
        for key, value in {"url": url, "promisor": "true", **more}.items():
            self.set_later(f"remote.o.{key}", value)
        self.set_later("core.repositoryFormatVersion", "1")
        self.set_later("extensions.partialClone", "o")


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    docs, command, mark = tmp_path / "docs", tmp_path / "command", tmp_path / "ran"
    docs.mkdir()
    (docs / "a.md").write_text("# Pay\n\nRestart the payout worker first.\n")
    git(docs, "init", "--quiet", "--initial-branch=main", ".")
    git(docs, "add", "--all")
    git(docs, "commit", "--quiet", "-m", "docs")
    command.write_text(f"#!/bin/sh\ndate >> {mark}\nexit 1\n")
    command.chmod(0o755)
    return Trap(docs, command, mark)


def settings_for(place: object, tmp_path: Path) -> IndexSettings:
    return IndexSettings(docs_repo=str(place), data_dir=tmp_path / "data", git_timeout=PATIENCE)


def ingest(settings: IndexSettings) -> IngestReport:
    embedder = HashingEmbedder()
    return run_ingest(settings, open_index(settings, embedder), embedder)


def doctor(settings: IndexSettings, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, str]:
    """What ``footnote doctor`` says of the docs repo."""
    monkeypatch.setenv("FOOTNOTE_EMBEDDER_INT8", "false")
    monkeypatch.setenv("FOOTNOTE_DOCS_REPO", str(settings.docs_repo))
    monkeypatch.setenv("FOOTNOTE_DOCS_ROOT", settings.docs_root)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(settings.data_dir))
    [finding] = [finding for finding in examine() if finding.name == "docs repo"]
    assert "\n" not in finding.said
    return finding.ok, finding.said


def spring(trap: Trap, *arguments: str) -> None:
    """Plain git runs into the trap, whatever it makes of it."""
    environment = {**os.environ, **IDENTITY}
    command = ["git", *arguments]
    subprocess.run(
        command, cwd=trap.docs, env=environment, capture_output=True, check=False, timeout=PATIENCE
    )
    assert trap.mark.exists()
    trap.mark.unlink()


def promisor_upload_pack(trap: Trap) -> None:
    trap.promise("file:///x", uploadpack=f"{trap.command}; false")
    trap.forget_commit()


def promisor_ssh(trap: Trap) -> None:
    trap.promise("ssh://h.example/x")
    trap.set_later("core.sshCommand", trap.command)
    trap.forget_commit()


def promisor_proxy(trap: Trap) -> None:
    trap.promise("git://h.example/x")
    trap.set_later("core.gitProxy", trap.command)
    trap.forget_commit()


def promisor_helper(trap: Trap) -> None:
    trap.set_later("protocol.ext.allow", "always")
    trap.promise(f"ext::{trap.command}")
    trap.forget_commit()


def promisor_rewritten(trap: Trap) -> None:
    trap.set_later("protocol.ext.allow", "always")
    trap.set_later(f"url.ext::{trap.command} .insteadOf", "https://h.example/")
    trap.promise("https://h.example/x")
    trap.forget_commit()


def promisor_included(trap: Trap, key: str = "include.path") -> None:
    trap.promise("ssh://h.example/x")
    included = trap.docs / ".git" / "more"
    git(trap.docs, "config", "--file", str(included), "core.sshCommand", str(trap.command))
    trap.set_later(key, "more")
    trap.forget_commit()


def promisor_included_if(trap: Trap) -> None:
    promisor_included(trap, "includeIf.gitdir:**.path")


def promisor_of_this_work_tree(trap: Trap) -> None:
    trap.promise("ssh://h.example/x")
    trap.set_later("extensions.worktreeConfig", "true")
    more = trap.docs / ".git" / "config.worktree"
    git(trap.docs, "config", "--file", str(more), "core.sshCommand", str(trap.command))
    trap.forget_commit()


def monitor(trap: Trap) -> None:
    trap.set_later("core.fsmonitor", trap.command)
    trap.set_later("core.untrackedCache", "true")


def filters(trap: Trap) -> None:
    (trap.docs / ".gitattributes").write_text("*.md filter=f\n")
    for key in ("clean", "smudge", "process"):
        trap.set_later(f"filter.f.{key}", trap.command)
    (trap.docs / "a.md").write_text("# Pay\n\nEdited.\n")


def differences(trap: Trap) -> None:
    (trap.docs / ".git" / "info" / "attributes").write_text("*.md diff=d\n")
    trap.set_later("diff.d.textconv", trap.command)
    trap.set_later("diff.d.command", trap.command)
    trap.set_later("diff.external", trap.command)
    (trap.docs / "a.md").write_text("# Pay\n\nEdited.\n")


def hooks(trap: Trap) -> None:
    for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        shutil.copy(trap.command, trap.docs / ".git" / "hooks" / name)


def hooks_elsewhere(trap: Trap) -> None:
    (trap.docs / "hooks").mkdir()
    trap.set("core.hooksPath", trap.docs / "hooks")
    for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        shutil.copy(trap.command, trap.docs / "hooks" / name)


def signatures(trap: Trap) -> None:
    commit = git(trap.docs, "cat-file", "commit", "HEAD").split("\n\n", 1)
    signed = f"{commit[0]}\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n\n{commit[1]}\n"
    (trap.docs / ".git" / "signed").write_text(signed)
    id_ = git(trap.docs, "hash-object", "-t", "commit", "-w", ".git/signed")
    git(trap.docs, "update-ref", "refs/heads/main", id_)
    trap.set("log.showSignature", "true")
    trap.set("gpg.program", trap.command)


def alternates(trap: Trap) -> None:
    """All objects are another repository's, which names a command itself."""
    elsewhere = trap.docs.parent / "elsewhere"
    shutil.copytree(trap.docs / ".git", elsewhere)
    objects = trap.docs / ".git" / "objects"
    shutil.rmtree(objects)
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_text(f"{elsewhere}/objects\n")
    trap.set("core.alternateRefsCommand", trap.command)


def submodule(trap: Trap) -> None:
    (trap.docs / ".gitmodules").write_text('[submodule "s"]\n\tpath = s\n\turl = ./s\n')
    head = git(trap.docs, "rev-parse", "HEAD")
    git(trap.docs, "update-index", "--add", "--cacheinfo", f"160000,{head},s")
    git(trap.docs, "add", ".gitmodules")
    git(trap.docs, "commit", "--quiet", "-m", "submodule")
    git(trap.docs, "clone", "--quiet", ".", "s")
    git(trap.docs / "s", "commit", "--quiet", "--allow-empty", "-m", "more")
    trap.set("submodule.s.update", f"!{trap.command}")
    trap.set("submodule.s.url", "./s")
    trap.set("submodule.recurse", "true")


Plant = Callable[[Trap], None]
TRAPS: list[tuple[Plant, tuple[str, ...]]] = [
    (promisor_upload_pack, ("cat-file", "-p", "HEAD")),
    (promisor_ssh, ("log",)),
    (promisor_proxy, ("log",)),
    (promisor_helper, ("log",)),
    (promisor_rewritten, ("log",)),
    (promisor_included, ("log",)),
    (promisor_included_if, ("log",)),
    (promisor_of_this_work_tree, ("log",)),
    (monitor, ("ls-files", "--others")),
    (filters, ("diff",)),
    (differences, ("diff",)),
    (hooks, ("commit", "--allow-empty", "-m", "x")),
    (hooks_elsewhere, ("commit", "--allow-empty", "-m", "x")),
    (signatures, ("log",)),
    (alternates, ("rev-list", "--all", "--alternate-refs")),
    (submodule, ("submodule", "update")),
]


@pytest.mark.parametrize(("plant", "by"), TRAPS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_folder_is_indexed_and_no_command_of_its_repository_runs(
    trap: Trap,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    plant: Plant,
    by: tuple[str, ...],
) -> None:
    plant(trap)
    spring(trap, *by)
    settings = settings_for(trap.docs, tmp_path)
    report = ingest(settings)
    assert report.documents == 1
    lacking = plant is alternates or plant.__name__.startswith("promisor")
    assert [w for w in report.warnings if "without dates" in w and "full clone" in w] or not lacking
    assert all("\n" not in warning for warning in report.warnings)
    fine, said = doctor(settings, monkeypatch)
    assert fine
    assert ("without dates" in said) == lacking
    assert not trap.mark.exists()


@pytest.mark.parametrize(("plant", "by"), TRAPS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("bare", [True, False])
def test_a_repository_on_this_machine_serves_its_commits_and_no_command_of_it_runs(
    trap: Trap,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    plant: Plant,
    by: tuple[str, ...],
    bare: bool,
) -> None:
    plant(trap)
    spring(trap, *by)
    trap.set_later("uploadpack.packObjectsHook", trap.command)
    place: object = trap.docs.as_uri()
    if bare:
        trap.set_later("core.bare", "true")
        place = (trap.docs / ".git").rename(tmp_path / "bare.git")
    settings = settings_for(place, tmp_path)
    if plant is alternates or plant.__name__.startswith("promisor"):
        with pytest.raises(DocsRepoError) as error:
            ingest(settings)
        assert "\n" not in str(error.value)
        assert ("borrows objects" in str(error.value)) == (plant is alternates)
    else:
        assert ingest(settings).documents == 1
    doctor(settings, monkeypatch)
    assert not trap.mark.exists()


needs_openssl = pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate")


@needs_openssl
@pytest.mark.parametrize("where", ["around the working folder", "around the data folder"])
def test_a_remote_is_asked_without_the_configuration_of_a_repository_nearby(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    trap.set("credential.helper", f"!{trap.command}")
    data = trap.docs / "inner" if where == "around the data folder" else tmp_path
    if data == tmp_path:
        monkeypatch.chdir(trap.docs)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "server.pem"))
    with https_server(trap.docs / ".git", tmp_path, None) as (url, _):
        spring(trap, "ls-remote", url)
        settings = settings_for(url, data)
        with pytest.raises(DocsRepoError) as error:
            ingest(settings)
        assert error.value.kind == "auth_failed"
        assert not doctor(settings, monkeypatch)[0]
    assert not trap.mark.exists()


@needs_openssl
def test_the_users_own_helpers_and_short_addresses_open_a_private_repo(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, helper = str(tmp_path / "gitconfig"), "!f() { echo username=u; echo password=sesame; }; f"
    monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "server.pem"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", own)
    with https_server(trap.docs / ".git", tmp_path, "sesame") as (url, _):
        git(tmp_path, "config", "--file", own, "credential.helper", helper)
        git(tmp_path, "config", "--file", own, f"url.{url}.insteadOf", "https://docs.example/")
        assert ingest(settings_for("https://docs.example/", tmp_path)).documents == 1


@pytest.mark.parametrize("work_tree", ["/", "/nowhere", ".."])
def test_the_work_tree_is_where_the_repository_lies_whatever_it_says(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work_tree: str
) -> None:
    trap.set("core.worktree", work_tree)
    settings = settings_for(trap.docs, tmp_path)
    report = ingest(settings)
    assert (report.documents, report.warnings) == (1, ())
    assert doctor(settings, monkeypatch)[0]


def test_a_folder_that_git_cannot_name_is_refused_in_one_line(trap: Trap, tmp_path: Path) -> None:
    odd = trap.docs.rename(tmp_path / "do\ncs")
    with pytest.raises(DocsRepoError, match="line break") as error:
        ingest(settings_for(odd, tmp_path))
    assert "\n" not in str(error.value)


@as_root
@pytest.mark.parametrize("kind", ["folder", "bare", "address", "part"])
def test_what_another_user_owns_is_refused_until_it_is_trusted(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    promisor_upload_pack(trap) if kind == "part" else monitor(trap)
    place: object = trap.docs
    if kind == "bare":
        place = tmp_path / "bare.git"
        git(tmp_path, "clone", "--quiet", "--bare", str(trap.docs), str(place))
    elif kind == "address":
        place = trap.docs.as_uri()
    elif kind == "part":
        (trap.docs / "inner").mkdir()
        (trap.docs / "a.md").rename(trap.docs / "inner" / "a.md")
    for file in [tmp_path / "bare.git", trap.docs, *tmp_path.rglob("*")]:
        if file.exists() and not file.is_relative_to(trap.command):
            os.chown(file, NOBODY, NOBODY)
    more = {"docs_root": "inner"} if kind == "part" else {}
    settings = settings_for(place, tmp_path).model_copy(update=more)
    with pytest.raises(DocsRepoError, match="belongs to another user") as error:
        ingest(settings)
    assert error.value.kind == "not_trusted"
    cure = str(error.value).partition("run: ")[2].split()
    fine, said = doctor(settings, monkeypatch)
    assert not fine
    assert said.endswith(" ".join(cure))
    assert not trap.mark.exists()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    subprocess.run(cure, check=True, env={**os.environ, "HOME": str(tmp_path)}, timeout=PATIENCE)
    assert ingest(settings).documents == 1
    assert not trap.mark.exists()


@pytest.mark.parametrize("owner", ["same", pytest.param("other", marks=as_root)])
def test_a_repository_planted_above_a_folder_does_not_count(
    trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    shared = tmp_path / "shared"
    (shared / "docs").mkdir(parents=True)
    shared.chmod(0o1777)
    (shared / "docs" / "pay.md").write_text("# Pay\n")
    promisor_upload_pack(trap)
    trap.set_later("core.fsmonitor", trap.command)
    (trap.docs / ".git").rename(shared / ".git")
    (shared / ".gitignore").write_text("*\n")
    if owner == "other":
        for file in (shared / ".git", *(shared / ".git").rglob("*")):
            os.chown(file, NOBODY, NOBODY)
    settings = settings_for(shared / "docs", tmp_path)
    report = ingest(settings)
    assert (report.documents, report.revision) == (1, "local folder")
    assert [w for w in report.warnings if "safe.directory" in w] or owner == "same"
    assert doctor(settings, monkeypatch)[0]
    assert not trap.mark.exists()


def test_a_folder_that_a_repository_above_it_tracks_is_a_part_of_it(
    trap: Trap, tmp_path: Path
) -> None:
    for path in ("tracked/a.md", "tracked/draft.md", "other/b.md"):
        file = trap.docs / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("# Page\n\nText.\n")
    (trap.docs / ".gitignore").write_text("draft.md\n")
    git(trap.docs, "add", ".gitignore", "tracked")
    git(trap.docs, "commit", "--quiet", "-m", "pages")
    head = git(trap.docs, "rev-parse", "HEAD")
    report = ingest(settings_for(trap.docs / "tracked", tmp_path))
    assert (report.documents, report.revision) == (1, head)
    report = ingest(settings_for(trap.docs / "other", tmp_path))
    assert (report.documents, report.revision) == (1, "local folder")
