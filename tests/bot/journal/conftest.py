"""A journal, on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.journal.claims import Journal, open_journal


@pytest.fixture
def journal(database: str | None, tmp_path: Path) -> Iterator[Journal]:
    opened = open_journal(database, tmp_path)
    yield opened
    opened.close()
