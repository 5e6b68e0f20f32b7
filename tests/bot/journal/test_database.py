"""The database of the journal: opened, shared by versions, told in a line where it is unusable."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.journal.claims import Journal, open_journal
from bot.journal.database import JournalError
from ingest.errors import DataFolderError, FootnoteError, SettingsError
from tests.bot.journal.test_journal import ASKED


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("nonsense", SettingsError),
        ("nosuch://x", SettingsError),
        ("mysql://u:secret@127.0.0.1/x", SettingsError),
        ("postgres://u:secret@127.0.0.1:1/x", JournalError),
    ],
)
def test_a_database_that_cannot_be_used_is_one_line_without_the_password(
    url: str, kind: type[FootnoteError], tmp_path: Path
) -> None:
    with pytest.raises(kind, match="DATABASE_URL") as refused:
        open_journal(url, tmp_path)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_driver_that_is_not_installed_is_one_line_with_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingsError, match=r"pip install 'psycopg\[binary\]'"):
        open_journal("postgres://u:secret@127.0.0.1:1/x", tmp_path)


def test_a_wrong_password_is_told_and_not_shown(postgres: str, tmp_path: Path) -> None:
    url = sa.make_url(postgres).set(password="sesame").render_as_string(hide_password=False)
    with pytest.raises(JournalError, match=r"password authentication failed") as refused:
        open_journal(url, tmp_path)
    assert "sesame" not in str(refused.value)


def test_a_server_that_restarts_costs_nothing(postgres: str, tmp_path: Path) -> None:
    journal = open_journal(postgres, tmp_path)
    journal.note(ASKED)
    with spoiling(postgres, tmp_path) as connection:
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
        own = " AND pid <> pg_backend_pid()"
        connection.exec_driver_sql(end + own, (sa.make_url(postgres).query["application_name"],))
    assert journal.claim(ASKED.key)
    journal.close()


def test_processes_that_start_at_once_make_the_tables_together(
    database: str | None, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(8) as pool:
        journals = list(pool.map(lambda _: open_journal(database, tmp_path), range(8)))
    for journal in journals:
        journal.note(ASKED)
    assert [journal.claim(ASKED.key) for journal in journals].count(True) == 1
    for journal in journals:
        journal.close()


@contextmanager
def spoiling(database: str | None, folder: Path) -> Iterator[sa.Connection]:
    """Another hand on the journal's database."""
    url = sa.make_url(database or f"sqlite:///{folder}/journal.sqlite")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def test_a_journal_of_an_older_version_gets_what_it_lacks(
    database: str | None, tmp_path: Path
) -> None:
    older = open_journal(database, tmp_path)
    older.note(ASKED)
    older.close()
    with spoiling(database, tmp_path) as connection:
        connection.exec_driver_sql("ALTER TABLE messages DROP COLUMN about")
        connection.exec_driver_sql("DROP INDEX messages_by_thread")
        connection.exec_driver_sql("DROP TABLE human_calls")
    journal = open_journal(database, tmp_path)
    journal.note(replace(ASKED, ts="1.9", gesture=None, about="1.1"))
    noted = [journal.message(replace(ASKED, ts=ts).key) for ts in ("1.1", "1.9")]
    assert [m and m.about for m in noted] == [None, "1.1"]
    assert journal.call_human("a1", "U1")
    with spoiling(database, tmp_path) as connection:
        names = {index["name"] for index in sa.inspect(connection).get_indexes("messages")}
    assert "messages_by_thread" in names
    journal.close()


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ("ALTER TABLE answers DROP COLUMN verdict", r"answers\.verdict"),
        ("ALTER TABLE answers ADD COLUMN mood VARCHAR NOT NULL", r"answers\.mood"),
    ],
)
def test_a_journal_that_another_version_cannot_share_is_one_line_with_its_cure(
    change: str, column: str, postgres: str, tmp_path: Path
) -> None:
    open_journal(postgres, tmp_path).close()
    with spoiling(postgres, tmp_path) as connection:
        connection.exec_driver_sql(change)
    with pytest.raises(JournalError, match=f"another version of Footnote.*{column}") as refused:
        open_journal(postgres, tmp_path)
    assert "\n" not in str(refused.value)


def test_a_journal_of_a_newer_version_is_used_as_far_as_it_allows(tmp_path: Path) -> None:
    open_journal(None, tmp_path).close()
    with spoiling(None, tmp_path) as connection:
        connection.exec_driver_sql("ALTER TABLE messages ADD COLUMN mood VARCHAR")
        connection.exec_driver_sql("ALTER TABLE messages ADD COLUMN tune INT NOT NULL DEFAULT 3")
    journal = open_journal(None, tmp_path)
    journal.note(ASKED)
    assert journal.claim(ASKED.key)
    journal.close()
    with spoiling(None, tmp_path) as connection:
        connection.exec_driver_sql("ALTER TABLE answers DROP COLUMN verdict")
    with pytest.raises(JournalError, match=r"answers\.verdict.*move it away"):
        open_journal(None, tmp_path)


def garbage(file: Path) -> None:
    file.write_bytes(b"no database " * 500)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(garbage, "is damaged: move the file away"), (Path.mkdir, "cannot be written: free some")],
)
def test_a_journal_that_cannot_be_opened_is_one_line_with_its_cure(
    spoil: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    spoil(tmp_path / "journal.sqlite")
    with pytest.raises(JournalError, match=said) as refused:
        open_journal(None, tmp_path)
    assert "\n" not in str(refused.value)


def test_a_journal_that_is_spoilt_later_is_one_line_too(
    journal: Journal, database: str | None, tmp_path: Path
) -> None:
    with spoiling(database, tmp_path) as connection:
        connection.exec_driver_sql("ALTER TABLE messages RENAME TO lost")
    with pytest.raises(JournalError, match="cannot be used"):
        journal.message(ASKED.key)


def test_a_data_folder_that_cannot_be_made_is_one_line_with_its_cure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataFolderError, match="Not a directory"):
        open_journal(None, tmp_path / "file" / "data")
