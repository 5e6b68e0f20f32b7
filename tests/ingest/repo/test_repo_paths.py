"""No path that a page writes, and no link, leads out of the repository."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.pipeline.include_paths import IncludePaths
from ingest.readers.includes.shown_part import Include
from ingest.repo import Checkout
from ingest.repo.checkout import Entry
from ingest.repo.repo_paths import MISSING, OUTSIDE, NotInRepo, follow, from_docs_root
from tests.ingest.repo.checkouts import docs_settings, open_docs
from tests.ingest.repo.remotes import DocsRemote

FILES = {"docs/a.md": "# A\n", "docs/b/c.inc": "See.\n", "README.md": "# Top\n"}
LINKS = {
    "docs/readme.md": "../README.md",
    "docs/b/twice.md": "../readme.md",
    "docs/up": "..",
    "docs/out": "../..",
    "docs/secret.md": "../../secret.md",
    "docs/passwd": "/etc/passwd",
    "docs/loop": "loop",
    "docs/b/round": "../b",
    "docs/git": "../.git",
}


@pytest.fixture(scope="module", params=["folder", "commit"])
def checkout(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Checkout]:
    """The same repository as a work tree and as a clone, with a secret beside it."""
    folder = tmp_path_factory.mktemp("paths")
    remote = DocsRemote(folder)
    for path, text in FILES.items():
        remote.write(path, text)
    (remote.work.parent / "secret.md").write_text("# Secret\n")
    for path, target in LINKS.items():
        (remote.work / path).symlink_to(target)
    remote.commit("links")
    source = str(remote.work) if request.param == "folder" else remote.url
    with open_docs(docs_settings(folder, source)) as checkout:
        yield checkout


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("docs/a.md", "docs/a.md"),
        ("docs/./b/../a.md", "docs/a.md"),
        ("docs/readme.md", "README.md"),
        ("docs/b/twice.md", "README.md"),
        ("docs/up/README.md", "README.md"),
        ("docs/b/round/round/c.inc", "docs/b/c.inc"),
        ("docs/secret.md", OUTSIDE),
        ("docs/out/secret.md", OUTSIDE),
        ("docs/passwd", OUTSIDE),
        ("../secret.md", OUTSIDE),
        ("/etc/passwd", OUTSIDE),
        ("docs/loop", MISSING),
        ("docs/b", MISSING),
        ("docs/a.md/", "docs/a.md"),
        ("docs/a.md/b", MISSING),
        (".git/config", MISSING),
        ("docs/git/config", MISSING),
        ("", MISSING),
    ],
)
def test_a_path_leads_to_a_file_of_the_repository_or_nowhere(
    checkout: Checkout, path: str, found: str
) -> None:
    try:
        outcome = follow(checkout, path).path
    except NotInRepo as error:
        outcome = str(error)
    assert outcome == found


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("partial$x.adoc", "docs/modules/ops/partials/x.adoc"),
        ("ops:partial$x.adoc", "docs/modules/ops/partials/x.adoc"),
        ("ROOT:example$y.yaml", "docs/modules/ROOT/examples/y.yaml"),
        ("1.2@site:ROOT:example$y.yaml", "docs/modules/ROOT/examples/y.yaml"),
        ("{partialsdir}/x.adoc", "docs/modules/ops/partials/x.adoc"),
        ("../{snippets}/x.adoc", "docs/modules/ops/partials/x.adoc"),
        ("Some page", "docs/modules/ops/pages/Some_page.md"),
        ("Box", "docs/wiki/Template:Box.md"),
        ("ops/pages/some-page", "docs/modules/ops/pages/Some_page.md"),
        ("other/some-page", MISSING),
    ],
)
def test_names_of_other_tools_are_looked_up_where_they_lie(
    tmp_path: Path, target: str, found: str
) -> None:
    for path in (
        "modules/ops/partials/x.adoc",
        "modules/ROOT/examples/y.yaml",
        "modules/ops/pages/Some_page.md",
        "wiki/Template:Box.md",
    ):
        (tmp_path / "repo/docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo/docs" / path).write_text("Words.\n")
    with open_docs(docs_settings(tmp_path, str(tmp_path / "repo"))) as checkout:
        include = Include(1, target, searches="$" not in target)
        try:
            outcome = IncludePaths(checkout).entry(include, "modules/ops/pages/a.adoc").path
        except NotInRepo as error:
            outcome = str(error)
    assert outcome == found


NAMES = st.sampled_from(
    (
        *("..", ".", "", "docs", "b", "a.md", "c.inc", "README.md", "out", "up", "loop", "round"),
        *("readme.md", "secret.md", "passwd", "git", ".git", "config", "etc", "~", "C:", "\\.."),
        *("\x00", "{a}", "a$b", "%2e%2e"),
    )
) | st.text(max_size=6)


@given(st.lists(NAMES, max_size=12), st.booleans(), st.sampled_from(["a.md", "b/x.md"]))
def test_no_target_leaves_the_repository(
    checkout: Checkout, names: list[str], searches: bool, page: str
) -> None:
    include = Include(1, "/".join(names), searches=searches)
    try:
        entry = IncludePaths(checkout).entry(include, page)
    except NotInRepo:
        return
    path = PurePosixPath(entry.path)
    assert entry.path in FILES
    assert not path.is_absolute()
    files = checkout.files_at([entry])
    assert str(files[entry.path]).find("Secret") < 0
    assert from_docs_root(checkout, entry.path) in {"a.md", "b/c.inc", "../README.md"}


@pytest.mark.parametrize("kind", ["folder", "commit"])
def test_what_a_page_includes_is_looked_up_in_few_folders_however_deep_it_lies(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = DocsRemote(tmp_path)
    deep = "/".join(["a"] * 300)
    remote.write(f"docs/{deep}/page.md", "# A\n")
    remote.write(f"docs/{deep}/../../includes/near.inc", "Near.\n")
    remote.write("includes/top.inc", "Top.\n")
    remote.commit("deep")
    source = str(remote.work) if kind == "folder" else remote.url
    with open_docs(docs_settings(tmp_path, source)) as checkout:
        paths, looked_up = IncludePaths(checkout), list[str]()
        look_up = checkout.folder

        def counted(path: str) -> Mapping[str, Entry]:
            looked_up.append(path)
            return look_up(path)

        monkeypatch.setattr(checkout, "folder", counted)
        for target in ("near.inc", "top.inc"):
            include = Include(1, target, searches=True)
            assert paths.entry(include, f"{deep}/page.md").path.endswith(target)
        looked_up.clear()
        with pytest.raises(NotInRepo):
            paths.entry(Include(1, "missing.inc", searches=True), f"{deep}/page.md")
        assert len(looked_up) < 300


def test_a_clone_starts_no_process_for_each_file_that_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = DocsRemote(tmp_path)
    remote.write("docs/v1/versions.json", "[]\n")
    (remote.work / "docs/link.json").symlink_to("v1/versions.json")
    (remote.work / "docs/v2").symlink_to("v1")
    remote.commit("versions")
    with open_docs(docs_settings(tmp_path, remote.url)) as checkout:
        assert checkout.find("docs/v1/versions.json") == b"[]\n"
        trace = tmp_path / "trace.txt"
        monkeypatch.setenv("GIT_TRACE", str(trace))
        for path in ("link.json", "v2/versions.json", "v1", "v1/versions.json/a", "", "../a"):
            assert checkout.find(f"docs/{path}") is None
        assert all(checkout.find(f"docs/v1/{n}/versions.json") is None for n in range(20))
        assert not trace.exists()
