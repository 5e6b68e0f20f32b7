"""The docs' own questions: asked after an ingest, and what follows when fewer find their page."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.documents import IngestReport, SelfTest
from ingest.embedding.embedder import open_embedder
from ingest.errors import SelfTestFailed
from ingest.index import folders as index_folders
from ingest.index import open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.conftest import ROOT
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.ingest.repo.remotes import DocsRemote

PAY = "# Pay\n\nRestart the payout worker first.\n"
QUESTIONS = {"How do I restart the payout worker?": "pay.md", "Is the ledger append only?": "l.md"}


class Docs:
    """Docs with questions, and the index made of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "docs"
        self.settings = IndexSettings(docs_repo=str(self.folder), data_dir=folder / "data")
        self.embedder = HashingEmbedder()
        self.index = open_index(self.settings, self.embedder)
        self.write("pay.md", PAY)
        self.write("l.md", "# Ledger\n\nThe ledger is append only.\n")
        self.ask(QUESTIONS)

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def ask(self, questions: dict[str, str]) -> None:
        lines = [json.dumps({"question": q, "path": p}) for q, p in questions.items()]
        self.write(".footnote/questions.jsonl", "\n".join(lines))

    def crowd_out_pay(self) -> None:
        """The page stays, but others say better what it was asked for."""
        self.write("pay.md", "# Pay\n\nNothing here.\n")
        for n in range(8):
            self.write(f"new/{n}.md", f"# Restart {n}\n\nHow to restart the payout worker.\n")

    def ingest(self, **settings: float) -> IngestReport:
        self.embedder.texts.clear()
        return run_ingest(self.settings.model_copy(update=settings), self.index, self.embedder)


@pytest.fixture
def docs(tmp_path: Path) -> Iterator[Docs]:
    docs = Docs(tmp_path)
    yield docs
    docs.index.close()


def test_the_share_found_is_reported_and_the_questions_are_not_indexed(docs: Docs) -> None:
    report = docs.ingest()
    assert report.self_test == SelfTest(hits=2, questions=2)
    assert report.to_json()["self_test"] == {"found": 2, "questions": 2, "share": 1.0}
    assert report.warnings == ()
    assert {d.path for d in docs.index.documents()} == {"pay.md", "l.md"}


def test_without_questions_nothing_is_tested(docs: Docs) -> None:
    shutil.rmtree(docs.folder / ".footnote")
    assert docs.ingest().self_test is None


def test_where_nothing_changed_nothing_is_asked_again(docs: Docs) -> None:
    docs.ingest()
    again = docs.ingest()
    assert again.self_test == SelfTest(2, 2)
    assert docs.embedder.texts == []
    docs.ask(dict(list(QUESTIONS.items())[:1]))
    assert docs.ingest().self_test == SelfTest(1, 1)


def test_a_drop_is_a_warning_that_names_what_was_lost(docs: Docs) -> None:
    docs.ingest()
    docs.crowd_out_pay()
    report = docs.ingest()
    assert report.self_test == SelfTest(1, 2)
    assert report.warnings == (
        "The self-test fell by 50%: 1 questions no longer find their page among the first 5, such "
        "as “How do I restart the payout worker?”.",
    )
    assert len(docs.index.documents()) == 10


def test_a_drop_within_what_is_allowed_is_no_warning(docs: Docs) -> None:
    docs.ingest()
    docs.crowd_out_pay()
    assert docs.ingest(self_test_drop=0.5).warnings == ()


def test_harder_questions_are_no_drop_and_neither_are_pages_that_went(docs: Docs) -> None:
    docs.ingest()
    (docs.folder / "pay.md").unlink()
    for n in range(8):
        docs.write(f"new/{n}.md", f"# Snow {n}\n\nHow to clear snow.\n")
    docs.ask({**QUESTIONS, "Who clears the snow here?": "l.md"})
    report = docs.ingest()
    assert report.self_test == SelfTest(1, 2)
    assert report.warnings == (
        ".footnote/questions.jsonl, line 1 was left out: there is no page pay.md.",
    )


def test_a_rebuilt_index_that_finds_less_is_kept_back_until_that_is_accepted(docs: Docs) -> None:
    docs.ingest()
    before = index_folders.live(docs.settings.data_dir)
    docs.crowd_out_pay()
    docs.embedder = HashingEmbedder("2")
    for _night in "12":
        with pytest.raises(SelfTestFailed, match="The old index stays in use") as caught:
            docs.ingest()
        assert "\n" not in str(caught.value)
        assert index_folders.live(docs.settings.data_dir) == before
        assert docs.index.search("payout worker").passages[0].path == "pay.md"
    report = docs.ingest(self_test_drop=1)
    assert report.self_test == SelfTest(1, 2)
    assert index_folders.live(docs.settings.data_dir) != before
    assert len(docs.index.documents()) == 10
    assert index_folders.unfinished(docs.settings.data_dir) == []


def test_a_rebuilt_index_that_finds_as_much_takes_over(docs: Docs) -> None:
    docs.ingest()
    docs.embedder = HashingEmbedder("2")
    report = docs.ingest()
    assert report.self_test == SelfTest(2, 2)
    assert report.warnings == (
        "The embedder, or the way pages are indexed, has changed: the index was rebuilt.",
    )


def test_an_index_that_is_damaged_is_replaced_however_the_test_ends(docs: Docs) -> None:
    docs.ingest()
    docs.crowd_out_pay()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder is not None
    shutil.rmtree(folder.chroma)
    report = docs.ingest()
    assert len(docs.index.documents()) == 10
    assert "The self-test fell by 50%" in report.warnings[1]


def test_lines_that_are_wrong_are_named_and_left_out(docs: Docs) -> None:
    good = {"question": "Is the ledger append only?", "path": ["gone.md", "l.md"], "note": "kept"}
    lines = ["", json.dumps(good), "{", "[]", '{"question": "?"}', '{"question": "", "path": "l"}']
    docs.write(".footnote/questions.jsonl", "\ufeff" + "\r\n".join([*lines, *lines[2:]]))
    report = docs.ingest()
    assert report.self_test == SelfTest(1, 1)
    cure = 'was left out: write {"question": "…", "path": "page.md"}.'
    assert report.warnings == (
        f".footnote/questions.jsonl, line 3 {cure}",
        f".footnote/questions.jsonl, line 4 {cure}",
        f".footnote/questions.jsonl, line 5 {cure}",
        ".footnote/questions.jsonl: 5 more lines were left out.",
    )


def test_questions_lie_at_the_docs_root_or_at_the_top_of_a_git_repo(
    remote: DocsRemote, tmp_path: Path
) -> None:
    remote.write(".footnote/questions.jsonl", '{"question": "payout worker", "path": "pay.md"}')
    remote.commit("questions")
    settings = IndexSettings(
        docs_repo=remote.url, docs_root="docs", data_dir=tmp_path / "data", git_timeout=30
    )
    embedder = HashingEmbedder()
    index = open_index(settings, embedder)
    assert run_ingest(settings, index, embedder).self_test == SelfTest(1, 1)
    remote.write("docs/.footnote/questions.jsonl", "")
    remote.commit("none")
    assert run_ingest(settings, index, embedder).self_test is None
    index.close()


def test_the_sample_docs_find_all_of_their_questions(tmp_path: Path) -> None:
    settings = IndexSettings(
        docs_repo=str(ROOT / "examples" / "docs"), data_dir=tmp_path, embedder_int8=False
    )
    embedder = open_embedder(settings.embedder_source)
    index = open_index(settings, embedder)
    report = run_ingest(settings, index, embedder)
    index.close()
    assert report.warnings == ()
    assert report.self_test is not None
    assert report.self_test.hits == report.self_test.questions >= 10
