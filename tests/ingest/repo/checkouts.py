"""What tests ask a checkout for."""

from pathlib import Path
from typing import Any

import pytest

from ingest.errors import DocsRepoError
from ingest.repo import Checkout, open_checkout
from ingest.settings import IndexSettings

PAY = "# Pay\n\nRestart the payout worker first.\n"


def docs_settings(tmp_path: Path, docs_repo: str, **more: Any) -> IndexSettings:
    """Settings for docs under ``docs`` in a repo, with a data folder beside it."""
    given = {"docs_root": "docs", "git_timeout": 30.0, **more}
    return IndexSettings(docs_repo=docs_repo, data_dir=tmp_path / "data", **given)


def open_docs(settings: IndexSettings) -> Checkout:
    return open_checkout(settings.docs_source, settings.data_dir)


def paths(checkout: Checkout) -> list[str]:
    return [file.path for file in checkout.files]


def reasons(checkout: Checkout) -> dict[str, str]:
    return {skipped.path: skipped.reason.partition(":")[0] for skipped in checkout.skipped}


def texts(checkout: Checkout) -> dict[str, str]:
    return {file.path: checkout.read(file).decode() for file in checkout.files}


def problem(error: pytest.ExceptionInfo[DocsRepoError]) -> str:
    """Kind of an error, which is one line in any case."""
    assert "\n" not in str(error.value)
    return error.value.kind
