"""Trouble with the docs repo is told apart, named in one line, and healed where it can be."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.errors import DocsRepoError, SettingsError
from ingest.repo.git import Git
from ingest.repo.git_address import Remote
from ingest.settings import IndexSettings
from tests.ingest.repo.checkouts import PAY, docs_settings, open_docs, problem, texts
from tests.ingest.repo.remotes import (
    DocsRemote,
    git,
    https_server,
    silent_server,
    ssh_stand_in,
)
from tests.waiting import wait_for


def damage_packs(clone: Path) -> None:
    for file in [*clone.glob("objects/pack/*.pack"), *clone.glob("objects/??/*")]:
        file.chmod(0o644)
        content = bytearray(file.read_bytes())
        content[len(content) // 3 :] = b"\0" * (len(content) - len(content) // 3)
        file.write_bytes(content)


def cut_off(clone: Path) -> None:
    shutil.rmtree(clone)
    (clone / "objects" / "pack").mkdir(parents=True)
    (clone / "HEAD").write_text("ref: refs/he")


def lock_refs(clone: Path) -> None:
    (clone / "config.lock").touch()
    (clone / "packed-refs.lock").touch()
    (clone / "refs" / "footnote").mkdir(parents=True, exist_ok=True)
    (clone / "refs" / "footnote" / "docs.lock").touch()


@pytest.mark.parametrize("harm", [damage_packs, cut_off, lock_refs])
@pytest.mark.parametrize("moved", [True, False])
def test_a_clone_that_is_damaged_is_made_anew(
    remote: DocsRemote, tmp_path: Path, harm: Callable[[Path], None], moved: bool
) -> None:
    options = docs_settings(tmp_path, remote.url)
    open_docs(options).close()
    harm(tmp_path / "data" / "clone")
    if moved:
        remote.write("docs/pay.md", "# Pay\n\nLater.\n")
        remote.commit()
    with open_docs(options) as checkout:
        assert texts(checkout)["pay.md"] == ("# Pay\n\nLater.\n" if moved else PAY)
    assert not (tmp_path / "data" / "clone.old").exists()
    assert not (tmp_path / "data" / "clone.new").exists()


def test_content_that_rotted_is_noticed_and_the_next_run_is_sound(
    remote: DocsRemote, tmp_path: Path
) -> None:
    options = docs_settings(tmp_path, remote.url, git_timeout=10.0)
    with open_docs(options) as checkout:
        damage_packs(tmp_path / "data" / "clone")
        with pytest.raises(DocsRepoError, match="is damaged") as error:
            texts(checkout)
    assert problem(error) == "local_clone_corrupt"
    with open_docs(options) as checkout:
        assert texts(checkout)["pay.md"] == PAY


@pytest.mark.parametrize("harm", ["objects", "config"])
@pytest.mark.parametrize("moved", [True, False])
def test_damage_at_the_address_is_not_blamed_on_the_clone(
    remote: DocsRemote, tmp_path: Path, harm: str, moved: bool
) -> None:
    options = docs_settings(tmp_path, remote.url)
    if moved:
        open_docs(options).close()
        remote.write("docs/pay.md", "# Pay\n\nLater.\n")
        remote.commit()
    if harm == "objects":
        damage_packs(remote.bare)
    else:
        (remote.bare / "config").write_text("[[[")
    with pytest.raises(DocsRepoError) as error:
        open_docs(options)
    assert problem(error) in ("fetch_failed", "local_clone_corrupt")
    assert "cloned again" not in str(error.value)
    assert "the network" not in str(error.value)


def test_what_somebody_leaves_in_the_clone_does_not_matter(
    remote: DocsRemote, tmp_path: Path
) -> None:
    options = docs_settings(tmp_path, remote.url)
    open_docs(options).close()
    scribble = tmp_path / "data" / "clone" / "docs"
    scribble.mkdir()
    (scribble / "pay.md").write_text("scribble")
    with open_docs(options) as checkout:
        assert texts(checkout)["pay.md"] == PAY


def test_a_remote_that_is_down_is_an_error_and_the_clone_stays(
    remote: DocsRemote, tmp_path: Path
) -> None:
    options = docs_settings(tmp_path, remote.url)
    open_docs(options).close()
    remote.bare.rename(tmp_path / "away")
    with pytest.raises(DocsRepoError, match="does not appear to be a git repository") as error:
        open_docs(options)
    assert problem(error) == "fetch_failed"
    (tmp_path / "away").rename(remote.bare)
    open_docs(options).close()


def test_a_remote_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with silent_server() as port, pytest.raises(DocsRepoError, match="FOOTNOTE_GIT_TIM") as error:
        open_docs(docs_settings(tmp_path, f"https://127.0.0.1:{port}/x.git", git_timeout=0.5))
    assert problem(error) == "timeout"


needs_openssl = pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate")


@needs_openssl
@pytest.mark.parametrize("place", ["setting", "address"])
def test_a_token_opens_a_private_repo_and_stands_nowhere(
    remote: DocsRemote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    secret = "EXAMPLE-TOKEN-123"
    monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "server.pem"))
    with https_server(remote.bare, tmp_path, secret) as (url, seen):
        given = url.replace("https://", f"https://someone:{secret}@")
        options = (
            docs_settings(tmp_path, given)
            if place == "address"
            else docs_settings(tmp_path, url, docs_token=secret)
        )
        with open_docs(options) as checkout:
            assert texts(checkout)["pay.md"] == PAY
            assert checkout.revision.remote == url
    assert "" in seen  # it is only shown to a server that asks for it
    for file in (tmp_path / "data").rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes()


def test_a_token_is_for_its_own_host_wherever_that_one_leads(tmp_path: Path) -> None:
    secret = "EXAMPLE-TOKEN-123"
    git = Git(tmp_path, 30, Remote.parse("https://docs.example.com:8443/a.git", secret))
    own = git.run("credential", "fill", stdin=b"protocol=https\nhost=docs.example.com:8443\n\n")
    assert f"password={secret}".encode() in own
    for other in ("evil.example.com", "docs.example.com", "docs.example.com:8443.evil.example.com"):
        with pytest.raises(DocsRepoError):
            git.run("credential", "fill", stdin=f"protocol=https\nhost={other}\n\n".encode())


@needs_openssl
def test_refused_credentials_are_told_apart_and_not_repeated(
    remote: DocsRemote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "server.pem"))
    with https_server(remote.bare, tmp_path, None) as (url, _):
        given = url.replace("https://", "https://x-access-token:EXAMPLE-TOKEN-123@")
        with pytest.raises(DocsRepoError, match="FOOTNOTE_DOCS_TOKEN") as error:
            open_docs(docs_settings(tmp_path, given))
        assert problem(error) == "auth_failed"
        assert "EXAMPLE-TOKEN-123" not in str(error.value)
        with pytest.raises(DocsRepoError) as error:
            open_docs(docs_settings(tmp_path, url))
        assert problem(error) == "auth_failed"


def test_ssh_is_spoken_without_prompts(
    remote: DocsRemote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh_stand_in(tmp_path)))
    with open_docs(docs_settings(tmp_path, f"deploy@docs.example:{remote.bare}")) as checkout:
        assert texts(checkout)["pay.md"] == PAY
    asked = (tmp_path / "asked").read_text()
    assert "BatchMode=yes" in asked
    assert "deploy@docs.example" in asked


@pytest.mark.parametrize(
    ("says", "kind"),
    [
        ("git@docs.example: Permission denied (publickey).", "auth_failed"),
        ("Host key verification failed.", "fetch_failed"),
        ("ssh: connect to host docs.example port 22: Connection timed out", "timeout"),
        ("ssh: Could not resolve hostname docs.example: Name or service not known", "fetch_failed"),
    ],
)
def test_what_ssh_complains_of_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, kind: str
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    with pytest.raises(DocsRepoError) as error:
        open_docs(docs_settings(tmp_path, "git@docs.example:acme/docs.git"))
    assert problem(error) == kind
    assert says.rstrip(".").removeprefix("ssh: ") in str(error.value)


def test_of_several_errors_the_first_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    said = (
        "remote: Counting objects",
        "error: RPC failed; cannot reach https://me:s3cret@docs.example/x",
        "fatal: early EOF",
        "fatal: fetch-pack: invalid index-pack output",
    )
    ssh.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in said) + "exit 1\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    with pytest.raises(DocsRepoError) as error:
        open_docs(docs_settings(tmp_path, "git@docs.example:acme/docs.git"))
    assert problem(error) == "fetch_failed"
    assert "failed: RPC failed; cannot reach https://docs.example/x. Check" in str(error.value)


def test_an_address_that_lacks_objects_is_to_be_repaired(
    remote: DocsRemote, tmp_path: Path
) -> None:
    blob = git(remote.work, "rev-parse", "HEAD:docs/pay.md")
    (remote.work / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(
        DocsRepoError, match=r"git fetch on .*repair it, or clone it again"
    ) as error:
        open_docs(docs_settings(tmp_path, remote.work.as_uri()))
    assert problem(error) == "fetch_failed"
    assert blob in str(error.value)
    assert "the network" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://docs.example/docs.git",
        "git://docs.example/docs.git",
        "ext::sh -c touch% /tmp/harm",
        "https://-oProxyCommand=x/docs.git",
        "javascript:alert",
    ],
)
def test_other_transports_are_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(DocsRepoError) as error:
        open_docs(docs_settings(tmp_path, address))
    assert problem(error) == "transport_refused"


def test_an_address_that_names_nothing_is_said_to(tmp_path: Path) -> None:
    with pytest.raises(DocsRepoError, match="neither a folder nor a git address") as error:
        open_docs(docs_settings(tmp_path, "docs-that-are-not-there"))
    assert problem(error) == "not_a_folder"
    (tmp_path / "page.md").write_text("a page")
    with pytest.raises(DocsRepoError, match=r"a file, not a folder.*SOURCE") as error:
        open_docs(docs_settings(tmp_path, str(tmp_path / "page.md")))
    assert problem(error) == "not_a_folder"
    with pytest.raises(SettingsError, match="FOOTNOTE_DOCS_REPO"):
        open_docs(IndexSettings(data_dir=tmp_path / "data"))


@pytest.mark.parametrize(
    ("address", "url", "username", "token"),
    [
        ("https://h.example/a.git", "https://h.example/a.git", None, None),
        ("https://u:p%40ss@h.example/a", "https://h.example/a", "u", "p@ss"),
        ("https://ghp_0123456789012345678@h.example/a", "https://h.example/a", None, None),
        ("ssh://git:pw@h.example:2222/a", "ssh://git@h.example:2222/a", None, None),
        ("git@h.example:a/b.git", "git@h.example:a/b.git", None, None),
        ("https://:p@bitbucket.org/a", "https://bitbucket.org/a", "x-token-auth", "p"),
    ],
)
def test_an_address_is_kept_apart_from_its_secrets(
    address: str, url: str, username: str | None, token: str | None
) -> None:
    remote = Remote.parse(address)
    assert remote.url == url
    if "ghp_" in address:
        assert (remote.username, remote.token) == ("x-access-token", "ghp_0123456789012345678")
    else:
        assert (remote.username, remote.token) == (username, token)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_a_command_that_hangs_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, own = tmp_path / "child", str(tmp_path / "gitconfig")
    git(tmp_path, "config", "--file", own, "alias.hang", f"!echo $$ > {mark}; sleep 60")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", own)
    seconds = 0.5
    while not (mark.exists() and mark.read_text().strip()):  # it may begin late
        with pytest.raises(DocsRepoError) as error:
            Git(tmp_path, seconds).run("hang")
        assert problem(error) == "timeout"
        seconds *= 2
    child = Path("/proc", mark.read_text().strip(), "stat")

    def has_ended() -> bool:
        try:
            state = child.read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        return state == "Z"  # whether somebody looks at what is left of it is not up to us

    wait_for(has_ended)
