"""A citation opens the cited lines at the indexed commit, wherever the docs repo is hosted."""

import pytest

from ingest.documents import Revision
from ingest.permalinks import permalink

COMMIT = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"


def link(
    remote: str | None,
    path: str = "pay/limits.txt",
    template: str | None = None,
    dirty: bool = False,
    commit: str | None = COMMIT,
) -> str | None:
    revision = Revision(commit, "main", remote, dirty)
    return permalink(revision, "docs", path, (3, 9), template)


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        (
            "https://github.com/acme/docs.git",
            f"https://github.com/acme/docs/blob/{COMMIT}/docs/pay/limits.txt#L3-L9",
        ),
        (
            "git@github.com:acme/docs.git",
            f"https://github.com/acme/docs/blob/{COMMIT}/docs/pay/limits.txt#L3-L9",
        ),
        (
            "ssh://git@ssh.github.com:443/acme/docs",
            f"https://github.com/acme/docs/blob/{COMMIT}/docs/pay/limits.txt#L3-L9",
        ),
        (
            "https://github.acme.example:8443/acme/docs",
            f"https://github.acme.example:8443/acme/docs/blob/{COMMIT}/docs/pay/limits.txt#L3-L9",
        ),
        (
            "ssh://git@gitlab.acme.example:2222/sre/oncall/docs.git",
            f"https://gitlab.acme.example/sre/oncall/docs/-/blob/{COMMIT}/docs/pay/limits.txt#L3-9",
        ),
        (
            "git@code.acme.example:sre/oncall/docs.git",
            f"https://code.acme.example/sre/oncall/docs/-/blob/{COMMIT}/docs/pay/limits.txt#L3-9",
        ),
        (
            "git@bitbucket.org:acme/docs.git",
            f"https://bitbucket.org/acme/docs/src/{COMMIT}/docs/pay/limits.txt#lines-3:9",
        ),
        (
            "https://bitbucket.acme.example/scm/pay/docs.git",
            "https://bitbucket.acme.example/projects/pay/repos/docs/browse/docs/pay/limits.txt"
            f"?at={COMMIT}#3-9",
        ),
        (
            "https://codeberg.org/acme/docs.git",
            f"https://codeberg.org/acme/docs/src/commit/{COMMIT}/docs/pay/limits.txt#L3-L9",
        ),
        (
            "ssh://git@gitea.acme.example/acme/docs.git",
            f"https://gitea.acme.example/acme/docs/src/commit/{COMMIT}/docs/pay/limits.txt#L3-L9",
        ),
    ],
)
def test_each_code_host_gets_its_own_form(remote: str, expected: str) -> None:
    assert link(remote) == expected


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("https://github.com/a/d", f"https://github.com/a/d/blob/{COMMIT}/docs/x.md?plain=1#L3-L9"),
        (
            "https://gitlab.com/a/d",
            f"https://gitlab.com/a/d/-/blob/{COMMIT}/docs/x.md?plain=1#L3-9",
        ),
        (
            "https://codeberg.org/a/d",
            f"https://codeberg.org/a/d/src/commit/{COMMIT}/docs/x.md?display=source#L3-L9",
        ),
    ],
)
def test_a_page_that_the_host_would_render_is_opened_as_source(remote: str, expected: str) -> None:
    assert link(remote, "x.md") == expected


def test_names_with_blanks_signs_and_other_scripts_are_quoted() -> None:
    opened = link("https://github.com/acme/docs", "運用/a b#c?.txt")
    assert opened == (
        f"https://github.com/acme/docs/blob/{COMMIT}/docs/%E9%81%8B%E7%94%A8/a%20b%23c%3F.txt#L3-L9"
    )


@pytest.mark.parametrize(
    ("remote", "dirty", "commit"),
    [
        (None, False, COMMIT),
        ("https://github.com/acme/docs", True, COMMIT),
        ("https://github.com/acme/docs", False, None),
        ("https://git.acme.example/acme/docs", False, COMMIT),
        ("file:///srv/docs.git", False, COMMIT),
    ],
)
def test_there_is_no_link_where_it_would_open_something_else(
    remote: str | None, dirty: bool, commit: str | None
) -> None:
    assert link(remote, dirty=dirty, commit=commit) is None


def test_a_template_takes_the_place_of_the_hosts_form() -> None:
    template = "https://git.acme.example/{commit}/{path}?p={page}&l={first}-{last}&x={other}"
    opened = link("https://github.com/acme/docs", "a b.txt", template)
    assert opened == (
        f"https://git.acme.example/{COMMIT}/docs/a%20b.txt?p=a%20b.txt&l=3-9&x={{other}}"
    )


def test_a_template_without_a_commit_serves_a_folder_that_is_in_no_repository() -> None:
    template = "http://127.0.0.1:8765/docs/{page}#L{first}-L{last}"
    assert link(None, "x.md", template, commit=None) == "http://127.0.0.1:8765/docs/x.md#L3-L9"
    assert link(None, "x.md", "https://git.example/{commit}/{path}", dirty=True) is None


def test_a_file_above_the_docs_root_is_opened_where_it_lies() -> None:
    remote = "https://github.com/acme/docs"
    above = "../examples/a b.ini"
    assert link(remote, above) == f"{remote}/blob/{COMMIT}/examples/a%20b.ini#L3-L9"
    page = link(None, above, "http://127.0.0.1:8765/docs/{page}#L{first}", commit=None)
    # A browser would resolve dots between slashes before it asks.
    assert page == "http://127.0.0.1:8765/docs/..%2Fexamples/a%20b.ini#L3"
