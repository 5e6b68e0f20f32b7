"""A docs repo to read from."""

from pathlib import Path

import pytest

from tests.ingest.repo.checkouts import PAY
from tests.ingest.repo.remotes import DocsRemote


@pytest.fixture
def remote(tmp_path: Path) -> DocsRemote:
    """Two pages of 2024-05-01."""
    remote = DocsRemote(tmp_path)
    remote.write("docs/pay.md", PAY)
    remote.write("docs/oncall/README.md", "# Readme\n\nPage the secondary.\n")
    remote.commit("start", date="2024-05-01T10:00:00Z")
    return remote
