"""Ingest as reconciliation: what is indexed is what the docs hold, at the least possible cost."""

import shutil
from pathlib import Path

import pytest

from ingest.errors import (
    DocsRepoError,
    IngestError,
    LargeDeletion,
)
from ingest.index import Index
from ingest.pipeline.run import IngestProgress
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.ingest.pipeline.docs import LEDGER, PAY, Docs


def test_a_first_ingest_indexes_every_page_under_readable_ids(docs: Docs) -> None:
    report = docs.ingest()
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}
    assert (report.documents, report.chunks, report.added, report.embedded) == (3, 3, 3, 3)
    assert docs.search("payout worker").passages[0].id == "pay-0"


def test_a_second_ingest_does_nothing(docs: Docs) -> None:
    docs.ingest()
    report = docs.ingest()
    assert docs.embedder.texts == []
    assert (report.added, report.updated, report.deleted, report.embedded) == (0, 0, 0, 0)
    assert report.unchanged == 3


def test_only_the_changed_chunk_is_embedded(docs: Docs) -> None:
    docs.ingest()
    docs.write("ledger.md", "# Ledger\n\nThe ledger may be compacted now.\n")
    report = docs.ingest()
    assert len(docs.embedder.texts) == 1
    assert (report.updated, report.unchanged) == (1, 2)
    assert "append only" not in docs.texts()
    assert docs.search("compacted ledger").passages[0].id == "ledger-0"


def test_blanks_at_the_ends_of_lines_are_no_change_of_the_text(docs: Docs) -> None:
    docs.ingest()
    before = docs.texts()
    docs.write("ledger.md", LEDGER.replace("\n", " \t\u00a0\n") + "\n\n\n")
    report = docs.ingest()
    assert docs.embedder.texts == []
    assert (report.updated, report.unchanged, docs.texts()) == (0, 3, before)


def test_what_is_deleted_is_found_no_more(docs: Docs) -> None:
    docs.ingest()
    docs.search("ledger")
    docs.delete("ledger.md")
    assert docs.ingest().deleted == 1
    assert docs.ids() == {"pay-0", "oncall/README-0"}
    assert "ledger-0" not in {passage.id for passage in docs.search("ledger append").passages}


def test_a_renamed_page_has_new_ids_and_its_old_vectors(docs: Docs) -> None:
    docs.ingest()
    docs.delete("ledger.md")
    docs.write("core/ledger.md", LEDGER)
    report = docs.ingest()
    assert docs.embedder.texts == []
    assert (report.added, report.deleted) == (1, 1)
    assert docs.ids() == {"pay-0", "core/ledger-0", "oncall/README-0"}
    assert docs.search("ledger append only").passages[0].id == "core/ledger-0"


def test_pages_that_swap_their_names_swap_their_texts_without_embedding(docs: Docs) -> None:
    docs.ingest()
    docs.search("warm")
    docs.write("pay.md", LEDGER)
    docs.write("ledger.md", PAY)
    docs.ingest()
    assert docs.embedder.texts == []
    best = docs.search("restart the payout worker").passages[0]
    assert (best.id, best.text.splitlines()[-1]) == ("ledger-0", "Restart the payout worker first.")
    assert best.distance < docs.search("nothing alike").passages[0].distance


def test_of_two_pages_with_one_text_each_lives_its_own_life(docs: Docs) -> None:
    docs.write("x/copy.md", "# Copy\n\nIdentical sentence.\n")
    docs.write("y/copy.md", "# Copy\n\nIdentical sentence.\n")
    docs.ingest()
    assert len(docs.embedder.texts) == 4
    docs.delete("x/copy.md")
    docs.ingest()
    assert docs.ids() >= {"y/copy-0"}
    assert docs.texts().count("Identical sentence.") == 1


def test_a_text_that_moves_down_keeps_its_vector_and_gets_its_new_lines(docs: Docs) -> None:
    sections = "".join(f"## Part {n}\n\n{f'sentence of part {n}. ' * 30}\n\n" for n in range(4))
    intro = f"# Long\n\n{'introduction to it all. ' * 30}\n\n"
    docs.write("long.md", intro + sections)
    docs.ingest()
    docs.write("long.md", f"{intro}## New\n\n{'brand new words here. ' * 30}\n\n{sections}")
    docs.ingest()
    assert len(docs.embedder.texts) == 1
    lines = (docs.folder / "long.md").read_text(encoding="utf-8").splitlines()
    page = docs.index.document("long.md")
    assert page
    for passage in page.passages:
        first, last = passage.lines
        assert passage.text.strip() in "\n".join(lines[first - 1 : last])
    assert docs.ids() >= {f"long-{n}" for n in range(6)}


def test_a_page_without_text_is_skipped_with_its_reason_and_its_old_text_goes(docs: Docs) -> None:
    docs.ingest()
    docs.write("ledger.md", "")
    report = docs.ingest()
    assert [(s.path, s.reason.split(":")[0]) for s in report.skipped] == [("ledger.md", "empty")]
    assert docs.ids() == {"pay-0", "oncall/README-0"}


def test_a_page_that_a_part_trips_over_costs_itself_only(
    docs: Docs, caplog: pytest.LogCaptureFixture
) -> None:
    class Tripping(HashingEmbedder):
        def fits(self, text: str) -> bool:
            if "sesame" in text:
                raise OverflowError(text)
            return super().fits(text)

    docs.embedder = Tripping()
    docs.write("ledger.md", "# Ledger\n\nThe word is sesame.\n")
    report = docs.ingest()
    assert (report.documents, len(report.skipped)) == (2, 1)
    [skipped] = report.skipped
    assert (skipped.path, skipped.reason) == ("ledger.md", "malformed: OverflowError while reading")
    assert "ledger.md is skipped: OverflowError in " in caplog.text
    assert "sesame" not in caplog.text


def test_a_suffix_that_would_make_two_ids_meet_is_kept(docs: Docs) -> None:
    docs.write("limits.txt", "Hard limit: 400 requests.\n")
    docs.write("limits.txt.md", "Soft limit: 300 requests.\n")
    docs.ingest()
    assert docs.ids() >= {"limits.txt-0", "limits.txt.md-0"}
    docs.delete("limits.txt")
    docs.ingest()
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0", "limits.txt-0"}
    assert "Soft limit" in docs.index.passages(["limits.txt-0"])[0].text


def test_a_page_that_cannot_be_embedded_is_listed_and_tried_again(docs: Docs) -> None:
    docs.ingest()
    docs.write("ledger.md", "# Ledger\n\nNew ledger text REFUSED.\n")
    docs.write("good.md", "# Good\n\nGood page sentence.\n")
    docs.embedder.refuses = "REFUSED"
    report = docs.ingest()
    assert [failed.path for failed in report.failed] == ["ledger.md"]
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0", "good-0"}
    assert "append only" in docs.texts()
    docs.embedder.refuses = None
    assert docs.ingest().failed == ()
    assert "New ledger text" in docs.texts()


def test_a_text_that_stands_on_two_pages_is_embedded_once(docs: Docs) -> None:
    docs.write("copy.md", PAY)
    report = docs.ingest()
    assert (report.added, report.embedded, len(docs.embedder.texts)) == (4, 3, 3)


def test_losing_most_pages_at_once_is_asked_about_first(docs: Docs) -> None:
    for number in range(20):
        docs.write(f"page-{number}.md", f"# Page {number}\n\nSentence {number}.\n")
    docs.ingest()
    before = docs.ids()
    for number in range(18):
        docs.delete(f"page-{number}.md")
    with pytest.raises(LargeDeletion, match=r"18 of 23 pages.*nothing was changed") as caught:
        docs.ingest()
    assert (caught.value.deleted, caught.value.stored) == (18, 23)
    assert docs.ids() == before
    assert docs.ingest(confirm_large_deletion=True).deleted == 18


def test_losing_all_pages_is_asked_about_however_few_they_are(docs: Docs) -> None:
    docs.ingest()
    for path in ("pay.md", "ledger.md", "oncall/README.md"):
        docs.delete(path)
    with pytest.raises(LargeDeletion):
        docs.ingest()


def test_one_of_two_pages_may_go_without_asking(docs: Docs) -> None:
    docs.delete("pay.md")
    docs.ingest()
    docs.delete("ledger.md")
    assert docs.ingest().deleted == 1


def test_moving_every_page_is_no_deletion(docs: Docs) -> None:
    for number in range(20):
        docs.write(f"page-{number}.md", f"# Page {number}\n\nSentence {number}.\n")
    docs.ingest()
    shutil.move(docs.folder, docs.folder.with_name("moved"))
    docs.folder.mkdir()
    shutil.move(docs.folder.with_name("moved"), docs.folder / "new")
    report = docs.ingest()
    assert (report.documents, report.embedded) == (23, 0)


def test_docs_without_a_page_are_said_out_loud(tmp_path: Path) -> None:
    empty = Docs(tmp_path)
    report = empty.ingest()
    empty.index.close()
    assert report.documents == 0
    assert report.warnings[0].startswith("0 documents")


def test_a_repo_that_cannot_be_read_leaves_the_index_as_it_was(docs: Docs) -> None:
    docs.ingest()
    before = docs.ids()
    docs.folder.rename(docs.folder.with_name("away"))
    with pytest.raises(DocsRepoError):
        docs.ingest()
    assert docs.ids() == before
    assert docs.search("payout worker").passages[0].id == "pay-0"


def test_progress_runs_through_every_stage(docs: Docs) -> None:
    heard: list[IngestProgress] = []
    docs.ingest(progress=heard.append)
    assert list(dict.fromkeys(progress.stage for progress in heard)) == [
        "fetch",
        "read",
        "embed",
        "write",
    ]
    assert heard[-1] == IngestProgress("write", 3, 3)


def test_a_data_folder_that_cannot_be_written_is_named(docs: Docs) -> None:
    docs.settings.data_dir.write_text("a file", encoding="utf-8")
    with pytest.raises(IngestError, match="FOOTNOTE_DATA_DIR"):
        docs.ingest()


def test_an_index_equals_one_made_afresh_whatever_its_history(docs: Docs, tmp_path: Path) -> None:
    docs.ingest()
    docs.write("ledger.md", PAY)
    docs.delete("pay.md")
    docs.write("deep/er/page.md", "# Deep\n\n" + "A sentence that goes on. " * 80)
    docs.ingest()
    docs.write("pay.md", LEDGER)
    docs.ingest()
    (tmp_path / "fresh").mkdir()
    fresh = Docs(tmp_path / "fresh")
    fresh.folder.rmdir()
    shutil.copytree(docs.folder, fresh.folder)
    fresh.ingest()
    assert contents(docs.index) == contents(fresh.index)
    assert docs.ids() == fresh.ids()
    fresh.index.close()


def contents(index: Index) -> list[tuple[str, str, tuple[int, int]]]:
    return [
        (passage.id, passage.hash, passage.lines)
        for info in index.documents()
        if (page := index.document(info.path))
        for passage in page.passages
    ]


def test_a_warning_names_the_lines_of_credentials_but_not_the_credentials(docs: Docs) -> None:
    key = "AKIA" + "Z7QW2XC4TB8RN5LM"
    docs.write("keys.md", f"# Keys\n\nUse {key} here.\n\nAnd {key} there, or {key}.\n")
    report = docs.ingest()
    assert report.warnings == (
        "keys.md seems to hold credentials (line 3, 5): they are masked in the index; remove them"
        " from the docs and revoke them.",
    )
    assert key not in docs.texts()


def test_a_page_left_out_for_its_name_is_told_without_what_is_wrong_in_it(docs: Docs) -> None:
    key = "AKIA" + "Z7QW2XC4TB8RN5LM"
    docs.write(f"{key}.md", "# A\n\nText.\n")
    docs.write("pay\u202e.md", "# B\n\nText.\n")
    for _ in range(2):  # also by a run that changes nothing
        report = docs.ingest()
        credential, hidden = sorted(report.warnings)
        assert credential.startswith("[masked].md is left out (credential: its path has one; ")
        assert hidden.startswith("pay.md is left out (hidden: its path has characters ")
        assert {skipped.reason.split(":")[0] for skipped in report.skipped} == {
            "credential",
            "hidden",
        }


def test_of_a_new_page_that_fails_no_earlier_version_is_promised(docs: Docs) -> None:
    docs.ingest()
    docs.embedder.refuses = "unreadable"
    docs.write("new.md", "# New\n\nThis is unreadable.\n")
    docs.write("pay.md", "# Pay\n\nThis is unreadable, too.\n")
    reasons = {failed.path: failed.reason for failed in docs.ingest().failed}
    assert "stays" not in reasons["new.md"]
    assert "the version indexed before stays" in reasons["pay.md"]
