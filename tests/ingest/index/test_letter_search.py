"""A question finds a page whose letters are written in another way."""

import unicodedata
from collections.abc import Iterator

import pytest

from ingest.config_file import DocsCollection
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.ingest.embedding.hashing import HashingEmbedder

MAC_PATH = unicodedata.normalize("NFD", "앱/Größe.md")
PAGES = {
    MAC_PATH: unicodedata.normalize("NFD", "---\ntags: [Café]\n---\n# 백업 절차\n\n새벽에 시작.\n"),
    "codes.md": "# Codes\n\nＥＲＲ－７７１２ means that the ledger is closed.\n",
    "tr.md": "# İşlem\n\nREDDEDİLDİ hatasında KIRMIZI düğmeye basın.\n",
    "de.md": "# Fuß\n\nDie STRASSE ist gesperrt.\n",
    "el.md": "# Οδηγός\n\nΕΠΑΝΕΚΚΙΝΗΣΗ ΤΟΥ ΚΟΜΒΟΣ.\n",
    "ja.md": "# ﾊﾞｯｸｱｯﾌﾟ\n\nﾃｰﾌﾟ.\n",
    "ligature.md": "# Oﬃce\n\nThe ﬁrewall of Footnote™ stands there.\n",
}


@pytest.fixture(scope="module")
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, embedder: HashingEmbedder) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("letters")
    for path, text in PAGES.items():
        (folder / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / path).write_text(text, encoding="utf-8")
    chosen = IndexSettings(docs_repo=str(folder / "docs"), data_dir=folder / "data")
    apps = DocsCollection(paths=("앱/**",), description="Apps")
    index = open_index(chosen, embedder, {"apps": apps})
    run_ingest(chosen, index, embedder)
    yield index
    index.close()


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("백업", MAC_PATH),
        (unicodedata.normalize("NFD", "백업"), MAC_PATH),
        ("err-7712", "codes.md"),
        ("err7712", "codes.md"),
        ("７７１２", "codes.md"),
        ("kırmızı", "tr.md"),
        ("reddedildi", "tr.md"),
        ("REDDEDİLDİ", "tr.md"),
        ("straße", "de.md"),
        ("FUSS", "de.md"),
        ("κομβος", "el.md"),
        ("バックアップ", "ja.md"),
        ("firewall", "ligature.md"),
        ("footnote", "ligature.md"),
    ],
)
def test_its_words_are_matched(index: Index, words: str, path: str) -> None:
    result = index.search(words, k=1)
    assert [passage.path for passage in result.passages] == [path]
    assert result.confidence > 0.02  # it is far below without a word that matches


def test_passages_show_the_lines_of_the_file(index: Index) -> None:
    [passage] = index.search("err-7712", k=1).passages
    assert "ＥＲＲ－７７１２" in passage.text


def test_the_embedder_gets_texts_and_queries_in_one_form(
    index: Index, embedder: HashingEmbedder
) -> None:
    index.search("ＥＲＲ－７７１２")
    assert embedder.texts[-1] == "ERR-7712"
    assert any("ERR-7712 means" in text for text in embedder.texts)


@pytest.mark.parametrize("name", ["앱/Größe.md", "앱/Größe", "앱/Größe-0", MAC_PATH])
def test_a_page_is_opened_by_a_path_that_is_typed_in_another_way(index: Index, name: str) -> None:
    page = index.document(name)
    assert page
    assert page.info.path == MAC_PATH


def test_filters_find_it_too(index: Index) -> None:
    cafe = unicodedata.normalize("NFC", "CAFÉ")
    for result in (
        index.search("table", path="앱/Grö"),
        index.search("table", tags=[cafe]),
        index.search("table", collection="apps"),
    ):
        assert {passage.path for passage in result.passages} == {MAC_PATH}
    assert [info.path for info in index.documents("앱/")] == [MAC_PATH]
