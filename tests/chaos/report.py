"""Rows of figures -> docs/reliability.md."""

from pathlib import Path


def write_report(files: list[Path]) -> None:
    raise NotImplementedError
