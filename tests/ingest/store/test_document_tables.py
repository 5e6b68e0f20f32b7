"""pages.sqlite: texts of pages and chunks, and the keyword index over them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.documents import Chunk, DocumentInfo
from ingest.errors import DataFolderError, IndexDamaged
from ingest.store.chunk_changes import ChunkChanges
from ingest.store.document_tables import DocumentTables
from ingest.store.terms import query_terms


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[DocumentTables]:
    tables = DocumentTables(tmp_path / "pages.sqlite", create=True)
    yield tables
    tables.close()


def chunk(path: str, number: int, text: str, lines: tuple[int, int] = (1, 2)) -> Chunk:
    prefix = path.removesuffix(".md")
    return Chunk(f"{prefix}-{number}", path, number, "Page", ("Page", "Part"), lines, text, text)


def write(tables: DocumentTables, path: str, *chunks: Chunk) -> ChunkChanges:
    info = DocumentInfo(path, "Page", tags=("oncall",), updated_at=datetime(2026, 3, 1, tzinfo=UTC))
    return tables.write(info, path.removesuffix(".md"), "signature", chunks)


def found(tables: DocumentTables, query: str) -> list[str]:
    rows = [row for row, _score in tables.keywords.match(query_terms(query).phrases, 10)]
    passages = tables.passages(rows)
    return [passages[row].id for row in rows]


def test_a_page_is_read_back_as_it_was_written(tables: DocumentTables) -> None:
    write(tables, "pay.md", chunk("pay.md", 0, "Restart the worker."), chunk("pay.md", 1, "Wait."))
    page = tables.passages_of("pay.md")
    assert [(p.id, p.text, p.heading, p.lines) for p in page] == [
        ("pay-0", "Restart the worker.", ("Page", "Part"), (1, 2)),
        ("pay-1", "Wait.", ("Page", "Part"), (1, 2)),
    ]
    stored = tables.documents()["pay.md"]
    assert stored.info == DocumentInfo(
        "pay.md", "Page", tags=("oncall",), updated_at=datetime(2026, 3, 1, tzinfo=UTC)
    )
    assert stored.signature == "signature"


def test_words_are_found_in_other_forms_and_identifiers_in_every_spelling(
    tables: DocumentTables,
) -> None:
    write(tables, "a.md", chunk("a.md", 0, "Rotating keys raises PAY-4031 in KubePodCrashLooping"))
    write(tables, "b.md", chunk("b.md", 0, "Nothing of the kind"))
    for query in ("rotate key", "PAY-4031", "pay4031", "crash loop", "kubepodcrashlooping"):
        assert found(tables, query)[:1] == ["a-0"], query


def test_japanese_is_found_by_a_part_of_a_sentence(tables: DocumentTables) -> None:
    write(tables, "運用/再起動.md", chunk("運用/再起動.md", 0, "支払いワーカーを再起動する。"))
    assert found(tables, "ワーカーの再起動") == ["運用/再起動-0"]
    assert found(tables, "払") == ["運用/再起動-0"]


def test_a_rewritten_page_counts_what_changed_and_keeps_the_rows_of_the_rest(
    tables: DocumentTables,
) -> None:
    first = [chunk("pay.md", n, text) for n, text in enumerate(["one", "two", "three"])]
    assert write(tables, "pay.md", *first) == ChunkChanges(added=3)
    before = tables.rows()
    moved = chunk("pay.md", 0, "one", lines=(8, 9))
    change = write(tables, "pay.md", moved, chunk("pay.md", 1, "TWO"))
    assert change == ChunkChanges(updated=1, deleted=1, unchanged=1)
    assert tables.rows()[0] == before[0]
    assert set(tables.rows()[1:]).isdisjoint(before)
    assert tables.passages_by_id(["pay-0"])["pay-0"].lines == (8, 9)
    assert found(tables, "three") == []


def test_an_id_that_passes_to_another_page_is_that_pages(tables: DocumentTables) -> None:
    write(tables, "limits.txt", chunk("limits", 0, "soft limit"))
    info = DocumentInfo("limits.md", "Limits")
    tables.write(info, "limits", "signature", [chunk("limits", 0, "soft limit")])
    assert tables.hashes()["limits-0"][0] == "limits.md"
    assert tables.counts() == (2, 1)


def test_a_deleted_page_is_gone_from_reading_and_matching(tables: DocumentTables) -> None:
    write(tables, "a.md", chunk("a.md", 0, "ledger"))
    write(tables, "a/b.md", chunk("a/b.md", 0, "ledger"))
    assert tables.delete("a.md") == ChunkChanges(deleted=1)
    assert found(tables, "ledger") == ["a/b-0"]
    assert tables.documents().keys() == {"a/b.md"}


def test_every_write_moves_the_generation_on(tables: DocumentTables) -> None:
    seen = [tables.generation()]
    write(tables, "a.md", chunk("a.md", 0, "text"))
    seen.append(tables.generation())
    tables.delete("a.md")
    seen.append(tables.generation())
    assert seen == sorted(set(seen))


def test_a_search_can_be_held_to_some_documents(tables: DocumentTables) -> None:
    for path in ("a.md", "b.md"):
        write(tables, path, chunk(path, 0, "ledger"))
    number = tables.documents()["b.md"].number
    rows = tables.keywords.match(['"ledger"'], 10, [number])
    assert [tables.passages([row])[row].id for row, _score in rows] == ["b-0"]


def test_a_page_is_matched_by_words_that_lie_in_different_chunks_of_it(
    tables: DocumentTables,
) -> None:
    write(tables, "a.md", chunk("a.md", 0, "ledger"), chunk("a.md", 1, "payout"))
    write(tables, "b.md", chunk("b.md", 0, "ledger"), chunk("b.md", 1, "refund"))
    numbers = {path: stored.number for path, stored in tables.documents().items()}
    both = ['"ledger"', '"payout"']
    matched = tables.keywords.match_documents(both, 10)
    assert matched[numbers["a.md"]] > matched[numbers["b.md"]]
    assert tables.keywords.match_documents(both, 10, [numbers["b.md"]]).keys() == {numbers["b.md"]}
    write(tables, "a.md", chunk("a.md", 0, "nothing"))
    tables.delete("b.md")
    assert tables.keywords.match_documents(both, 10) == {}


def test_a_missing_file_is_damage_and_is_not_made(tmp_path: Path) -> None:
    missing = DocumentTables(tmp_path / "missing.sqlite")
    with pytest.raises(IndexDamaged, match="footnote ingest"):
        missing.meta()
    assert not (tmp_path / "missing.sqlite").exists()


def test_a_file_with_overwritten_pages_fails_its_check(
    tmp_path: Path, tables: DocumentTables
) -> None:
    for number in range(50):
        write(tables, f"{number}.md", chunk(f"{number}.md", 0, "ledger " * 200))
    tables.close()
    path = tmp_path / "pages.sqlite"
    data = bytearray(path.read_bytes())
    data[8192 : 8192 + 40_000] = b"\xff" * 40_000
    path.write_bytes(data)
    damaged = DocumentTables(path)
    with pytest.raises(IndexDamaged, match="footnote ingest"):
        damaged.check()
    damaged.close()


def test_a_sound_file_that_cannot_be_opened_is_no_damage(tmp_path: Path) -> None:
    DocumentTables(tmp_path / "pages.sqlite", create=True).close()
    (tmp_path / "pages.sqlite-wal").mkdir()  # as where nothing can be written beside it
    with pytest.raises(DataFolderError, match="correct its permissions"):
        DocumentTables(tmp_path / "pages.sqlite").documents()
