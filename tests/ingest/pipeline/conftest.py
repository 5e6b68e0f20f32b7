"""A docs repo of three pages with an index beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ingest.pipeline.docs import LEDGER, ONCALL, PAY, Docs


@pytest.fixture
def docs(tmp_path: Path) -> Iterator[Docs]:
    docs = Docs(tmp_path)
    docs.write("pay.md", PAY)
    docs.write("ledger.md", LEDGER)
    docs.write("oncall/README.md", ONCALL)
    yield docs
    docs.index.close()
