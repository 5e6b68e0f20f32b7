"""The docs repo -> a checkout: its files at one revision, and their bytes."""

from ingest.repo.checkout import Checkout, File
from ingest.repo.open import open_checkout, probe_docs_repo

__all__ = ["Checkout", "File", "open_checkout", "probe_docs_repo"]
