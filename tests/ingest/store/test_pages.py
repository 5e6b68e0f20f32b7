"""pages.sqlite: texts of pages and chunks, and the keyword index over them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.documents import Chunk, DocumentInfo
from ingest.errors import DataFolderError, IndexDamaged
from ingest.store.pages import Change, Pages
from ingest.store.terms import query_terms


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Pages]:
    pages = Pages(tmp_path / "pages.sqlite", create=True)
    yield pages
    pages.close()


def chunk(path: str, number: int, text: str, lines: tuple[int, int] = (1, 2)) -> Chunk:
    prefix = path.removesuffix(".md")
    return Chunk(f"{prefix}-{number}", path, number, "Page", ("Page", "Part"), lines, text, text)


def write(pages: Pages, path: str, *chunks: Chunk) -> Change:
    info = DocumentInfo(path, "Page", tags=("oncall",), updated_at=datetime(2026, 3, 1, tzinfo=UTC))
    return pages.write(info, path.removesuffix(".md"), "signature", chunks)


def found(pages: Pages, query: str) -> list[str]:
    rows = [row for row, _score in pages.keywords.match(query_terms(query).phrases, 10)]
    passages = pages.passages(rows)
    return [passages[row].id for row in rows]


def test_a_page_is_read_back_as_it_was_written(pages: Pages) -> None:
    write(pages, "pay.md", chunk("pay.md", 0, "Restart the worker."), chunk("pay.md", 1, "Wait."))
    page = pages.page("pay.md")
    assert [(p.id, p.text, p.heading, p.lines) for p in page] == [
        ("pay-0", "Restart the worker.", ("Page", "Part"), (1, 2)),
        ("pay-1", "Wait.", ("Page", "Part"), (1, 2)),
    ]
    stored = pages.documents()["pay.md"]
    assert stored.info == DocumentInfo(
        "pay.md", "Page", tags=("oncall",), updated_at=datetime(2026, 3, 1, tzinfo=UTC)
    )
    assert stored.signature == "signature"


def test_words_are_found_in_other_forms_and_identifiers_in_every_spelling(
    pages: Pages,
) -> None:
    write(pages, "a.md", chunk("a.md", 0, "Rotating keys raises PAY-4031 in KubePodCrashLooping"))
    write(pages, "b.md", chunk("b.md", 0, "Nothing of the kind"))
    for query in ("rotate key", "PAY-4031", "pay4031", "crash loop", "kubepodcrashlooping"):
        assert found(pages, query)[:1] == ["a-0"], query


def test_japanese_is_found_by_a_part_of_a_sentence(pages: Pages) -> None:
    write(pages, "運用/再起動.md", chunk("運用/再起動.md", 0, "支払いワーカーを再起動する。"))
    assert found(pages, "ワーカーの再起動") == ["運用/再起動-0"]
    assert found(pages, "払") == ["運用/再起動-0"]


def test_a_rewritten_page_counts_what_changed_and_keeps_the_rows_of_the_rest(
    pages: Pages,
) -> None:
    first = [chunk("pay.md", n, text) for n, text in enumerate(["one", "two", "three"])]
    assert write(pages, "pay.md", *first) == Change(added=3)
    before = pages.rows()
    moved = chunk("pay.md", 0, "one", lines=(8, 9))
    change = write(pages, "pay.md", moved, chunk("pay.md", 1, "TWO"))
    assert change == Change(updated=1, deleted=1, unchanged=1)
    assert pages.rows()[0] == before[0]
    assert set(pages.rows()[1:]).isdisjoint(before)
    assert pages.passages_by_id(["pay-0"])["pay-0"].lines == (8, 9)
    assert found(pages, "three") == []


def test_an_id_that_passes_to_another_page_is_that_pages(pages: Pages) -> None:
    write(pages, "limits.txt", chunk("limits", 0, "soft limit"))
    info = DocumentInfo("limits.md", "Limits")
    pages.write(info, "limits", "signature", [chunk("limits", 0, "soft limit")])
    assert pages.hashes()["limits-0"][0] == "limits.md"
    assert pages.counts() == (2, 1)


def test_a_deleted_page_is_gone_from_reading_and_matching(pages: Pages) -> None:
    write(pages, "a.md", chunk("a.md", 0, "ledger"))
    write(pages, "a/b.md", chunk("a/b.md", 0, "ledger"))
    assert pages.delete("a.md") == Change(deleted=1)
    assert found(pages, "ledger") == ["a/b-0"]
    assert pages.documents().keys() == {"a/b.md"}


def test_every_write_moves_the_generation_on(pages: Pages) -> None:
    seen = [pages.generation()]
    write(pages, "a.md", chunk("a.md", 0, "text"))
    seen.append(pages.generation())
    pages.delete("a.md")
    seen.append(pages.generation())
    assert seen == sorted(set(seen))


def test_a_search_can_be_held_to_some_documents(pages: Pages) -> None:
    for path in ("a.md", "b.md"):
        write(pages, path, chunk(path, 0, "ledger"))
    number = pages.documents()["b.md"].number
    rows = pages.keywords.match(['"ledger"'], 10, [number])
    assert [pages.passages([row])[row].id for row, _score in rows] == ["b-0"]


def test_a_page_is_matched_by_words_that_lie_in_different_chunks_of_it(pages: Pages) -> None:
    write(pages, "a.md", chunk("a.md", 0, "ledger"), chunk("a.md", 1, "payout"))
    write(pages, "b.md", chunk("b.md", 0, "ledger"), chunk("b.md", 1, "refund"))
    numbers = {path: stored.number for path, stored in pages.documents().items()}
    both = ['"ledger"', '"payout"']
    matched = pages.keywords.match_pages(both, 10)
    assert matched[numbers["a.md"]] > matched[numbers["b.md"]]
    assert pages.keywords.match_pages(both, 10, [numbers["b.md"]]).keys() == {numbers["b.md"]}
    write(pages, "a.md", chunk("a.md", 0, "nothing"))
    pages.delete("b.md")
    assert pages.keywords.match_pages(both, 10) == {}


def test_a_missing_file_is_damage_and_is_not_made(tmp_path: Path) -> None:
    missing = Pages(tmp_path / "missing.sqlite")
    with pytest.raises(IndexDamaged, match="footnote ingest"):
        missing.meta()
    assert not (tmp_path / "missing.sqlite").exists()


def test_a_file_with_overwritten_pages_fails_its_check(tmp_path: Path, pages: Pages) -> None:
    for number in range(50):
        write(pages, f"{number}.md", chunk(f"{number}.md", 0, "ledger " * 200))
    pages.close()
    path = tmp_path / "pages.sqlite"
    data = bytearray(path.read_bytes())
    data[8192 : 8192 + 40_000] = b"\xff" * 40_000
    path.write_bytes(data)
    damaged = Pages(path)
    with pytest.raises(IndexDamaged, match="footnote ingest"):
        damaged.check()
    damaged.close()


def test_a_sound_file_that_cannot_be_opened_is_no_damage(tmp_path: Path) -> None:
    Pages(tmp_path / "pages.sqlite", create=True).close()
    (tmp_path / "pages.sqlite-wal").mkdir()  # as where nothing can be written beside it
    with pytest.raises(DataFolderError, match="correct its permissions"):
        Pages(tmp_path / "pages.sqlite").documents()
