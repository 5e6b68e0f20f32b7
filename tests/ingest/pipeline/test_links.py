"""Links of passages: at any moment they open the quoted lines, in the commit that has them."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ingest.documents import IngestReport
from ingest.index import folders, open_index
from ingest.pipeline import run
from ingest.pipeline.run import IngestProgress, run_ingest
from ingest.settings import IndexSettings
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.ingest.repo.remotes import DocsRemote, git

LINK = re.compile(r"https://git\.example\.com/(\w+)/(\S+)#(\d+)-(\d+)")
PAGES = [f"page-{number}.md" for number in range(4)]


class Stop(Exception):
    """Ends a run in the middle, as a full disk or a kill does."""


class Repo:
    """A git repo of pages, whose lines move with every version, and its index."""

    def __init__(self, folder: Path) -> None:
        self.remote = DocsRemote(folder)
        self.settings = IndexSettings(
            docs_repo=self.remote.url,
            data_dir=folder / "data",
            link_template="https://git.example.com/{commit}/{path}#{first}-{last}",
        )
        self.embedder = HashingEmbedder()
        self.index = open_index(self.settings, self.embedder)
        self._lines: dict[tuple[str, str], list[str]] = {}
        self.push(1)

    def push(self, version: int) -> None:
        notes = "".join(f"Note {number} of all.\n\n" for number in range(version))
        for page in PAGES:
            stays = f"The limit of {page} is 17.\n\n## Part {version}\n\nRestart {page} {version}."
            self.remote.write(page, f"{notes}\n# {page}\n\n{stays}\n")
        self.remote.commit(f"version {version}")

    def ingest(self, pages: int | None = None) -> IngestReport:
        """Run an ingest; stop it when so many pages are written."""

        def listen(progress: IngestProgress) -> None:
            if progress.stage == "write":
                self.check_links()
                if progress.done == pages:
                    raise Stop

        return run_ingest(self.settings, self.index, self.embedder, progress=listen)

    def check_links(self) -> set[str]:
        """Open every link in git; return the commits of the links."""
        commits = set[str]()
        if self.index.status().revision is None:
            return commits
        documents = [self.index.document(path) for path in PAGES]
        passages = [passage for document in documents if document for passage in document.passages]
        for passage in (*passages, *self.index.search("what is the limit?", k=50).passages):
            link = LINK.fullmatch(passage.url or "")
            assert link
            commit, path, first, last = link.groups()
            lines = self.lines(commit, path)
            assert passage.text.strip() == "\n".join(lines[int(first) - 1 : int(last)]).strip()
            commits.add(commit)
        return commits

    def lines(self, commit: str, path: str) -> list[str]:
        if (commit, path) not in self._lines:
            shown = git(self.remote.bare, "show", f"{commit}:{path}")
            self._lines[commit, path] = shown.splitlines()
        return self._lines[commit, path]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repo]:
    monkeypatch.setattr(run, "BATCH", 1)
    repo = Repo(tmp_path)
    yield repo
    repo.index.close()


def test_links_open_the_quoted_lines_during_a_run_and_after_it_is_cut_off(repo: Repo) -> None:
    repo.ingest()
    first = repo.remote.head
    repo.push(3)
    with pytest.raises(Stop):
        repo.ingest(pages=2)
    second = repo.remote.head
    assert repo.check_links() == {first, second}
    status = repo.index.status()
    assert status.revision
    assert (status.revision.commit, status.differing) == (first, 2)
    repo.push(6)
    with pytest.raises(Stop):
        repo.ingest(pages=1)
    third = repo.remote.head
    assert repo.check_links() == {first, second, third}
    repo.ingest()
    assert repo.check_links() == {third}
    assert repo.index.status().differing == 0


def test_a_page_that_could_not_be_written_keeps_the_links_to_its_old_lines(repo: Repo) -> None:
    repo.ingest()
    first = repo.remote.head
    repo.push(4)
    repo.embedder.refuses = "Restart page-3.md 4"
    assert [failed.path for failed in repo.ingest().failed] == ["page-3.md"]
    assert repo.check_links() == {first, repo.remote.head}
    assert repo.index.status().differing == 1
    repo.embedder.refuses = None
    repo.ingest()
    assert repo.check_links() == {repo.remote.head}


def test_an_index_without_a_revision_beside_its_pages_is_used_as_it_is(repo: Repo) -> None:
    repo.ingest()
    repo.index.close()
    folder = folders.live(repo.settings.data_dir)
    assert folder
    with closing(sqlite3.connect(folder.database)) as db:
        db.execute("ALTER TABLE documents DROP COLUMN origin")
    first = repo.remote.head
    assert repo.check_links() == {first}
    repo.push(2)
    with pytest.raises(Stop):
        repo.ingest(pages=3)
    assert repo.check_links() == {first, repo.remote.head}
    report = repo.ingest()
    assert (report.warnings, report.embedded) == ((), 2)


def test_after_a_forced_push_no_link_leads_to_a_commit_that_is_gone(repo: Repo) -> None:
    repo.ingest()
    first = repo.remote.head
    git(repo.remote.work, "checkout", "--quiet", "--orphan", "rewritten")
    (repo.remote.work / PAGES[0]).rename(repo.remote.work / "renamed.md")
    repo.remote.commit("history rewritten")
    git(repo.remote.work, "push", "--quiet", "--force", "origin", "rewritten:main")
    git(repo.remote.bare, "reflog", "expire", "--expire=now", "--all")
    git(repo.remote.bare, "gc", "--quiet", "--prune=now")
    run_ingest(repo.settings, repo.index, repo.embedder)
    assert first not in repo.check_links()
    renamed = repo.index.document("renamed.md")
    assert renamed
    assert all(first not in (passage.url or first) for passage in renamed.passages)
