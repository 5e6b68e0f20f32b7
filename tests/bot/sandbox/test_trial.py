"""``footnote try``: what its page of a document shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.trial import DocumentTexts
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.ingest.embedding.hashing import HashingEmbedder

BLOCK = "\n".join(f"queuectl drain --queue number-{n} --all --wait" for n in range(90))
ROWS = "\n".join(f"| PAY-{n} | the meaning of error {n}, in some words | 5 s |" for n in range(90))
PAGES = {
    "plain.md": "# Title\n\nSome words.\n\n## Part\n\nMore words\non two lines.\n",
    "block.md": f"# Drain\n\nBefore.\n\n```bash\n{BLOCK}\n```\n\nAfter it.\n\n## Next\n\nEnd.\n",
    "table.md": f"# Codes\n\n| Code | Meaning | Wait |\n|---|---|---|\n{ROWS}\n\nAfter it.\n",
    "long.md": f"# Long\n\n{'One sentence of a long line. ' * 200}\n\nAfter it.\n",
}


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    for path, text in PAGES.items():
        (folder / path).write_text(text)
    return folder


@pytest.fixture(scope="module")
def index(docs: Path) -> Iterator[Index]:
    settings = IndexSettings(docs_repo=str(docs), data_dir=docs.parent / "data")
    index = open_index(settings, HashingEmbedder())
    run_ingest(settings, index, HashingEmbedder())
    yield index
    index.close()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_shown_as_it_was_indexed_line_for_line(
    path: str, index: Index, docs: Path
) -> None:
    (docs / path).write_text("Another text meanwhile.\n")
    pages = DocumentTexts()
    pages.index = index

    shown = (pages(path) or "").split("\n")

    given = PAGES[path].rstrip("\n").split("\n")
    assert [line.replace(" ", "") for line in shown] == [line.replace(" ", "") for line in given]


def test_a_page_that_is_not_indexed_is_not_there(index: Index, docs: Path) -> None:
    (docs / "later.md").write_text("# Later\n")
    pages = DocumentTexts()
    assert pages("plain.md") is None
    pages.index = index
    assert pages("later.md") is None
    assert pages("../docs/plain.md") is None
