"""Paths of the sample docs, the eval cases and the Slack manifest.

In a checkout they are beside the packages; in a wheel ``pyproject.toml`` puts them into this one.
"""

from importlib.resources import files
from pathlib import Path

_PACKAGE = Path(str(files("ingest")))
_IN_WHEEL = _PACKAGE / "_shipped"
_ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent

SAMPLE_DOCS = _ROOT / "examples" / "docs"
EVAL_CASES = _ROOT / "examples" / "evals"
MANIFEST = _ROOT / "manifest.yml"
